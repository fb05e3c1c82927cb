"""Group F, further: tiles that are fetched ahead, by instructions too, and exchanges below a condition."""

# ruff: noqa: F821 (the names of the hybrid language)
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tests.cases.places import CUDA
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def ints(*shape):
    return DATA.integers(-9, 9, shape).astype("float32")


@te.hybrid.script
def at_once(a):
    """Some threads write an element that others of the same branch read."""
    b = output_tensor((128,), a.dtype)
    t = allocate((128,), "float32", "shared")
    for i in bind("threadIdx.x", 128):
        if i % 4 == 0:
            t[i] = a[i] * 2
            b[i] = t[(i + 4) % 128]
        else:
            b[i] = a[i]
    return b


@te.hybrid.script
def one_then_other(a):
    """The same in two loops."""
    b = output_tensor((128,), a.dtype)
    t = allocate((128,), "float32", "shared")
    for i in bind("threadIdx.x", 128):
        if i % 4 == 0:
            t[i] = a[i] * 2
    for i in bind("threadIdx.x", 128):
        if i % 4 == 0:
            b[i] = t[(i + 4) % 128]
        else:
            b[i] = a[i]
    return b


def numpy_exchanged(a, chosen, width):
    """Chosen elements become twice their neighbour's, four places on around `width`."""
    return np.where(chosen, np.roll(a, -4) * np.float32(2), a)[:width]


def test_an_exchange_in_a_branch_of_one_loop(refused):
    """TL#2612: what a loop of threads says is what the loop says, one iteration after another."""
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "t[i] = a[i] * 2" in text)
    with refused(f"""
        te.hybrid 'at_once': the iterations of 'i' at once (bind threadIdx.x)
          because: line {line} writes an element of 't' that line {line + 1} reads in another iteration of 'i'
          legal: range; or two loops, where one part needs the whole of the other
        """):
        at_once(te.placeholder((128,), name="A"))


def test_an_exchange_in_a_branch(cuda):
    """TL#2612: all threads come to the barrier, those of the branch and the others."""
    A = te.placeholder((128,), name="A")
    B = one_then_other(A)
    a = ints(128)
    cuda(te.create_schedule(B.op), [A, B])({A: a}, {B: numpy_exchanged(a, np.arange(128) % 4 == 0, 128)})


def exchange(threads, condition):
    """As at_once, of statements: of IR builders all threads do one statement, and then the next."""

    def body(ins, outs):
        ib = tir.ir_builder.create()
        tx = te.thread_axis("threadIdx.x")
        ib.scope_attr(tx, "thread_extent", threads)
        a, mask, b = (ib.buffer_ptr(buffer) for buffer in (*ins, *outs))
        t = ib.allocate("float32", (threads,), name="t", scope="shared")
        t[tx] = a[tx]
        with ib.if_scope(condition(tx, mask)):
            t[tx] = a[tx] * 2.0
            b[tx] = t[(tx + 4) % threads]
        with ib.else_scope():
            b[tx] = a[tx]
        return ib.get()

    A, M = te.placeholder((threads,), name="A"), te.placeholder((threads,), "int32", name="M")
    return A, M, te.extern((threads,), [A, M], body, name="B", dtype="float32")


CONDITIONS = {"thread": lambda tx, mask: tx % 4 == 0, "data": lambda tx, mask: mask[tx] > 0}


@pytest.mark.parametrize("threads", [4, 31, 32, 33, 128])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_exchange_in_a_branch_of_statements(cuda, threads, condition):
    """TL#2612: the barrier stands between two parts of the branch, below no condition."""
    A, M, B = exchange(threads, CONDITIONS[condition])
    a, mask = ints(threads), DATA.integers(0, 2, threads).astype("int32")
    chosen = np.arange(threads) % 4 == 0 if condition == "thread" else mask > 0
    written = np.where(chosen, a * np.float32(2), a)
    want = np.where(chosen, written[(np.arange(threads) + 4) % threads], a)
    cuda(te.create_schedule(B.op), [A, M, B])({A: a, M: mask}, {B: want})


HALF = 12
TILE = 4


def halves(n):
    """C = A @ B as the sum of two matrix products, one of each half of the axis that is summed over."""
    A, B = te.placeholder((n, 2 * HALF), name="A"), te.placeholder((2 * HALF, n), name="B")

    def product(start, name):
        k = te.reduce_axis((0, HALF), name="k")
        return te.compute((n, n), lambda i, j: te.sum(A[i, start + k] * B[start + k, j], axis=k), name=name)

    L, R = product(0, "L"), product(HALF, "R")
    return A, B, L, R, te.compute((n, n), lambda i, j: L[i, j] + R[i, j], name="C")


@pytest.mark.parametrize("copies", [(False, False), (True, False), (False, True), (True, True)])
def test_two_pipelined_loops_of_one_kernel(cuda, copies):
    """TL#3039, #2309: both loops fetch tiles of the same operands; each is pipelined or is not."""
    A, B, L, R, C = halves(te.var("n"))
    s = te.create_schedule(C.op)
    tags = ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x")
    tiles = {T: [s.cache_read(operand, "shared", [T]) for operand in (A, B)] for T in (L, R)}
    loops = s[C].tile(*C.op.axis, TILE, TILE)
    for loop, tag in zip(loops, tags, strict=True):
        s[C].bind(loop, te.thread_axis(tag))
    for (T, cached), double in zip(tiles.items(), copies, strict=True):
        s[T].compute_at(s[C], loops[3])
        outer, _ = s[T].split(s[T].op.reduce_axis[0], TILE)
        for tile in cached:
            s[tile].compute_at(s[T], outer)
            for axis, tag in zip(tile.op.axis, tags[2:], strict=True):
                s[tile].bind(axis, te.thread_axis(tag))
            if double:
                s[tile].double_buffer()
    program = cuda(s, [A, B, C])
    for size in around(TILE):
        a, b = ints(size, 2 * HALF), ints(2 * HALF, size)
        program({A: a, B: b}, {C: a @ b})


@pytest.mark.parametrize("double", [False, True])
def test_a_pipelined_tile_read_after_its_loop(cuda, double):
    """TL#3039: T is fetched ahead for P, and P, made in the loop's last step too, is read by all threads behind it."""
    n = te.var("n")
    A = te.placeholder((n, 2 * HALF), name="A")
    k = te.reduce_axis((0, 2 * HALF), name="k")
    P = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="P")
    C = te.compute((n,), lambda i: P[i] + te.if_then_else(i >= 1, P[i - 1], 0.0), name="C")
    s = te.create_schedule(C.op)
    tile = s.cache_read(A, "shared", [P])
    outer, _ = bound(s, C, 8)
    s[P].compute_at(s[C], outer)
    s[P].set_scope("shared")
    steps, inner = s[P].split(k, TILE)
    s[P].reorder(steps, P.op.axis[0], inner)
    s[P].bind(P.op.axis[0], te.thread_axis("threadIdx.x"))
    s[tile].compute_at(s[P], steps)
    s[tile].bind(tile.op.axis[0], te.thread_axis("threadIdx.x"))
    if double:
        s[tile].double_buffer()
    program = cuda(s, [A, C])
    for size in around(8):
        a = ints(size, 2 * HALF)
        p = a.sum(1)
        program({A: a}, {C: p + np.concatenate([np.zeros(min(size, 1), "float32"), p[:-1]])})


def copying(length, scope):
    """An instruction that copies `length` elements to memory of a kind, written as a loop."""
    a = te.placeholder((length,), name="a")
    b = te.compute((length,), lambda i: a[i], name="b")
    row = {"strides": [1], "offset_factor": 1}
    rows = {
        a: tir.decl_buffer((length,), "float32", **row),
        b: tir.decl_buffer((length,), "float32", scope=scope, **row),
    }

    def body(ins, outs):
        ib = tir.ir_builder.create()
        source, into = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, length, name="c") as c:
            into[c] = source[c]
        return ib.get()

    return te.decl_tensor_intrin(b.op, body, name="copying", binds=rows)


def rows_of_tiles(length, double, scope):
    """C[i] = the sum of row i of A, of which the copying instruction fetches a tile for each step."""
    n = te.var("n")
    A = te.placeholder((n, 8 * length), name="A")
    k = te.reduce_axis((0, 8 * length), name="k")
    C = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    tile = s.cache_read(A, scope, [C])
    s[tile].compute_at(s[C], s[C].split(k, length)[0])
    s[tile].tensorize(tile.op.axis[1], copying(length, scope))
    if double:
        s[tile].double_buffer()
    return s, A, C


def check_rows(program, A, C, length, sizes):
    for size in sizes:
        a = ints(size, 8 * length)
        program({A: a}, {C: a.sum(1)})


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("length", [1, 4, 7])
def test_copies_that_an_instruction_fills(cpu, length, double):
    """tvm#2581: the next tile is copied while the present one is added up."""
    s, A, C = rows_of_tiles(length, double, "global")
    assert ("[2, " in repr(tecomp.lower(s, [A, C]))) == double
    check_rows(cpu(s, [A, C]), A, C, length, (0, 1, 5))


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("length", [1, 4, 7])
def test_copies_that_an_instruction_fills_on_cuda(cuda, length, double):
    s, A, C = rows_of_tiles(length, double, "shared")
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    assert ("[2, " in repr(tecomp.lower(s, [A, C], target=CUDA))) == double
    check_rows(cuda(s, [A, C]), A, C, length, (0, 1, 5))


def two_accumulators(n, m):
    A = te.placeholder((n, m), "int32", name="A")
    k = te.reduce_axis((0, m), name="k")
    both = te.comm_reducer(
        lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda t, u: (te.const(0, t), te.const(1, u)), name="both"
    )
    S, P = te.compute((n,), lambda i: both((A[i, k], A[i, k]), axis=k, init=(1, 2)), name="both")
    return A, S, te.compute((n,), lambda i: S[i] - P[i], name="B")


@pytest.mark.parametrize("scope", ["local", "global"])
def test_two_accumulators_of_one_loop(cpu, scope):
    """TL#994: 1 and 2 are two values, and each goes on from its own."""
    A, S, B = two_accumulators(te.var("n"), te.var("m"))
    s = te.create_schedule(B.op)
    s[S].compute_at(s[B], s[B].split(B.op.axis[0], 4)[1])
    s[S].set_scope(scope)
    program = cpu(s, [A, B])
    for size in around(4):
        for width in (0, 1, 5):
            a = DATA.integers(1, 4, (size, width)).astype("int32")
            program({A: a}, {B: (1 + a.sum(1) - 2 * a.prod(1)).astype("int32")})


def neighbours(n, factor, scope):
    """C[i] = P[i] + P[i + 1], of which a block computes P once, its loop bound to the threads."""
    A = te.placeholder((n + 1,), name="A")
    P = te.compute((n + 1,), lambda i: A[i] + 1, name="P")
    C = te.compute((n,), lambda i: P[i] + P[i + 1], name="C")
    s = te.create_schedule(C.op)
    outer, _ = bound(s, C, factor)
    s[P].compute_at(s[C], outer)
    s[P].set_scope(scope)
    s[P].bind(s[P].split(P.op.axis[0], factor)[1], te.thread_axis("threadIdx.x"))
    return s, A, C


@pytest.mark.parametrize("factor", [2, 8, 31, 32])
def test_a_neighbours_registers_are_refused(refused, factor):
    """Halide PR 9325: whatever the number of threads and the length."""
    for n in (te.var("n"), 64):
        s, A, C = neighbours(n, factor, "local")
        with refused("""
            local buffer P read by another thread
              because: the threads of threadIdx.x divide its elements, each in registers of its own
              legal: set_scope('shared') of P, or compute_at inside the loop bound to the thread
            """):
            tecomp.lower(s, [A, C], target=CUDA)


@pytest.mark.parametrize(
    ("scope", "factor"), [(scope, f) for scope in ("shared", "shared.dyn", "warp") for f in (8, 32)] + [("local", 1)]
)
def test_a_neighbours_element(cuda, factor, scope):
    """In memory of the block, exchanged in the warp, or in registers where there is one thread."""
    s, A, C = neighbours(te.var("n"), factor, scope)
    program = cuda(s, [A, C])
    for size in around(factor):
        a = ints(size + 1)
        program({A: a}, {C: a[:-1] + a[1:] + np.float32(2)})
