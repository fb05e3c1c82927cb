"""Group A on blocks and threads: the same sizes that do not divide, producers in the memory of a block."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tests.cases.counting import stores
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def shared_by(s, tensor, reader, loop, threads):
    """Compute a tensor in shared memory, in a loop of its reader, its last loop dealt out to `threads` threads."""
    s[tensor].compute_at(s[reader], loop)
    s[tensor].set_scope("shared")
    s[tensor].bind(s[tensor].split(tensor.op.axis[-1], threads)[1], te.thread_axis("threadIdx.x"))


@pytest.mark.parametrize("factors", [(10, 32), (32, 10), (7, 7), (5, 3)])
def test_stages_split_by_factors_that_do_not_divide_each_other_on_cuda(cuda, factors):
    """tvm#2898: the block's part of C is dealt out by one factor, and read by another."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] * 2, name="C")
    D = te.compute((n,), lambda i: C[i] + 1, name="D")
    s = te.create_schedule(D.op)
    outer, _ = bound(s, D, factors[1])
    shared_by(s, C, D, outer, factors[0])
    program = cuda(s, [A, D])
    for size in sorted({*around(factors[0]), *around(factors[1])}):
        a = DATA.random(size, "float32")
        program({A: a}, {D: a * np.float32(2) + np.float32(1)})


@pytest.mark.parametrize("factor", [1, 3, 9, 10, 12, 73])
@pytest.mark.parametrize("shape", [(12, 6), (1, 1), (5, 13), (0, 6)])
def test_a_producer_under_fused_loops_of_blocks(cuda, shape, factor):
    """tvm#3679: a block's part of the fused loop lies in several rows."""
    A = te.placeholder(shape, "float16", name="A")
    P = te.compute(shape, lambda i, j: A[i, j] * 2, name="P")
    C = te.compute(shape, lambda i, j: P[i, j] + 3, name="C")
    s = te.create_schedule(C.op)
    outer, _ = bound(s, C, factor, s[C].fuse(*C.op.axis))
    shared_by(s, P, C, outer, 4)
    a = DATA.integers(-9, 9, shape).astype("float16")
    cuda(s, [A, C])({A: a}, {C: a * np.float16(2) + np.float16(3)})


@pytest.mark.parametrize("way", ["factor", "nparts"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_a_factor_beyond_the_extent_of_threads(cuda, n, way):
    """tvm PR 4932: threads beyond the tensor store nothing."""
    A = te.placeholder((n, n), name="A")
    B = te.compute((n, n), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    for axis, letter in zip(B.op.axis, "yx", strict=True):
        block, thread = s[B].split(axis, **{way: 4})
        s[B].bind(block, te.thread_axis(f"blockIdx.{letter}"))
        s[B].bind(thread, te.thread_axis(f"threadIdx.{letter}"))
    a = DATA.random((n, n), "float32")
    cuda(s, [A, B])({A: a}, {B: a + np.float32(1)})


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 10, 13])
def test_a_producer_under_a_reduction_of_threads(cuda, n):
    """Halide 889a456abe: each element is computed by one thread, once, and nothing beyond the input is read."""
    A = te.placeholder((n,), "int32", name="A")
    P = te.compute((n,), lambda i: A[i] * 2, name="P")
    k = te.reduce_axis((0, n), name="k")
    S = te.compute((1,), lambda i: te.sum(P[k] + i, axis=k), name="S")
    s = te.create_schedule(S.op)
    s[S].bind(S.op.axis[0], te.thread_axis("blockIdx.x"))
    outer, inner = s[S].split(k, 4)
    s[S].bind(inner, te.thread_axis("threadIdx.x"))
    s[P].compute_at(s[S], outer)
    s[P].set_scope("shared")
    s[P].bind(P.op.axis[0], te.thread_axis("threadIdx.x"))
    a = DATA.integers(-99, 99, n).astype("int32")
    cuda(s, [A, S])({A: a}, {S: np.full(1, a.sum() * 2, "int32")})
    assert stores(tecomp.lower(s, [A, S]), "P", a, np.zeros(1, "int32")) == n


def test_a_cached_tile_under_a_loop_of_unknown_length(cuda):
    """tvm#5303: as te.cache_read makes it, the copy bound to the threads that read it."""
    n, a = te.var("n"), te.placeholder((1024,), "int32", name="a")
    j = te.reduce_axis((0, n), name="j")
    b = te.compute((32,), lambda i: te.sum(a[j] * i, axis=j), name="b")
    s = te.create_schedule(b.op)
    tile = s.cache_read(a, "shared", [b])
    s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
    outer, _ = s[b].split(j, 32)
    s[tile].compute_at(s[b], outer)
    s[tile].bind(tile.op.axis[0], te.thread_axis("threadIdx.x"))
    program = cuda(s, [n, a, b])
    data = DATA.integers(-99, 99, 1024).astype("int32")
    for size in (*around(32), 1000, 1024):
        program({n: size, a: data}, {b: np.arange(32, dtype="int32") * data[:size].sum(dtype="int32")})


def cached_matmul(n, tile):
    """C = A @ B by tiles, of which both operands are cached for each step along k."""
    A, B = te.placeholder((n, n), "int32", name="A"), te.placeholder((n, n), "int32", name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    copies = [s.cache_read(T, "shared", [C]) for T in (A, B)]
    loops = s[C].tile(*C.op.axis, tile, tile)
    ko, ki = s[C].split(k, tile)
    s[C].reorder(*loops[:2], ko, ki, *loops[2:])
    for copy in copies:
        s[copy].compute_at(s[C], ko)
    return s, A, B, C, copies, loops


def check_matmul(program, A, B, C, sizes):
    for n in sizes:
        a, b = DATA.integers(-9, 9, (2, n, n)).astype("int32")
        program({A: a, B: b}, {C: a @ b})


@pytest.mark.parametrize("tile", [4, 5])
def test_a_ragged_matmul_of_cached_tiles(cpu, tile):
    """Halide#5777: the copies are of whole tiles, and read what is there."""
    s, A, B, C, _, _ = cached_matmul(te.var("n"), tile)
    check_matmul(cpu(s, [A, B, C]), A, B, C, around(tile))


@pytest.mark.parametrize("tile", [4, 5])
def test_a_ragged_matmul_of_cached_tiles_on_cuda(cuda, tile):
    s, A, B, C, copies, loops = cached_matmul(te.var("n"), tile)
    tags = ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x")
    s[C].reorder(*loops)
    for loop, tag in zip(loops, tags, strict=True):
        s[C].bind(loop, te.thread_axis(tag))
    for copy in copies:
        for axis, tag in zip(copy.op.axis, tags[2:], strict=True):
            s[copy].bind(axis, te.thread_axis(tag))
    check_matmul(cuda(s, [A, B, C]), A, B, C, around(tile))
