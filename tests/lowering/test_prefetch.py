"""What an iteration asks for ahead: the region of the iteration that far on, line by line, inside of the tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir import interpret
from tecomp.ir.text import text
from tests.goldens import Golden


def rows_of_a_matrix():
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    C = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    return s, A, C, k


def agree(s: Any, A: Any, C: Any, sizes: list[tuple[int, int]]) -> None:
    module, func = tecomp.build(s, [A, C]), tecomp.lower(s, [A, C])
    for shape in sizes:
        a = np.random.default_rng(0).integers(0, 9, shape).astype("float32")
        for run in (module, lambda *arrays: interpret(func, *arrays)):
            c = np.full(shape[0], -1, "float32")
            run(a, c)
            np.testing.assert_array_equal(c, a.sum(1))


SIZES = [(0, 0), (0, 3), (3, 0), (1, 1), (4, 16), (5, 17), (9, 33)]


def test_a_row_some_iterations_ahead(golden: Golden) -> None:
    s, A, C, _ = rows_of_a_matrix()
    s[C].prefetch(A, C.op.axis[0], 4)
    golden(text(tecomp.lower(s, [A, C], simple_mode=True)))
    agree(s, A, C, SIZES)


def test_the_next_pieces_of_the_same_row(golden: Golden) -> None:
    s, A, C, k = rows_of_a_matrix()
    outer, _ = s[C].split(k, 16)
    s[C].prefetch(A, outer, 2)
    golden(text(tecomp.lower(s, [A, C], simple_mode=True)))
    agree(s, A, C, SIZES)


def test_a_stencil_and_two_tensors(golden: Golden) -> None:
    A, W = te.placeholder((66, 66), name="A"), te.placeholder((64,), "float64", name="W")
    C = te.compute((64, 64), lambda i, j: A[i, j] + A[i + 2, j + 2] + W[i].astype("float32"), name="C")
    s = te.create_schedule(C.op)
    s[C].prefetch(A, C.op.axis[0], 1)
    s[C].prefetch(W, C.op.axis[0], 8)
    s[C].vectorize(s[C].split(C.op.axis[1], 16)[1])
    golden(text(tecomp.lower(s, [A, W, C])))


def test_what_is_computed_before_is_asked_for_where_it_lies(golden: Golden) -> None:
    A = te.placeholder((40, 40), name="A")
    B = te.compute((40, 40), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((16, 16), lambda i, j: B[i + 8, j + 4] * 2, name="C")
    s = te.create_schedule(C.op)
    s[C].prefetch(B, C.op.axis[0], 1)
    golden(text(tecomp.lower(s, [A, C])))


@pytest.mark.parametrize("kind", ["unroll", "auto"])
def test_unrolled_loops(kind: str) -> None:
    A = te.placeholder((8, 20), name="A")
    C = te.compute((8, 20), lambda i, j: A[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].prefetch(A, C.op.axis[0], 3)
    if kind == "unroll":
        s[C].unroll(C.op.axis[0])
    assert text(tecomp.lower(s, [A, C])).count("prefetch(") == (5 if kind == "unroll" else 1)


def test_lanes_outside_of_the_loop() -> None:
    A = te.placeholder((8, 20), name="A")
    C = te.compute((8, 20), lambda i, j: A[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].reorder(C.op.axis[1], C.op.axis[0])
    s[C].vectorize(s[C].split(C.op.axis[1], 4)[1])
    s[C].prefetch(A, C.op.axis[0], 1)
    a, c = np.arange(160, dtype="float32").reshape(8, 20), np.zeros((8, 20), "float32")
    tecomp.build(s, [A, C])(a, c)
    np.testing.assert_array_equal(c, a + 1)


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_what_a_reduction_starts_from(n: int) -> None:
    """The start runs in loops of its own where a loop over the elements is inside one that reduces."""
    A, k = te.placeholder((9, n), name="A"), te.reduce_axis((0, 9), name="k")
    C = te.compute((n,), lambda i: te.sum(A[k, i], axis=k, init=A[i // 2, i]), name="C")
    a = np.random.default_rng(0).integers(0, 9, (9, n)).astype("float32")
    for leaf in range(3):
        s = te.create_schedule(C.op)
        outer, inner = s[C].split(C.op.axis[0], factor=2)
        s[C].reorder(outer, k, inner)
        if not _has_one_iteration(n, leaf):
            s[C].prefetch(A, s[C].leaf_iter_vars[leaf], 1)
        c = np.full(n, -1, "float32")
        interpret(tecomp.lower(s, [A, C]), a, c)
        np.testing.assert_array_equal(c, a.sum(0) + a[np.arange(n) // 2, np.arange(n)])


def _has_one_iteration(n: int, leaf: int) -> bool:
    """Return whether the loop over pairs, the one that reduces, or that over a pair is trivial, which is refused."""
    return [n <= 2, False, n == 1][leaf]
