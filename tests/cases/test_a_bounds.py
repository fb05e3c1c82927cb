"""Group A: split, fuse and compute_at on sizes that do not divide; the region and the guards they ask for."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.stmt import Alloc
from tecomp.ir.visit import walk
from tests.cases.counting import stores
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def row_sums():
    """B(i) = the sum of row i of A(n, m), computed in a loop of C = B whose factor does not divide n."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    C = te.compute((n,), lambda i: B[i], name="C")
    return A, B, C


def check_row_sums(program, tensors, n, m):
    A, B, C = tensors
    a = DATA.integers(-9, 9, (n, m)).astype("float32")
    program({A: a}, {B: a.sum(1), C: a.sum(1)})


@pytest.mark.parametrize("loop", ["outer", "inner"])
def test_a_reduction_in_a_ragged_loop(cpu, loop):
    """tvm#9598: the start of the sum needs the guard that its steps have; both results are arguments."""
    tensors = A, B, C = row_sums()
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], 10)
    s[B].compute_at(s[C], outer if loop == "outer" else inner)
    program = cpu(s, [A, B, C])
    for n in around(10):
        for m in (0, 1, 10):
            check_row_sums(program, tensors, n, m)


def test_a_reduction_in_a_ragged_loop_on_cuda(cuda):
    tensors = A, B, C = row_sums()
    s = te.create_schedule(C.op)
    _, inner = bound(s, C, 10)
    s[B].compute_at(s[C], inner)
    program = cuda(s, [A, B, C])
    for n in around(10):
        check_row_sums(program, tensors, n, 3)


@pytest.mark.parametrize("factors", [(10, 32), (32, 10), (7, 7), (5, 3)])
@pytest.mark.parametrize("n", [*around(10), 31, 32, 33, 48])
def test_stages_split_by_factors_that_do_not_divide_each_other(cpu, n, factors):
    """tvm#2898: partition of both loops at once."""
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i], name="C")
    D = te.compute((n,), lambda i: C[i], name="D")
    s = te.create_schedule(D.op)
    s[C].split(C.op.axis[0], factors[0])
    outer, _ = s[D].split(D.op.axis[0], factors[1])
    s[C].compute_at(s[D], outer)
    a = DATA.random(n, "float32")
    cpu(s, [A, C, D])({A: a}, {C: a, D: a})


def fused(shape, factor):
    """P = A and C = P + 3 of a shape; C's loops fused and split by `factor`, P computed for each part."""
    A = te.placeholder(shape, "float16", name="A")
    P = te.compute(shape, lambda i, j: A[i, j], name="P")
    C = te.compute(shape, lambda i, j: P[i, j] + 3, name="C")
    s = te.create_schedule(C.op)
    outer, _ = s[C].split(s[C].fuse(*C.op.axis), factor)
    s[P].compute_at(s[C], outer)
    return s, A, C


@pytest.mark.parametrize("factor", [1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 72, 73])
def test_a_producer_under_fused_and_split_loops(cpu, factor):
    """tvm#3679: its region is the rows that the part touches."""
    s, A, C = fused((12, 6), factor)
    a = DATA.random((12, 6)).astype("float16")
    cpu(s, [A, C])({A: a}, {C: a + np.float16(3)})


@pytest.mark.parametrize(
    ("factor", "most"), [(1, (1, 6)), (3, (1, 6)), (6, (1, 6)), (9, (2, 6)), (10, (3, 6)), (12, (2, 6))]
)
def test_the_buffer_under_fused_loops_is_no_larger_than_the_part(factor, most):
    """tvm#3679, #3072: it was the whole tensor."""
    s, A, C = fused((12, 6), factor)
    held = [node.buffer.shape for node in walk(tecomp.lower(s, [A, C]).body) if isinstance(node, Alloc)]
    assert all(int(extent.value) <= limit for shape in held for extent, limit in zip(shape, most, strict=True))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("way", ["factor", "nparts"])
def test_a_factor_beyond_the_extent(cpu, n, way):
    """tvm PR 4932: no iteration of the inner loop is beyond the tensor."""
    A = te.placeholder((n, n), name="A")
    B = te.compute((n, n), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    for axis in B.op.axis:
        s[B].split(axis, **{way: 4})
    a = DATA.random((n, n), "float32")
    cpu(s, [A, B])({A: a}, {B: a + np.float32(1)})


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13])
def test_a_producer_under_a_split_reduction(cpu, n):
    """Halide 889a456abe: each element is computed once, and nothing beyond the input is read."""
    A = te.placeholder((n,), "int32", name="A")
    P = te.compute((n,), lambda i: A[i] * 2, name="P")
    k = te.reduce_axis((0, n), name="k")
    S = te.compute((), lambda: te.sum(P[k], axis=k), name="S")
    s = te.create_schedule(S.op)
    outer, _ = s[S].split(k, 4)
    s[P].compute_at(s[S], outer)
    a = DATA.integers(-99, 99, n).astype("int32")
    cpu(s, [A, S])({A: a}, {S: np.asarray(a.sum() * 2, "int32")})
    assert stores(tecomp.lower(s, [A, S]), "P", a, np.zeros((), "int32")) == n


def tiled_sum(n, a, threads):
    """b(i) = i * (a[0] + ... + a[n - 1]), a thread each i; a is copied to shared memory in tiles by all threads."""
    copy = te.compute(a.shape, lambda i: a[i], name="copy")
    j = te.reduce_axis((0, n), name="j")
    b = te.compute((threads,), lambda i: te.sum(copy[j] * i, axis=j), name="b")
    s = te.create_schedule(b.op)
    tx = te.thread_axis("threadIdx.x")
    s[b].bind(b.op.axis[0], tx)
    outer, _ = s[b].split(j, threads)
    s[copy].compute_at(s[b], outer)
    s[copy].set_scope("shared")
    s[copy].bind(copy.op.axis[0], tx)
    return s, b


def numpy_tiled(data, threads):
    return np.arange(threads, dtype="int32") * data.sum(dtype="int32")


def test_a_cooperative_copy_under_a_loop_of_unknown_length(cuda):
    """tvm#5303: a thread that has nothing to copy in the last tile still adds its part."""
    n = te.var("n")
    a = te.placeholder((n,), "int32", name="a")
    s, b = tiled_sum(n, a, 32)
    program = cuda(s, [a, b])
    for size in (*around(32), 1000):
        data = DATA.integers(-99, 99, size).astype("int32")
        program({a: data}, {b: numpy_tiled(data, 32)})


def test_a_cooperative_copy_under_a_loop_whose_length_is_data(cuda):
    n, a = te.placeholder((), "int32", name="n"), te.placeholder((1024,), "int32", name="a")
    s, b = tiled_sum(n(), a, 32)
    program = cuda(s, [n, a, b])
    data = DATA.integers(-99, 99, 1024).astype("int32")
    for size in (*around(32), 1000):
        program({n: np.array(size, "int32"), a: data}, {b: numpy_tiled(data[:size], 32)})


@pytest.mark.parametrize("schedule", ["plain", "split", "attached"])
def test_a_sum_whose_length_is_data(cpu, schedule):
    n, a = te.placeholder((), "int32", name="n"), te.placeholder((100,), "int32", name="a")
    copy = te.compute((100,), lambda i: a[i], name="copy")
    j = te.reduce_axis((0, n()), name="j")
    b = te.compute((5,), lambda i: te.sum(copy[j] * i, axis=j), name="b")
    s = te.create_schedule(b.op)
    if schedule != "plain":
        outer, inner = s[b].split(j, 4)
        s[b].unroll(inner)
        if schedule == "attached":
            s[copy].compute_at(s[b], outer)
    program = cpu(s, [n, a, b])
    data = DATA.integers(-99, 99, 100).astype("int32")
    for size in around(4):
        program({n: np.array(size, "int32"), a: data}, {b: numpy_tiled(data[:size], 5)})


def repeated(n):
    B = te.placeholder((5,), name="B")
    out = te.compute((n, n), lambda i, j: B[j % 5], name="out")
    b = DATA.random(5, "float32")
    return B, out, b, np.broadcast_to(b[np.arange(n) % 5], (n, n)).copy()


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33])
@pytest.mark.parametrize("factor", [4, 128])
def test_a_modulo_of_a_fused_loop(cpu, n, factor):
    """TL#2955: j % 5 does not fold although 5 does not divide the extent of j."""
    B, out, b, want = repeated(n)
    s = te.create_schedule(out.op)
    s[out].vectorize(s[out].split(s[out].fuse(*out.op.axis), factor)[1])
    cpu(s, [B, out])({B: b}, {out: want})


@pytest.mark.parametrize("n", [1, 31, 32, 33])
def test_a_modulo_of_a_fused_loop_over_threads(cuda, n):
    B, out, b, want = repeated(n)
    s = te.create_schedule(out.op)
    bound(s, out, 128, s[out].fuse(*out.op.axis))
    cuda(s, [B, out])({B: b}, {out: want})


def matmul(n):
    """C = A @ B, the operands copied."""
    A, B = te.placeholder((n, n), "int32", name="A"), te.placeholder((n, n), "int32", name="B")
    left = te.compute((n, n), lambda i, j: A[i, j], name="left")
    right = te.compute((n, n), lambda i, j: B[i, j], name="right")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((n, n), lambda i, j: te.sum(left[i, k] * right[k, j], axis=k), name="C")
    return A, B, left, right, k, C


@pytest.mark.parametrize("n", [1, 3, 4, 5, 13])
def test_a_ragged_matmul_of_tiles(cpu, n):
    """Halide#5777: a copy of a tile beyond the matrix is guarded, and no false fault is seen in it."""
    A, B, left, right, k, C = matmul(n)
    s = te.create_schedule(C.op)
    i, j, ii, jj = s[C].tile(*C.op.axis, 4, 4)
    ko, ki = s[C].split(k, 4)
    s[C].reorder(i, j, ko, ii, ki, jj)
    s[C].vectorize(jj)
    s[left].compute_at(s[C], ko)
    s[right].compute_at(s[C], ko)
    a, b = DATA.integers(-9, 9, (2, n, n)).astype("int32")
    cpu(s, [A, B, C])({A: a, B: b}, {C: a @ b})


def test_a_ragged_matmul_of_tiles_on_cuda(cuda):
    A, B, left, right, k, C = matmul(te.var("n"))
    s = te.create_schedule(C.op)
    tags = ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x")
    for axis, tag in zip(s[C].tile(*C.op.axis, 4, 4), tags, strict=True):
        s[C].bind(axis, te.thread_axis(tag))
    ko, _ = s[C].split(k, 4)
    for copy in (left, right):
        s[copy].compute_at(s[C], ko)
        s[copy].set_scope("shared")
        for axis, tag in zip(copy.op.axis, tags[2:], strict=True):
            s[copy].bind(axis, te.thread_axis(tag))
    program = cuda(s, [A, B, C])
    for n in around(4):
        a, b = DATA.integers(-9, 9, (2, n, n)).astype("int32")
        program({A: a, B: b}, {C: a @ b})


def test_a_stage_in_its_own_loop(refused):
    """tvm PR 7898."""
    A = te.placeholder((8,), name="A")
    C = te.compute((8,), lambda i: A[i] + 1, name="C")
    D = te.compute((8,), lambda i: C[i] * 2, name="D")
    s = te.create_schedule(D.op)
    with refused("""
        compute_at: 'C' cannot be placed at loop 'i' of 'C'
          because: compute_at cycle: C→C
          legal: a stage that reads 'C'
        """):
        s[C].compute_at(s[C], C.op.axis[0])


def test_two_stages_in_each_others_loops(refused):
    """tvm PR 7898: A at C and C at A."""
    X = te.placeholder((8,), name="X")
    A = te.compute((8,), lambda i: X[i] + 1, name="A")
    C = te.compute((8,), lambda i: A[i] * 2, name="C")
    D = te.compute((8,), lambda i: C[i] + 1, name="D")
    s = te.create_schedule(D.op)
    s[A].compute_at(s[C], C.op.axis[0])
    with refused("""
        compute_at: 'C' cannot be placed at loop 'i' of 'A'
          because: compute_at cycle: A→C→A
          legal: a stage that reads 'C'
        """):
        s[C].compute_at(s[A], A.op.axis[0])
