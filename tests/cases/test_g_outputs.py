"""Group G: reductions of pairs, extents that depend on other axes, and what may be inlined."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def extreme(name, n, m, dtype="float32"):
    """(index, value) of the extreme of each column of A(n, m)."""
    A = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis((0, n), name="k")
    reducer = {"argmax": te.argmax, "argmin": te.argmin}[name]
    return A, k, te.compute((m,), lambda j: reducer((k.var, A[k, j]), axis=k), name="T")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
def test_a_pair_cannot_be_inlined(refused, dtype):
    """tvm#933, #928."""
    _, _, (I, V) = extreme("argmax", 256, 256, dtype)
    B = te.compute((256,), lambda j: V[j] + I[j].astype(dtype), name="B")
    s = te.create_schedule(B.op)
    with refused("""
        compute_inline: 'T' has a reduction and cannot be inlined
          legal: use compute_at
        """):
        s[I].compute_inline()


def test_a_sum_cannot_be_inlined(refused):
    """tvm#902."""
    A = te.placeholder((8, 8), name="A")
    k = te.reduce_axis((0, 8), name="k")
    C = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="C")
    D = te.compute((8,), lambda i: C[i] + 1, name="D")
    s = te.create_schedule(D.op)
    with refused("""
        compute_inline: 'C' has a reduction and cannot be inlined
          legal: use compute_at
        """):
        s[C].compute_inline()


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float16", "int32"])
@pytest.mark.parametrize("schedule", ["plain", "split", "outside", "unrolled", "vectorized"])
def test_the_first_of_equal_values_wins(cpu, name, dtype, schedule):
    """tvm PR 19909: under every schedule."""
    n = 13
    A, k, (I, V) = extreme(name, n, 6, dtype)
    s = te.create_schedule(I.op)
    if schedule == "split":
        s[I].split(k, 4)
    elif schedule == "outside":
        outer, inner = s[I].split(k, 4)
        s[I].reorder(outer, inner, I.op.axis[0])
    elif schedule == "unrolled":
        s[I].unroll(k)
    elif schedule == "vectorized":
        s[I].reorder(k, I.op.axis[0])
        s[I].vectorize(s[I].split(I.op.axis[0], 4)[1])
    a = DATA.integers(0, 3, (n, 6)).astype(dtype)
    where = getattr(np, name)(a, axis=0).astype("int32")
    cpu(s, [A, I, V])({A: a}, {I: where, V: np.take_along_axis(a, where[None], 0)[0]})


def test_the_first_of_equal_values_wins_on_cuda(cuda):
    n, m = te.var("n"), te.var("m")
    A, k, (I, V) = extreme("argmax", n, m, "float16")
    s = te.create_schedule(I.op)
    bound(s, I, 4)
    s[I].split(k, 3)
    program = cuda(s, [A, I, V])
    for size in around(4):
        a = DATA.integers(0, 3, (7, size)).astype("float16")
        program({A: a}, {I: a.argmax(0).astype("int32"), V: a.max(0, initial=0)})


def pooled(rows, columns, out):
    """The sum over each window of an adaptive pool: window i of `size` runs over [i * size // out, ...)."""
    A = te.placeholder((rows, columns), name="A")

    def window(i, size, name):
        first, end = i * size // out, ((i + 1) * size + out - 1) // out
        return te.reduce_axis((first, end), name=name), end - first

    def total(i, j):
        (u, _), (v, _) = window(i, rows, "u"), window(j, columns, "v")
        return te.sum(A[u, v], axis=[u, v])

    S = te.compute((out, out), total, name="S")
    M = te.compute(
        (out, out),
        lambda i, j: S[i, j] / (window(i, rows, "u")[1] * window(j, columns, "v")[1]).astype("float32"),
        name="M",
    )
    return A, S, M


def numpy_pooled(a, out):
    ends = [[(i * size // out, -(-(i + 1) * size // out)) for i in range(out)] for size in a.shape]
    return np.array([[a[r0:r1, c0:c1].mean() for c0, c1 in ends[1]] for r0, r1 in ends[0]], "float32")


@pytest.mark.parametrize(("shape", "out"), [((3, 4), 2), ((3, 4), 3), ((7, 5), 3), ((1, 1), 1), ((4, 13), 4)])
@pytest.mark.parametrize("schedule", ["plain", "apart", "attached", "split"])
def test_reduce_axes_whose_extents_depend_on_the_element(cpu, shape, out, schedule):
    """tvm#20105: each level of the nest started the sum anew."""
    A, S, M = pooled(*shape, out)
    s = te.create_schedule(M.op)
    u, v = S.op.reduce_axis
    if schedule == "apart":
        i, j = S.op.axis
        s[S].reorder(i, u, j, v)
    elif schedule == "attached":
        s[S].compute_at(s[M], M.op.axis[1])
    elif schedule == "split":
        s[S].split(u, 2)
        s[S].unroll(s[S].split(v, 3)[1])
    a = np.arange(10, 10 + shape[0] * shape[1], dtype="float32").reshape(shape)
    cpu(s, [A, M])({A: a}, {M: numpy_pooled(a, out)}, near=1e-6)


def test_the_pool_of_twelve_numbers(cpu):
    A, _, M = pooled(3, 4, 2)
    a = np.arange(10, 22, dtype="float32").reshape(3, 4)
    cpu(te.create_schedule(M.op), [A, M])({A: a}, {M: np.array([[12.5, 14.5], [16.5, 18.5]], "float32")})


def test_reduce_axes_whose_extents_depend_on_the_element_on_cuda(cuda):
    A, S, M = pooled(7, 5, 3)
    s = te.create_schedule(M.op)
    _, inner = bound(s, M, 2, s[M].fuse(*M.op.axis))
    s[S].compute_at(s[M], inner)
    a = np.arange(10, 45, dtype="float32").reshape(7, 5)
    cuda(s, [A, M])({A: a}, {M: numpy_pooled(a, 3)}, near=1e-6)


def twice():
    """A sum read at two places, once through a stage that is inlined."""
    n = te.var("n")
    X = te.placeholder((n, n, 3), name="X")
    k = te.reduce_axis((0, 3), name="k")
    S = te.compute((n, n), lambda a, b: te.sum(X[a, b, k], axis=k), name="S")
    R = te.compute((n, n), lambda a, b: te.acos(S[a, b]), name="R")
    out = te.compute((n, n, n), lambda a, b, c: R[a, b] / S[b, c], name="out")
    return X, S, R, out


def check_twice(program, X, out, sizes):
    for n in sizes:
        x = DATA.random((n, n, 3), "float32") * np.float32(0.3) + np.float32(0.01)
        sums = x.sum(2, dtype="float32")
        program({X: x}, {out: np.arccos(sums)[:, :, None] / sums[None]}, near=1e-5)


@pytest.mark.parametrize("attach", [None, 0, 1, 2])
def test_a_sum_read_at_two_places_once_inlined(cpu, attach):
    """tvm#15197, #15202: "variable used before definition"."""
    X, S, R, out = twice()
    s = te.create_schedule(out.op)
    s[R].compute_inline()
    if attach is not None:
        s[S].compute_at(s[out], out.op.axis[attach])
    check_twice(cpu(s, [X, out]), X, out, (0, 1, 2, 5))


def test_a_sum_read_at_two_places_once_inlined_on_cuda(cuda):
    X, S, R, out = twice()
    s = te.create_schedule(out.op)
    s[R].compute_inline()
    bound(s, S, 4, s[S].fuse(*S.op.axis))
    bound(s, out, 4, s[out].fuse(*out.op.axis))
    check_twice(cuda(s, [X, out]), X, out, (0, 1, 2, 5))
