"""Group C: tensors of more bytes than 32 bits count, axes of 64 bits, constants of 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir import interpret
from tecomp.ir.stmt import Alloc
from tecomp.ir.visit import walk
from tests.cases.places import CUDA
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


@pytest.mark.parametrize("n", [16384, 23170, 23171, 46341, 65536])
def test_a_temporary_of_more_bits_than_an_int32(n):
    """tvm PR 2580: its size in bits was computed in 32 of them. 16384 ** 2 int32 are 2 ** 33 bits."""
    A, B = te.placeholder((n, n), "int32", name="A"), te.placeholder((n, n), "int32", name="B")
    C = te.compute((n, n), lambda i, j: A[i, j] - B[i, j], name="C")
    D = te.compute((n, n), lambda i, j: C[i, j] + 1, name="D")
    s = te.create_schedule(D.op)
    (held,) = [node.buffer for node in walk(tecomp.lower(s, [A, B, D]).body) if isinstance(node, Alloc)]
    assert [int(extent.value) for extent in held.shape] == [n, n]
    assert "%C.bytes = mul i64 " in tecomp.build(s, [A, B, D]).source


@pytest.mark.parametrize("dtype", ["int8", "int32"])
@pytest.mark.parametrize("symbolic", [False, True])
def test_offsets_beyond_32_bits(dtype, symbolic):
    """Elements at offset 2 ** 32 and byte 2 ** 33: memory that is only reserved, but for the pages that are touched."""
    rows, columns = 5, 2**30 // np.dtype(dtype).itemsize
    m, n = (te.var("m"), te.var("n")) if symbolic else (rows, columns)
    A = te.placeholder((m, n), dtype, name="A")
    B = te.compute((m,), lambda i: A[i, n - 1 - i], name="B")
    a = np.zeros((rows, columns), dtype)
    want = np.arange(1, rows + 1, dtype=dtype)
    for row in range(rows):
        a[row, columns - 1 - row] = row + 1
    s = te.create_schedule(B.op)
    func, module = tecomp.lower(s, [A, B]), tecomp.build(s, [A, B])
    for run in (lambda *arrays: interpret(func, *arrays), module):
        b = np.zeros(rows, dtype)
        run(a, b)
        np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("n", [16384, 46341, 65536])
def test_a_temporary_of_more_bits_than_an_int32_on_cuda(n):
    """tvm PR 2580: the host part of the program asks for all its elements."""
    A, B = te.placeholder((n, n), "int32", name="A"), te.placeholder((n, n), "int32", name="B")
    C = te.compute((n, n), lambda i, j: A[i, j] - B[i, j], name="C")
    D = te.compute((n, n), lambda i, j: C[i, j] + 1, name="D")
    s = te.create_schedule(D.op)
    for tensor in (C, D):
        bound(s, tensor, 256, s[tensor].fuse(*tensor.op.axis))
    artifact = tecomp.build(s, [A, B, D], target=CUDA).artifact
    assert f"alloc('int32', {n * n})" in artifact.host


def far(dtype):
    """Return a schedule of B[i] = A[i, n - 1 - i], the shape that takes offsets beyond 32 bits, and B."""
    rows, columns = 5, 2**30 // np.dtype(dtype).itemsize
    m, n = te.var("m"), te.var("n")
    A = te.placeholder((m, n), dtype, name="A")
    B = te.compute((m,), lambda i: A[i, n - 1 - i], name="B")
    s = te.create_schedule(B.op)
    bound(s, B, 4)
    return s, A, B, (rows, columns), np.arange(1, rows + 1, dtype=dtype)


@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_offsets_beyond_32_bits_on_cuda(dtype):
    s, A, B, (rows, columns), want = far(dtype)
    a = np.zeros((rows, columns), dtype)
    for row in range(rows):
        a[row, columns - 1 - row] = row + 1
    b = np.zeros(rows, dtype)
    interpret(tecomp.lower(s, [A, B], target=CUDA), a, b)
    np.testing.assert_array_equal(b, want)
    artifact = tecomp.build(s, [A, B], target=CUDA).artifact
    assert artifact.binary and "long long n" in artifact.source


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_offsets_beyond_32_bits_on_a_gpu(dtype):
    import cupy

    s, A, B, (rows, columns), want = far(dtype)
    a = cupy.zeros((rows, columns), dtype)
    for row in range(rows):
        a[row, columns - 1 - row] = row + 1
    b = cupy.zeros(rows, dtype)
    tecomp.build(s, [A, B], target="cuda")(a, b)
    np.testing.assert_array_equal(b.get(), want)


def wide(value):
    return te.const(value, "int64")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 13])
def test_axes_of_64_bits(cpu, n):
    """tvm PR 10595, 10571: mixed with loop variables of 32 bits, fused, parallel, vectorized."""
    s, A, B, a, want = shifted(n)
    outer, inner = s[B].split(s[B].fuse(*B.op.axis), 4)
    s[B].parallel(outer)
    s[B].vectorize(inner)
    cpu(s, [A, B])({A: a}, {B: want})


@pytest.mark.parametrize("n", [1, 4, 5])
def test_axes_of_64_bits_on_cuda(cuda, n):
    s, A, B, a, want = shifted(n)
    outer, inner = s[B].split(s[B].fuse(*B.op.axis), 4)
    s[B].vectorize(inner)
    bound(s, B, 32, outer)
    cuda(s, [A, B])({A: a}, {B: want})


def shifted(n):
    """B[i, j] = A[i - 1, j + 1], and the row where there is none."""
    A = te.placeholder((wide(169), wide(n)), name="A")
    B = te.compute(
        (wide(169), wide(n)),
        lambda i, j: te.if_then_else(te.all(i >= 1, j < n - 1), A[i - 1, j + 1], i.astype("float32")),
        name="B",
    )
    a = DATA.random((169, n), "float32")
    want = np.broadcast_to(np.arange(169, dtype="float32")[:, None], a.shape).copy()
    want[1:, : n - 1] = a[:-1, 1:]
    return te.create_schedule(B.op), A, B, a, want


def test_a_sum_over_an_axis_of_64_bits(cpu):
    m, n = te.var("m", "int64"), te.var("n", "int64")
    A, _, B = sums(m, n)
    program = cpu(te.create_schedule(B.op), [A, B])
    for size in around(4):
        a = DATA.integers(-9, 9, (size, 5)).astype("int32")
        program({A: a}, {B: a.sum(1, dtype="int32")})


def test_a_sum_over_an_axis_of_64_bits_on_cuda(cuda):
    """tvm PR 14991: a thread-bound loop beside it."""
    m, n = te.var("m", "int64"), te.var("n", "int64")
    A, k, B = sums(m, n)
    s = te.create_schedule(B.op)
    bound(s, B, 4)
    s[B].split(k, 3)
    program = cuda(s, [A, B])
    for size in around(4):
        a = DATA.integers(-9, 9, (size, 5)).astype("int32")
        program({A: a}, {B: a.sum(1, dtype="int32")})


def sums(m, n):
    A = te.placeholder((m, n), "int32", name="A")
    k = te.reduce_axis((wide(0), n), name="k")
    return A, k, te.compute((m,), lambda i: te.sum(A[i, k], axis=k), name="B")


EXTREMES = [(d, v) for d in ("int64", "uint64") for v in (np.iinfo(d).min, np.iinfo(d).max, np.iinfo(d).max - 1)]


@pytest.mark.parametrize(("dtype", "value"), EXTREMES)
@pytest.mark.parametrize("lanes", [1, 4])
def test_constants_of_64_bits(cpu, dtype, value, lanes):
    """taichi#6268: 2 ** 64 - 1 came back with a sign."""
    B = te.compute((5,), lambda i: te.const(value, dtype), name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], lanes)[1])
    cpu(s, [B])({}, {B: np.full(5, value, dtype)})


def test_constants_of_64_bits_on_cuda(cuda):
    for dtype, value in EXTREMES:
        B = te.compute((5,), lambda i, d=dtype, v=value: te.const(v, d), name="B")
        s = te.create_schedule(B.op)
        bound(s, B, 4)
        cuda(s, [B])({}, {B: np.full(5, value, dtype)})
