"""Group D: vectors and unrolled loops; guards that protect what is loaded, not only what is stored."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.stmt import For, LoopKind
from tecomp.ir.visit import walk
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)
LANES = (2, 3, 4, 8, 16)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def vectorized(tensor, lanes):
    s = te.create_schedule(tensor.op)
    s[tensor].vectorize(s[tensor].split(tensor.op.axis[-1], lanes)[1])
    return s


def dot():
    V, W = te.placeholder((128,), name="V"), te.placeholder((128,), name="W")
    k = te.reduce_axis((0, 128), name="k")
    O = te.compute((), lambda: te.sum(V[k] * W[k], axis=k), name="O")
    return te.create_schedule(O.op), O, k


@pytest.mark.parametrize("part", ["whole", "outer", "inner", "fused"])
@pytest.mark.parametrize(
    ("verb", "called", "atomic"),
    [("vectorize", "vectorize", ""), ("parallel", "parallelize", 'reduce_update="atomic"; ')],
)
def test_a_reduce_axis_as_lanes_or_threads(refused, verb, called, atomic, part):
    """tvm#670, #1795, #7420: silently wrong, or a race."""
    s, O, k = dot()
    if part == "fused":
        axis = s[O].fuse(*s[O].split(k, 4))
    else:
        axis = k if part == "whole" else s[O].split(k, 4)[part == "inner"]
    with refused(f"""
        cannot {called} reduce axis '{axis.name}' of 'O'
          because: its iterations combine into one element, so they cannot run at once
          legal: a serial or an unrolled loop; {atomic}or s.rfactor, for a data axis to {called}
        """):
        getattr(s[O], verb)(axis)


def gathered():
    n, m = te.var("n"), te.var("m")
    A, at = te.placeholder((m,), name="A"), te.placeholder((n,), "int32", name="at")
    return A, at, te.compute((n,), lambda i: A[at[i]] * 2, name="B")


def check_gather(program, A, at, B, sizes):
    for n in sizes:
        a, places = DATA.random(7, "float32"), DATA.integers(0, 7, n).astype("int32")
        program({A: a, at: places}, {B: a[places] * np.float32(2)})


@pytest.mark.parametrize("lanes", [3, 4, 8])
def test_the_tail_of_a_gather(cpu, lanes):
    """Halide#2958: beyond the last index no index is read, and nothing is loaded through one."""
    A, at, B = gathered()
    check_gather(cpu(vectorized(B, lanes), [A, at, B]), A, at, B, [*around(lanes), 6])


def test_the_tail_of_a_gather_on_cuda(cuda):
    A, at, B = gathered()
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], 4)
    s[B].vectorize(inner)
    bound(s, B, 32, outer)
    check_gather(cuda(s, [A, at, B]), A, at, B, [*around(128), 6])


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_small_integers_in_lanes(cpu, dtype, lanes):
    """tvm PR 5428, 8137: add, copy and constants in vectors of any length."""
    check_small_integers(cpu, dtype, lambda tensor: vectorized(tensor, lanes), around(lanes))


@pytest.mark.parametrize("lanes", LANES)
def test_small_integers_in_lanes_on_cuda(cuda, lanes):
    def schedule(tensor):
        s = te.create_schedule(tensor.op)
        outer, inner = s[tensor].split(tensor.op.axis[0], lanes)
        s[tensor].vectorize(inner)
        bound(s, tensor, 4, outer)
        return s

    check_small_integers(cuda, "int8", schedule, around(lanes))


def check_small_integers(place, dtype, schedule, sizes):
    n = te.var("n")
    A, B = te.placeholder((n,), dtype, name="A"), te.placeholder((n,), dtype, name="B")
    one = np.dtype(dtype).type
    least = 0xAB if dtype == "uint8" else -3
    for element, want in (
        (lambda i: A[i] + B[i], lambda a, b: a + b),
        (lambda i: te.Select(A[i] > B[i], A[i], te.const(least, dtype)), lambda a, b: np.where(a > b, a, one(least))),
    ):
        C = te.compute((n,), element, name="C")
        program = place(schedule(C), [A, B, C])
        for size in sizes:
            a, b = DATA.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, size), dtype)
            program({A: a, B: b}, {C: want(a, b)})


@pytest.mark.parametrize("value", [0, 1, 0x7F])
def test_a_broadcast_constant(cpu, value):
    """tvm PR 7561: packed constants of small integers."""
    for dtype in ("int8", "uint8", "int16"):
        for lanes in (3, 4, 16):
            B = te.compute((lanes + 1,), lambda i, d=dtype: te.const(value, d), name="B")
            cpu(vectorized(B, lanes), [B])({}, {B: np.full(lanes + 1, value, dtype)})


def values(dtype):
    """Return numbers that every type can hold after truncation, so that each conversion has one right answer."""
    if dtype.startswith("u") or dtype == "bool":
        return np.array([0, 1, 2, 3, 5, 63, 100, 127, 7], dtype)
    numbers = [0, 1, 2, 3, 5, 63, 100, 127, 7] if dtype.startswith("int") else [0, 0.5, 1.5, 2.75, 5, 63.5, 100, 127, 7]
    return np.array(numbers).astype(te.const(0, dtype).dtype.numpy)


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("lanes", [4, 8])
def test_conversions_in_lanes(cpu, source, lanes):
    """tvm PR 1959: from each type to each other, all in one program."""
    s, A, results, a = conversions(source, lanes)
    cpu(s, [A, *results])({A: a}, {T: a.astype(T.dtype.numpy) for T in results})


def conversions(source, lanes, block=0):
    A = te.placeholder((9,), source, name="A")
    results = [te.compute((9,), lambda i, t=t: A[i].astype(t), name=f"to_{t}") for t in (*FLOATS, *INTEGERS)]
    s = te.create_schedule([T.op for T in results])
    for T in results:
        outer, inner = s[T].split(T.op.axis[0], lanes)
        s[T].vectorize(inner)
        if block:
            bound(s, T, block, outer)
    return s, A, results, values(source)


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "int8", "uint64"])
def test_conversions_in_lanes_on_cuda(cuda, source):
    s, A, results, a = conversions(source, 4, block=2)
    cuda(s, [A, *results])({A: a}, {T: a.astype(T.dtype.numpy) for T in results})


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 8, 9, 10, 13])
@pytest.mark.parametrize("lanes", [3, 5, 6, 7])
def test_lanes_that_are_no_power_of_two(cpu, n, lanes):
    """loopy#922: a vector of three was stored as one of four."""
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    a = DATA.random(n, "float32")
    cpu(vectorized(B, lanes), [A, B])({A: a}, {B: a + np.float32(1)})


def shifted():
    """Reads of A[i - 1] that only the outer condition, or only the inner one, keeps inside."""
    n = te.var("n")
    A, m = te.placeholder((n,), name="A"), te.placeholder((n,), "int32", name="m")
    B = te.compute((n,), lambda i: te.Select(i > 0, te.if_then_else(m[i] > 0, A[i - 1], 1.0), 2.0), name="B")
    C = te.compute((n,), lambda i: te.if_then_else(i > 0, te.Select(m[i] > 0, A[i - 1], 1.0), 2.0), name="C")
    return A, m, B, C


def check_shifted(program, A, m, B, C, sizes):
    for n in sizes:
        a, mask = DATA.random(n, "float32"), DATA.integers(0, 2, n).astype("int32")
        before = np.concatenate([np.zeros(min(n, 1), "float32"), a[:-1]])
        want = np.where(np.arange(n) > 0, np.where(mask > 0, before, np.float32(1)), np.float32(2))
        program({A: a, m: mask}, {B: want, C: want})


@pytest.mark.parametrize("lanes", [0, 4])
def test_a_lazy_read_inside_an_eager_choice(cpu, lanes):
    """TL PR 1783: A[-1] was read where only the condition around the inner choice forbids it."""
    A, m, B, C = shifted()
    s = te.create_schedule([B.op, C.op])
    for tensor in (B, C):
        if lanes:
            s[tensor].vectorize(s[tensor].split(tensor.op.axis[0], lanes)[1])
    check_shifted(cpu(s, [A, m, B, C]), A, m, B, C, around(4))


def test_a_lazy_read_inside_an_eager_choice_on_cuda(cuda):
    A, m, B, C = shifted()
    s = te.create_schedule([B.op, C.op])
    for tensor in (B, C):
        bound(s, tensor, 4)
    check_shifted(cuda(s, [A, m, B, C]), A, m, B, C, around(4))


def test_an_unroll_of_very_many_iterations():
    """tvm#14756, Halide#7759: the loop stays, and says what was asked of it; the build takes no time."""
    A = te.placeholder((15_000_000,), name="A")
    C = te.compute((15_000_000,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].unroll(C.op.axis[0])
    check_kept(s, [A, C], 1)


def test_unrolls_inside_one_another():
    A = te.placeholder((32, 32, 64), name="A")
    C = te.compute((32, 32, 64), lambda i, j, k: A[i, j, k] + 1, name="C")
    s = te.create_schedule(C.op)
    for axis in C.op.axis:
        s[C].unroll(axis)
    check_kept(s, [A, C], 3)


def check_kept(s, args, loops):
    start = time.process_time()
    func = tecomp.lower(s, args)
    tecomp.build(s, args)
    assert time.process_time() - start < 3
    kinds = [node.kind for node in walk(func.body) if isinstance(node, For)]
    assert len(kinds) <= loops and LoopKind.UNROLLED in kinds


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 13, 32])
def test_an_unroll_with_a_tail(cpu, n):
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].unroll(s[C].split(C.op.axis[0], 4)[1])
    a = DATA.random(n, "float32")
    cpu(s, [A, C])({A: a}, {C: a + np.float32(1)})


@pytest.mark.parametrize("verb", ["unroll", "vectorize"])
def test_a_loop_of_unknown_length_written_out(refused, verb):
    """Halide PR 6200."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    with refused(f"""
        cannot {verb} 'i' of 'C'
          because: extent n is not constant
          legal: split it by a constant, and {verb} the inner loop
        """):
        getattr(s[C], verb)(C.op.axis[0])


def test_a_region_of_unknown_length_unrolled(refused):
    """The length is known only when bounds are: the loop is of a stage that computes what another one asks for."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    C = te.compute((n,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].unroll(B.op.axis[0])
    with refused("""
        cannot unroll 'i' of 'B'
          because: extent n is not constant
          legal: split it by a constant, and unroll the inner loop
        """):
        tecomp.lower(s, [A, C])
