"""Group F: what the threads of a block share, when they wait for each other, and where that cannot be right."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tests.cases.places import CUDA
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def blocks(tensor, factor):
    s = te.create_schedule(tensor.op)
    return s, *bound(s, tensor, factor)


def fill(s, P, reader, loop, threads):
    """Compute P for each iteration of a loop of its reader, in shared memory, dealt out to `threads` threads."""
    s[P].compute_at(s[reader], loop)
    s[P].set_scope("shared")
    s[P].bind(s[P].split(P.op.axis[0], threads)[1], te.thread_axis("threadIdx.x"))


def test_a_neighbours_element_in_a_ragged_block(cuda):
    """TL#2612: the threads beyond the end wait too, although they compute nothing."""
    n = te.var("n")
    A = te.placeholder((n + 2,), name="A")
    P = te.compute((n + 2,), lambda i: A[i] + 1, name="P")
    B = te.compute((n,), lambda i: P[i] + P[i + 1] + P[i + 2], name="B")
    s, outer, _ = blocks(B, 4)
    fill(s, P, B, outer, 4)
    program = cuda(s, [A, B])
    for size in around(4):
        a = DATA.integers(-9, 9, size + 2).astype("float32")
        program({A: a}, {B: a[:-2] + a[1:-1] + a[2:] + np.float32(3)})


@pytest.mark.parametrize("every", [2, 3, 4])
def test_a_write_by_some_threads_read_by_others(cuda, every):
    """TL#2612: the write stands under a condition on the thread, the read does not; the barrier must not go inside."""
    A = te.placeholder((40,), name="A")
    P = te.compute((40,), lambda i: te.if_then_else(i % every == 0, A[i] + 1, 0.0), name="P")
    B = te.compute((40,), lambda i: te.if_then_else(i % every == 1, P[i - 1] * 2, P[i]), name="B")
    s, outer, _ = blocks(B, 12)
    fill(s, P, B, outer, 12)
    a = DATA.integers(-9, 9, 40).astype("float32")
    i = np.arange(40)
    p = np.where(i % every == 0, a + np.float32(1), np.float32(0))
    cuda(s, [A, B])({A: a}, {B: np.where(i % every == 1, np.roll(p, 1) * np.float32(2), p)})


def test_a_stage_inside_the_loop_of_a_thread(cuda):
    """Threads beyond the end go through the loop too, for the barriers in it."""
    A = te.placeholder((41,), name="A")
    P = te.compute((41,), lambda i: A[i] + 1, name="P")
    k = te.reduce_axis((0, 2), name="k")
    B = te.compute((40,), lambda i: te.sum(P[i + k], axis=k), name="B")
    s, _, _ = blocks(B, 12)
    fill(s, P, B, k, 12)
    a = DATA.integers(-9, 9, 41).astype("float32")
    cuda(s, [A, B])({A: a}, {B: a[:-1] + a[1:] + np.float32(2)})


@pytest.mark.parametrize("tile", [2, 4])
def test_a_shared_tile_read_then_overwritten(cuda, tile):
    """TL#2668: the loop reads the tile of one step and overwrites it in the next."""
    n = te.var("n")
    A = te.placeholder((n,), "int32", name="A")
    P = te.compute((n,), lambda i: A[i] * 2, name="P")
    k = te.reduce_axis((0, n), name="k")
    B = te.compute((8,), lambda i: te.sum(P[k] * (i + 1), axis=k), name="B")
    s, _, _ = blocks(B, 4)
    outer, _ = s[B].split(k, tile)
    s[P].compute_at(s[B], outer)
    s[P].set_scope("shared")
    s[P].bind(P.op.axis[0], te.thread_axis("threadIdx.x"))
    program = cuda(s, [A, B])
    for size in around(tile):
        a = DATA.integers(-9, 9, size).astype("int32")
        program({A: a}, {B: (np.arange(8) + 1).astype("int32") * a.sum(dtype="int32") * np.int32(2)})


def test_two_accumulators_of_one_thread(cuda):
    """TL#994: both started values must survive in registers of their own."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), "int32", name="A")
    k = te.reduce_axis((0, m), name="k")
    both = te.comm_reducer(
        lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda t, u: (te.const(0, t), te.const(1, u)), name="both"
    )
    S, P = te.compute((n,), lambda i: both((A[i, k], A[i, k]), axis=k, init=(1, 2)), name="both")
    B = te.compute((n,), lambda i: S[i] - P[i], name="B")
    s, _, inner = blocks(B, 4)
    s[S].compute_at(s[B], inner)
    program = cuda(s, [A, B])
    for size in around(4):
        a = DATA.integers(1, 4, (size, 5)).astype("int32")
        program({A: a}, {B: (1 + a.sum(1) - 2 * a.prod(1)).astype("int32")})


def local_neighbour():
    A = te.placeholder((33,), name="A")
    P = te.compute((33,), lambda i: A[i] + 1, name="P")
    C = te.compute((32,), lambda i: P[i] + P[i + 1], name="C")
    s, outer, _ = blocks(C, 8)
    s[P].compute_at(s[C], outer)
    s[P].set_scope("local")
    s[P].bind(P.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, A, C


def test_a_local_buffer_read_by_another_thread(refused):
    """Halide PR 9325: each thread's registers hold what it computed, not what its neighbour did."""
    s, A, C = local_neighbour()
    for make in (tecomp.build, tecomp.lower):
        with refused("""
            local buffer P read by another thread
              because: the threads of threadIdx.x divide its elements, each in registers of its own
              legal: set_scope('shared') of P, or compute_at inside the loop bound to the thread
            """):
            make(s, [A, C], target=CUDA)


@pytest.mark.parametrize("scope", ["shared", "shared.dyn"])
def test_shared_buffers_that_live_at_once(cuda, scope):
    """tvm PR 16216: three of them, two at a time; none may take another's bytes too early."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    X = te.compute((n,), lambda i: A[i] + 1, name="X")
    Y = te.compute((n,), lambda i: X[i] * 2, name="Y")
    Z = te.compute((n,), lambda i: Y[i] + X[i], name="Z")
    W = te.compute((n,), lambda i: Z[i] - Y[i] * 3, name="W")
    s, outer, _ = blocks(W, 8)
    for T in (Z, Y, X):
        s[T].compute_at(s[W], outer)
        s[T].set_scope(scope)
        s[T].bind(T.op.axis[0], te.thread_axis("threadIdx.x"))
    program = cuda(s, [A, W])
    for size in around(8):
        a = DATA.integers(-9, 9, size).astype("float32")
        x = a + np.float32(1)
        program({A: a}, {W: x - x * np.float32(4)})


def test_blocks_inside_anothers_blocks(refused):
    """Halide#908."""
    A = te.placeholder((64,), name="A")
    a = te.compute((64,), lambda i: A[i] + 1, name="a")
    b = te.compute((64,), lambda i: a[i] * 2, name="b")
    s, outer, _ = blocks(b, 8)
    s[a].bind(a.op.axis[0], te.thread_axis("blockIdx.x"))
    s[a].compute_at(s[b], outer)
    with refused("""
        stage a is attached inside b's kernel; it may bind threads, not blocks
          because: b's blocks would each run all of a's blocks
          legal: bind a to threads only, or compute_root
        """):
        tecomp.lower(s, [A, b], target=CUDA)


@pytest.mark.parametrize("extents", [(32, 16), (16, 32), (5, 7), (8, 8), (1, 4)])
def test_two_loops_of_different_length_on_one_thread_axis(cuda, extents):
    """tvm#17002: the longer one is launched, the shorter one guarded."""
    first, second = extents
    n = te.var("n")
    A = te.placeholder((n, first), name="A")
    a = te.compute((n, first), lambda i, j: A[i, j] + 1, name="a")
    k = te.reduce_axis((0, first), name="k")
    b = te.compute((n, second), lambda i, j: te.sum(a[i, k], axis=k), name="b")
    s = te.create_schedule(b.op)
    ty = te.thread_axis("threadIdx.y")
    s[b].bind(b.op.axis[0], te.thread_axis("blockIdx.x"))
    s[b].bind(b.op.axis[1], te.thread_axis("threadIdx.y"))
    s[a].compute_at(s[b], b.op.axis[0])
    s[a].set_scope("shared")
    s[a].bind(a.op.axis[1], ty)
    program = cuda(s, [A, b])
    for size in (0, 1, 3):
        data = DATA.integers(-9, 9, (size, first)).astype("float32")
        want = np.repeat((data + np.float32(1)).sum(1, keepdims=True), second, axis=1)
        program({A: data}, {b: want})


@pytest.mark.parametrize("order", ["yx", "xy", "zy"])
def test_thread_axes_in_any_order(cuda, order):
    """TL PR 2805: which index a thread axis is was taken from its place."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    P = te.compute((n, m), lambda i, j: A[i, j] + 1, name="P")
    B = te.compute((n, m), lambda i, j: P[i, j] * 2 + te.if_then_else(j + 1 < m, P[i, j + 1], 0.0), name="B")
    s = te.create_schedule(B.op)
    io, jo, ii, ji = s[B].tile(*B.op.axis, 3, 5)
    s[B].bind(s[B].fuse(io, jo), te.thread_axis("blockIdx.x"))
    s[B].bind(ii, te.thread_axis(f"threadIdx.{order[0]}"))
    s[B].bind(ji, te.thread_axis(f"threadIdx.{order[1]}"))
    s[P].compute_at(s[B], s[B].leaf_iter_vars[0])
    s[P].set_scope("shared")
    for axis, letter in zip(P.op.axis, reversed(order), strict=True):
        s[P].bind(axis, te.thread_axis(f"threadIdx.{letter}"))
    program = cuda(s, [A, B])
    for rows in around(3):
        a = DATA.integers(-9, 9, (rows, 7)).astype("float32")
        p = a + np.float32(1)
        program({A: a}, {B: p * np.float32(2) + np.pad(p, ((0, 0), (0, 1)))[:, 1:]})
