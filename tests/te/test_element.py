"""Elements of tensors, by any way of writing them."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tecomp.ir import expr as E
from tests.te.message import message, text

A = te.placeholder((4, 8), name="A")
B = te.placeholder((10**10,), name="B")
C = te.placeholder((), name="C")
i, j = te.var("i"), te.var("j")


def test_every_way_of_writing_is_one_element() -> None:
    assert A[i, j] is A(i, j) is A[i][j]
    assert isinstance(A[i, j], E.TensorRead)
    assert C() is C[()]


def test_a_slice_takes_what_is_missing() -> None:
    row = A[i]
    assert isinstance(row, te.TensorSlice)
    assert row.dtype == "float32"
    assert row[j] is A[i, j]
    assert (row[j] + 1) is (A[i, j] + 1)
    assert repr(row) == "A[i, ...]"


def test_a_slice_of_a_range_is_kept_for_an_intrinsic() -> None:
    part = A[i, 0:16]
    assert isinstance(part, te.TensorSlice)
    assert repr(part) == "A[i, 0:16]"
    assert repr(A[2:4]) == "A[2:4, ...]"


def test_indices_become_expressions() -> None:
    assert A[1, np.int64(2)].indices[0] is te.const(1)
    assert A[1, np.int64(2)].indices[1] is te.const(2, "int64")
    k = te.reduce_axis((0, 4), name="k")
    assert A[k, 0].indices[0] is k.var
    assert B[2**40].indices[0] is te.const(2**40, "int64")


def test_a_bool_is_0_or_1() -> None:
    index = A[i > j, True].indices
    assert index[0] is (i > j).astype("int32")
    assert index[1] is te.const(1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: A(i), text("'A' indexed with 1 index", "it has 2 dimensions", "A[i0, i1]")),
        (lambda: A[i, j, 0], text("'A' indexed with 3 indices", "it has 2 dimensions", "A[i0, i1]")),
        (lambda: A[i][j, 0], text("'A' indexed with 3 indices", "it has 2 dimensions", "A[i0, i1]")),
        (lambda: C(0), text("'C' indexed with 1 index", "it has 0 dimensions", "C()")),
        (lambda: A[i] + 1, text("'A' indexed with 1 index", "it has 2 dimensions", "A[i0, i1]")),
        (
            lambda: A[0, j * 0.5],
            text(
                "index 1 of 'A' is f32(j) * 0.5",
                "it is float32, and indices are integers",
                "an integer, or .astype('int32')",
            ),
        ),
        (
            lambda: A[1.0],
            text("index 0 of 'A' is 1.0", "it is float32, and indices are integers", "an integer, or .astype('int32')"),
        ),
        (
            lambda: A[0, 1:i] + 1,
            text(
                "slice 1:i as index 1 of 'A'",
                "an expression reads single elements",
                "one index for each dimension: A[i0, i1]",
            ),
        ),
        (
            lambda: A[::2] + 1,
            text(
                "slice ::2 as index 0 of 'A'",
                "an expression reads single elements",
                "one index for each dimension: A[i0, i1]",
            ),
        ),
        (lambda: A["x", 0], text("'x' is no expression", "it is a str", "a number, an axis, a tensor element")),
        (
            lambda: list(A[0]),
            text("'A' is no sequence", "it is one tensor, whose elements are named by indices", "A[i0, i1]"),
        ),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said
