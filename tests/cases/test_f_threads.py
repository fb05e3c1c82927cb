"""Group F, further: virtual threads, several shared tiles, copies of them; each waits as often as it must, no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tests.cases.places import CUDA
from tests.cases.tiling import around

DATA = np.random.default_rng(0)


def ints(*shape: int) -> np.ndarray:
    return DATA.integers(-9, 9, shape).astype("float32")


def gemm(size: Any, tile: int = 8, virtual: int = 2, threads: int = 2, step: int = 4, double: bool = True):
    """C = A^T B over tiles of tile x tile a block, of which each virtual thread has its part; A and B go through shared
    memory and registers, C is summed up in registers."""
    A, B = (te.placeholder((size, size), name=name) for name in "AB")
    k = te.reduce_axis((0, size), name="k")
    C = te.compute((size, size), lambda y, x: te.sum(A[k, y] * B[k, x], axis=k), name="C")
    s = te.create_schedule(C.op)
    shared = [s.cache_read(T, "shared", [C]) for T in (A, B)]
    local = [s.cache_read(T, "local", [C]) for T in shared]
    sums = s.cache_write(C, "local")
    loops: list[list[Any]] = []
    bound = [te.thread_axis(f"threadIdx.{dim}") for dim in "yx"]
    for axis, thread in zip(C.op.axis, bound, strict=True):
        block, rest = s[C].split(axis, factor=tile)
        lane, rest = s[C].split(rest, nparts=virtual)
        own, rest = s[C].split(rest, nparts=threads)
        s[C].bind(block, te.thread_axis(f"blockIdx.{thread.thread_tag[-1]}"))
        s[C].bind(lane, te.thread_axis((0, virtual), "vthread", name=f"v{thread.thread_tag[-1]}"))
        s[C].bind(own, thread)
        loops.append([block, lane, own, rest])
    order = [loop for pair in zip(*loops, strict=True) for loop in pair]
    s[C].reorder(*order)
    s[sums].compute_at(s[C], order[5])
    outer, inner = s[sums].split(s[sums].op.reduce_axis[0], factor=step)
    s[sums].reorder(outer, inner, *sums.op.axis)
    for T in local:
        s[T].compute_at(s[sums], inner)
    for T in shared:
        s[T].compute_at(s[sums], outer)
        for axis, thread in zip(T.op.axis, bound, strict=True):
            s[T].bind(s[T].split(axis, nparts=threads)[0], thread)
        s[T].reorder(s[T].leaf_iter_vars[0], s[T].leaf_iter_vars[2], s[T].leaf_iter_vars[1], s[T].leaf_iter_vars[3])
        s[T].storage_align(T.op.axis[0], 8, 1)
        if double:
            s[T].double_buffer()
    return s, A, B, C


@pytest.mark.parametrize("double", [False, True])
def test_a_matrix_product_by_virtual_threads(cuda, double):
    """Shared and local tiles, 2 x 2 virtual threads, cooperative fetches, copies of the shared tiles."""
    n = te.var("n")
    s, A, B, C = gemm(n, double=double)
    program = cuda(s, [A, B, C])
    for size in around(8):
        a, b = ints(size, size), ints(size, size)
        program({A: a, B: b}, {C: a.T @ b})


@pytest.mark.parametrize(("double", "barriers"), [(False, 2), (True, 1)])
def test_how_often_the_product_waits(double, barriers):
    s, A, B, C = gemm(64, double=double)
    assert repr(tecomp.lower(s, [A, B, C], target=CUDA)).count("barrier_block()") == barriers


@pytest.mark.parametrize("virtual", [1, 2, 3, 4])
@pytest.mark.parametrize("tag", ["vthread", "vthread.y", "cthread"])
def test_any_number_of_virtual_threads(cuda, virtual, tag):
    n = te.var("n")
    A = te.placeholder((n + 2,), name="A")
    P = te.compute((n + 2,), lambda i: A[i] * 2, name="P")
    C = te.compute((n,), lambda i: P[i] + P[i + 1] + P[i + 2], name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], 12)
    lane, thread = s[C].split(inner, nparts=virtual)
    s[C].bind(outer, te.thread_axis("blockIdx.x"))
    s[C].bind(lane, te.thread_axis(tag))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    s[P].compute_at(s[C], lane)
    s[P].set_scope("shared")
    s[P].bind(s[P].split(P.op.axis[0], nparts=12 // virtual)[0], te.thread_axis("threadIdx.x"))
    program = cuda(s, [A, C])
    for size in around(12):
        a = ints(size + 2)
        program({A: a}, {C: (a[:-2] + a[1:-1] + a[2:]) * np.float32(2)})


def test_a_local_stage_of_each_virtual_thread(cuda):
    n = te.var("n")
    A = te.placeholder((n, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")
    P = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="P")
    C = te.compute((n,), lambda i: P[i] * 3 + te.if_then_else(i > 0, P[i - 1], 0.0), name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], 8)
    thread, lane = s[C].split(inner, nparts=4)
    s[C].bind(outer, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    s[C].bind(lane, te.thread_axis("vthread"))
    s[P].compute_at(s[C], lane)
    program = cuda(s, [A, C])
    for size in around(8):
        a = ints(size, 4)
        p = a.sum(1)
        program({A: a}, {C: p * np.float32(3) + np.concatenate([np.zeros(1, "float32"), p])[:size]})


def test_virtual_threads_of_a_processor(cpu):
    """Their iterations are interleaved there too; what they share is kept as one asks for it."""
    n = te.var("n")
    A = te.placeholder((n, 6), name="A")
    B = te.compute((n, 6), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((6,), lambda j: te.sum(B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    lane, inner = s[C].split(C.op.axis[0], nparts=3)
    s[C].bind(lane, te.thread_axis("vthread"))
    s[C].reorder(lane, k, inner)
    s[B].compute_at(s[C], k)
    s[B].set_scope("global")
    program = cpu(s, [A, C])
    for size in (0, 1, 7):
        a = ints(size, 6)
        program({A: a}, {C: (a + np.float32(1)).sum(0)})


@pytest.mark.parametrize("scope", ["", "global", "local", "shared"])
@pytest.mark.parametrize("unrolled", [False, True])
def test_copies_in_any_memory(cpu, scope, unrolled):
    """TL#2668 and TE's double_buffer, which lost its memory where a scope was set."""
    n = te.var("n")
    A = te.placeholder((n, 24), name="A")
    P = te.compute((n, 24), lambda i, j: A[i, j] + 1, name="P")
    k = te.reduce_axis((0, 24), name="k")
    C = te.compute((n,), lambda i: te.sum(P[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    outer, _ = s[C].split(k, 8)
    if unrolled:
        s[C].unroll(outer)
    s[P].compute_at(s[C], outer)
    s[P].double_buffer()
    if scope:
        s[P].set_scope(scope)
    program = cpu(s, [A, C])
    for size in (0, 1, 5):
        a = ints(size, 24)
        program({A: a}, {C: (a + np.float32(1)).sum(1)})


def test_copies_of_what_an_intrinsic_fills():
    """tvm#2581: the copy loop is an instruction, which gets the address of the copy to fill."""
    n = te.var("n")
    A = te.placeholder((n, 64), name="A")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    tile = s.cache_read(A, "global", [C])
    s[tile].compute_at(s[C], s[C].split(k, 8)[0])
    s[tile].double_buffer()
    a = te.placeholder((8,), name="a")
    b = te.compute((8,), lambda i: a[i], name="b")
    rows = {T: tir.decl_buffer((8,), "float32", strides=[1], offset_factor=1) for T in (a, b)}

    def copy8(ins, outs):
        return tir.call_extern("int32", "copy8", outs[0].access_ptr("w"), ins[0].access_ptr("r"))

    s[tile].tensorize(tile.op.axis[1], te.decl_tensor_intrin(b.op, copy8, binds=rows))
    program = repr(tecomp.lower(s, [A, C], simple_mode=True))
    assert "A_global = alloc(f32[2, 1, 8], align=64)" in program
    assert "copy8', address(A_global[0, 0, 0], 'w'), address(A[i, 0], 'r'))" in program
    assert "copy8', address(A_global[(k_outer + 1) % 2, 0, 0], 'w'), address(A[i, k_outer * 8 + 8], 'r'))" in program
    assert "C[i] + A_global[k_outer % 2, 0, k_inner]" in program


@pytest.mark.parametrize("scope", ["shared", "shared.dyn"])
@pytest.mark.parametrize("double", ["", "P", "Q", "PQ"])
def test_two_tiles_read_then_overwritten(cuda, double, scope):
    """TL#2668, TL#3039: two pipelined tiles, one or both in copies; the loop is as long as the call says."""
    n = te.var("n")
    A, B = te.placeholder((n,), "int32", name="A"), te.placeholder((n,), "int32", name="B")
    P = te.compute((n,), lambda i: A[i] * 2, name="P")
    Q = te.compute((n,), lambda i: P[i] + B[i], name="Q")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((8,), lambda i: te.sum(Q[k] * (i + 1), axis=k), name="C")
    s = te.create_schedule(C.op)
    block, thread = s[C].split(C.op.axis[0], 4)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    outer, _ = s[C].split(k, 4)
    for T in (Q, P):
        s[T].compute_at(s[C], outer)
        s[T].set_scope(scope)
        s[T].bind(T.op.axis[0], te.thread_axis("threadIdx.x"))
        if T.op.name in double:
            s[T].double_buffer()
    program = cuda(s, [A, B, C])
    for size in around(4):
        a, b = ints(size).astype("int32"), ints(size).astype("int32")
        program({A: a, B: b}, {C: (np.arange(8, dtype="int32") + 1) * (2 * a + b).sum(dtype="int32")})


def test_copies_of_what_another_stage_needs_now(refused):
    """P is filled from Q, which the loop reads as well: Q would hold the next iteration's values."""
    A = te.placeholder((64,), name="A")
    Q = te.compute((64,), lambda i: A[i] + 1, name="Q")
    P = te.compute((64,), lambda i: Q[i] * 2, name="P")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((1,), lambda i: te.sum(P[k] + Q[k], axis=k), name="C")
    s = te.create_schedule(C.op)
    outer, _ = s[C].split(k, 8)
    for T in (P, Q):
        s[T].compute_at(s[C], outer)
    s[P].double_buffer()
    with refused("""
        double_buffer of 'P' in the loop 'k.outer'
          because: it is made of 'Q', of which that loop needs the present iteration's values too
          legal: s[Q].double_buffer() too
        """):
        tecomp.lower(s, [A, C])


def test_copies_of_what_a_step_of_a_scan_makes(refused):
    A = te.placeholder((8, 16), name="A")
    state = te.placeholder((8, 16), name="state")
    init = te.compute((1, 16), lambda _, i: A[0, i], name="init")
    twice = te.compute((8, 16), lambda t, i: state[t - 1, i] * 2, name="twice")
    update = te.compute((8, 16), lambda t, i: twice[t, i] + A[t, i], name="update")
    S = te.scan(init, update, state, name="S")
    s = te.create_schedule(S.op)
    s[twice].double_buffer()
    with refused("""
        double_buffer of 'twice' in the loop 'S.idx'
          because: it is made of 'S', which that loop writes, too late for the next iteration
          legal: no double_buffer, or 'S' computed outside of the loop
        """):
        tecomp.lower(s, [A, S])


PADDED = pytest.mark.parametrize(("factor", "offset"), [(8, 1), (16, 4), (4, 0), (1, 0)])


def padded(scope: str, factor: int, offset: int):
    """C reads rows of P, in tiles of 4, from the other end."""
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    P = te.compute((n, 8), lambda i, j: A[i, j] + 1, name="P")
    C = te.compute((n, 8), lambda i, j: P[i, 7 - j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[P].set_scope(scope)
    s[P].storage_align(P.op.axis[0], factor, offset)
    s[P].vectorize(s[P].split(P.op.axis[1], 4)[1])
    return s, A, P, C, s[C].split(C.op.axis[0], 4)


def check_rows(program: Any, A: Any, C: Any) -> None:
    for size in around(4):
        a = ints(size, 8)
        program({A: a}, {C: (a[:, ::-1] + np.float32(1)) * np.float32(2)})


@PADDED
@pytest.mark.parametrize("scope", ["shared", "local", "global"])
def test_padded_rows_on_a_processor(cpu, scope, factor, offset):
    s, A, P, C, (outer, _) = padded(scope, factor, offset)
    s[P].compute_at(s[C], outer)
    check_rows(cpu(s, [A, C]), A, C)


@PADDED
@pytest.mark.parametrize("scope", ["shared", "shared.dyn", "local"])
def test_padded_rows_of_a_block(cuda, scope, factor, offset):
    s, A, P, C, (outer, inner) = padded(scope, factor, offset)
    s[C].bind(outer, te.thread_axis("blockIdx.x"))
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    s[P].compute_at(s[C], inner if scope == "local" else outer)
    check_rows(cuda(s, [A, C]), A, C)


@PADDED
def test_padded_rows_between_kernels(cuda, factor, offset):
    s, A, P, C, (outer, inner) = padded("global", factor, offset)
    s[C].bind(outer, te.thread_axis("blockIdx.x"))
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    s[P].bind(P.op.axis[0], te.thread_axis("blockIdx.x"))
    check_rows(cuda(s, [A, C]), A, C)


def test_shared_memory_beyond_48_kib(cuda):
    """All tiles lie in one dynamic block then, none in another's bytes, and the launch asks for it."""
    A, B = te.placeholder((8, 8000), name="A"), te.placeholder((8, 8000), name="B")
    P, Q = (te.compute((8, 8000), lambda i, j, T=T: T[i, j] + 1, name=name) for T, name in ((A, "P"), (B, "Q")))
    C = te.compute((8, 8000), lambda i, j: P[i, 7999 - j] - Q[i, j], name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    s[C].bind(i, te.thread_axis("blockIdx.x"))
    s[C].bind(s[C].split(j, nparts=256)[0], te.thread_axis("threadIdx.x"))
    for T in (P, Q):
        s[T].compute_at(s[C], i)
        s[T].set_scope("shared")
        s[T].bind(s[T].split(T.op.axis[1], nparts=256)[0], te.thread_axis("threadIdx.x"))
    a, b = ints(8, 8000), ints(8, 8000)
    cuda(s, [A, B, C])({A: a, B: b}, {C: a[:, ::-1] - b})


def summed_ahead(ahead: int):
    n = te.var("n")
    A = te.placeholder((n, 33), name="A")
    k = te.reduce_axis((0, 33), name="k")
    C = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    outer, _ = s[C].split(k, 8)
    s[C].prefetch(A, outer, ahead)
    return s, A, C


@pytest.mark.parametrize("ahead", [1, 3, 40])
def test_a_prefetch_changes_nothing(cpu, ahead):
    s, A, C = summed_ahead(ahead)
    s[C].prefetch(A, C.op.axis[0], ahead)
    program = cpu(s, [A, C])
    for size in around(4):
        a = ints(size, 33)
        program({A: a}, {C: a.sum(1)})


@pytest.mark.parametrize("ahead", [1, 3, 40])
def test_a_prefetch_of_a_thread_changes_nothing(cuda, ahead):
    s, A, C = summed_ahead(ahead)
    block, thread = s[C].split(C.op.axis[0], 4)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    program = cuda(s, [A, C])
    for size in around(4):
        a = ints(size, 33)
        program({A: a}, {C: a.sum(1)})
