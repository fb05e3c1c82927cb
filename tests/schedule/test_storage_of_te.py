"""Where TE kept values: what it ignored, found out too late or lost is refused here or computes the right result.

What tests/schedule/test_refuse_storage.py, test_refuse_dataflow.py and test_refuse_layout.py show is not shown again.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.schedule import create_schedule

from .messages import messages
from .test_cache import computed

Attempt = Callable[[SimpleNamespace], object]


def program() -> SimpleNamespace:
    """A -> B -> C = sum of B over k from 2 on -> (X, Y) -> Z."""
    A = te.placeholder((16, 12), name="A")
    B = te.compute((16, 12), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((2, 12), name="k")
    C = te.compute((16,), lambda i: te.sum(B[i, k], axis=k), name="C")
    X, Y = te.compute((16,), lambda i: (C[i] + 1, C[15 - i] * 2), name="XY")
    Z = te.compute((16,), lambda i: X[i] + Y[15 - i], name="Z")
    s = create_schedule(Z.op)
    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "s"}, s=s, i=Z.op.axis[0])


def at_the_root_of_a_gpu(scope: str) -> Attempt:
    def attempt(p: SimpleNamespace) -> object:
        for T in (p.B, p.C, p.X, p.Z):
            p.s[T].bind(T.op.axis[0], te.thread_axis("blockIdx.x"))
        p.s[p.B].set_scope(scope)
        return tecomp.lower(p.s, [p.A, p.Z], target="cuda -arch=sm_90a")

    return attempt


def in_a_loop_that(verb: str) -> Attempt:
    def attempt(p: SimpleNamespace) -> object:
        p.s[p.X].compute_at(p.s[p.Z], p.i)
        getattr(p.s[p.Z], verb)(p.i)
        p.s[p.X].double_buffer()
        return tecomp.lower(p.s, [p.A, p.Z])

    return attempt


REFUSED: dict[str, Attempt] = {
    "a scope that is a number": lambda p: p.s[p.B].set_scope(3),
    "a scope with a tag": lambda p: p.s[p.B].set_scope("shared.tag"),
    "TE's textures": lambda p: p.s.cache_read(p.A, "texture", [p.B]),
    "shared memory outside of kernels": at_the_root_of_a_gpu("shared"),
    "local memory outside of kernels": at_the_root_of_a_gpu("local"),
    "warp memory outside of kernels": at_the_root_of_a_gpu("warp"),
    "a matrix fragment without intrinsics": lambda p: (
        p.s[p.B].set_scope("wmma.matrix_a"),
        tecomp.lower(p.s, [p.A, p.Z]),
    ),
    "storage_align of an output": lambda p: p.s[p.Z].storage_align(p.i, 8, 1),
    "double_buffer in lanes": in_a_loop_that("vectorize"),
    "double_buffer in a parallel loop": in_a_loop_that("parallel"),
    "a store predicate that is a number": lambda p: p.s[p.Z].set_store_predicate(1),
    "a store predicate that is a word": lambda p: p.s[p.Z].set_store_predicate("yes"),
    "cache_write of an inlined stage": lambda p: (p.s[p.B].compute_inline(), p.s.cache_write(p.B, "local")),
    "cache_write of a word": lambda p: p.s.cache_write("C", "local"),
    "a layout of a loop that was split": lambda p: (
        p.s[p.B].split(p.B.op.axis[0], 4),
        p.s[p.B].transform_layout(lambda i, j: [j, i]),
    ),
}


def test_refused(golden):
    golden(messages(REFUSED, program))


def copies_for_a_reader_of_two_results(s, p):
    """TE asked for the whole tensor where the second result is read."""
    copy = s.cache_read(p.C, "local", [p.X])
    s[copy].compute_at(s[p.X], p.X.op.axis[0])


def a_copy_of_one_of_two_results(s, p):
    copy = s.cache_read(p.Y, "local", [p.Z])
    s[copy].compute_at(s[p.Z], p.i)
    s[p.X].compute_at(s[p.Z], p.i)


def both_results_cached(s, p):
    cached = s.cache_write([p.X, p.Y], "local")
    s[cached[0]].compute_at(s[p.X], s[p.X].split(p.X.op.axis[0], 3)[0])


def cached_after_a_split(s, p):
    i, j = p.B.op.axis
    _, inner = s[p.B].split(j, 5)
    s[p.B].reorder(inner, i)
    s.cache_write(p.B, "global")


def cached_twice(s, p):
    for _ in range(2):
        s.cache_write(p.C, "global")


def a_copy_of_an_inlined_stage(s, p):
    s[p.B].compute_inline()
    s[s.cache_read(p.B, "local", [p.C])].compute_at(s[p.C], p.C.op.axis[0])


def a_copy_for_an_inlined_reader(s, p):
    s[p.B].compute_inline()
    s.cache_read(p.A, "global", [p.B])


def partial_results_of_a_range_from_two(s, p):
    """TE could factor ranges from 0 only."""
    s.rfactor(p.C, p.k)


def partial_results_of_partial_results(s, p):
    part = s.rfactor(p.C, s[p.C].split(p.k, 4)[1])
    s.rfactor(part, s[part].op.reduce_axis[0])


def a_layout_with_a_tail(s, p):
    """TE refused quotients that do not divide."""
    s[p.B].transform_layout(lambda i, j: [i // 5, j, i % 5])


def rows_padded_twice(s, p):
    """The last says how."""
    s[p.B].storage_align(p.B.op.axis[0], 8, 1)
    s[p.B].storage_align(p.B.op.axis[0], 32, 4)


def copies_in_a_scope_of_ones_own(s, p):
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    s[p.B].set_scope("global")
    s[p.B].double_buffer()


def copies_without_a_scope(s, p):
    """TE found no buffer then."""
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    s[p.B].double_buffer()


def a_scope_of_gpus_on_a_cpu(s, p):
    for T, scope in ((p.B, "shared"), (p.C, "warp"), (p.X, "shared.dyn")):
        s[T].set_scope(scope)


def a_prefetch_three_ahead(s, p):
    """TE fetched what is six ahead."""
    s[p.C].prefetch(p.B, p.C.op.axis[0], 3)


@pytest.mark.parametrize(
    "schedule",
    [
        copies_for_a_reader_of_two_results, a_copy_of_one_of_two_results, both_results_cached, cached_after_a_split,
        cached_twice, a_copy_of_an_inlined_stage, a_copy_for_an_inlined_reader, partial_results_of_a_range_from_two,
        partial_results_of_partial_results, a_layout_with_a_tail, rows_padded_twice, copies_in_a_scope_of_ones_own,
        copies_without_a_scope, a_scope_of_gpus_on_a_cpu, a_prefetch_three_ahead,
    ],
)  # fmt: skip
def test_right(schedule):
    p = program()
    schedule(p.s, p)
    a = np.random.default_rng(0).integers(-9, 9, (16, 12)).astype("f")
    (z,) = computed(p.s, [p.A, p.Z], [a], [(16,)])
    c = (a + 1)[:, 2:].sum(1)
    np.testing.assert_array_equal(z, c + 1 + c * 2)
