"""Group D, further: reductions shared out by lanes and threads, scatters, lanes and unrolled loops on CUDA."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tests.cases.places import CUDA
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def ints(*shape):
    return DATA.integers(-9, 9, shape).astype("float32")


def dot(n):
    V, W = te.placeholder((n,), name="V"), te.placeholder((n,), name="W")
    k = te.reduce_axis((0, n), name="k")
    return V, W, k, te.compute((), lambda: te.sum(V[k] * W[k], axis=k), name="O")


@pytest.mark.parametrize("factor", [1, 4, 7])
@pytest.mark.parametrize("how", ["vectorize", "parallel"])
def test_partial_results_in_lanes_or_threads(cpu, how, factor):
    """tvm#670, #7420: rfactor makes of a part of the reduce axis a data axis, which may be vectorized or parallel."""
    V, W, k, O = dot(te.var("n"))
    s = te.create_schedule(O.op)
    part = s.rfactor(O, s[O].split(k, factor)[1])
    s[part].reorder(s[part].op.reduce_axis[0], part.op.axis[0])
    getattr(s[part], how)(part.op.axis[0])
    program = cpu(s, [V, W, O])
    for size in (*around(factor), 128):
        v, w = ints(size), ints(size)
        program({V: v, W: w}, {O: np.float32(v @ w)})


@pytest.mark.parametrize("n", [1, 2, 13])
def test_a_parallel_reduction_that_updates_atomically(cpu, n):
    """tvm#7420: the same loop may be parallel where each update is one step of memory."""
    A, B = te.placeholder((n, 4), name="A"), te.placeholder((4, n), name="B")
    k = te.reduce_axis((0, 4), name="k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].parallel(k, reduce_update="atomic")
    a, b = ints(n, 4), ints(4, n)
    cpu(s, [A, B, C])({A: a, B: b}, {C: a @ b})


def counted(n, bins, split):
    """out[b] = how many of at[:n] are b; a histogram that walks through `at` in parts of `split`."""
    at = te.placeholder((n,), "int32", name="at")

    def walk(ins, outs):
        ib = tir.ir_builder.create()
        places, count = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, bins, name="b") as b:
            count[b] = 0
        with (
            ib.for_range(0, (n + split - 1) // split, name="o") as o,
            ib.for_range(0, split, name="i") as i,
            ib.if_scope(o * split + i < n),
        ):
            count[places[o * split + i]] = count[places[o * split + i]] + 1
        return ib.get()

    return at, te.extern((bins,), [at], walk, name="count", dtype="int32")


@pytest.mark.parametrize("split", [1, 4, 7])
def test_a_scatter_with_a_tail(cpu, split):
    """Halide#2958: the guard is around the index on the left side too; beyond the end none is read."""
    at, count = counted(te.var("n"), 7, split)
    program = cpu(te.create_schedule(count.op), [at, count])
    for size in (*around(split), 6):
        places = DATA.integers(0, 7, size).astype("int32")
        program({at: places}, {count: np.bincount(places, minlength=7).astype("int32")})


def scattered():
    """C[j] = the sum of all V[i] with at[i] == j, as a reduction over i."""
    n, bins = te.var("n"), te.var("bins")
    at, V = te.placeholder((n,), "int32", name="at"), te.placeholder((n,), name="V")
    i = te.reduce_axis((0, n), name="i")
    C = te.compute((bins,), lambda j: te.sum(V[i], axis=i, where=at[i] == j), name="C")
    return at, V, i, C, te.create_schedule(C.op)


def check_scatter(program, at, V, C, sizes):
    for size in sizes:
        places, v = DATA.integers(-1, 8, size).astype("int32"), ints(size)
        want = np.zeros(7, "float32")
        np.add.at(want, places[(places >= 0) & (places < 7)], v[(places >= 0) & (places < 7)])
        program({at: places, V: v}, {C: want})


@pytest.mark.parametrize("way", ["serial", "split", "atomic"])
def test_a_scatter_as_a_reduction(cpu, way):
    """Halide#2958: where the place is not in C, nothing is added."""
    at, V, i, C, s = scattered()
    if way == "split":
        i = s[C].split(i, 4)[0]
    elif way == "atomic":
        s[C].parallel(i, reduce_update="atomic")
    s[C].reorder(i, C.op.axis[0])
    check_scatter(cpu(s, [at, V, C]), at, V, C, (*around(4), 6))


def test_a_scatter_as_a_reduction_on_cuda(cuda):
    at, V, i, C, s = scattered()
    outer, inner = s[C].split(i, 32)
    s[C].reorder(outer, inner, C.op.axis[0])
    s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_update="atomic")
    s[C].bind(inner, te.thread_axis("threadIdx.x"), reduce_update="atomic")
    check_scatter(cuda(s, [at, V, C]), at, V, C, around(32))


@pytest.mark.parametrize("lanes", [3, 5, 6, 7])
def test_lanes_that_are_no_power_of_two_on_cuda(cuda, lanes):
    """loopy#922: no lane more than was asked for is stored."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], lanes)
    s[B].vectorize(inner)
    bound(s, B, 4, outer)
    program = cuda(s, [A, B])
    for size in (*around(lanes), 9):
        a = ints(size)
        program({A: a}, {B: a + np.float32(1)})


def test_an_unroll_of_very_many_iterations_on_cuda():
    """tvm#14756: the loop stays a loop of the kernel, and the build takes no time."""
    A = te.placeholder((4, 15_000_000), name="A")
    C = te.compute((4, 15_000_000), lambda i, j: A[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    bound(s, C, 4)
    s[C].unroll(C.op.axis[1])
    start = time.process_time()
    source = tecomp.build(s, [A, C], target=CUDA).source
    assert time.process_time() - start < 3
    assert source.count("for (") == 1 and source.count("\n") < 30


@pytest.mark.parametrize("n", [1, 4, 5, 13])
def test_an_unroll_with_a_tail_on_cuda(cuda, n):
    A = te.placeholder((n, n), name="A")
    C = te.compute((n, n), lambda i, j: A[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].unroll(s[C].split(C.op.axis[1], 4)[1])
    bound(s, C, 4)
    a = DATA.random((n, n), "float32")
    cuda(s, [A, C])({A: a}, {C: a + np.float32(1)})
