"""Elementwise programs: loops divided, joined, unrolled, in vectors, on several cores."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu


@on_cpu(0, 1, 63, 64, 65, 131, large=32771)
def vector_add(size):
    """C = A + B of any length: chunks of 64 on several cores, in vectors of 8."""
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    chunk, rest = s[C].split(C.op.axis[0], factor=64)
    s[C].parallel(chunk)
    s[C].vectorize(s[C].split(rest, factor=8)[1])
    a, b = normal(2, size)
    return Subject(s, [A, B, C], [a, b], [a + b], near=0)


@on_cpu((1, 1), (9, 5), (10, 6), (11, 7), large=(103, 77))
def affine_in_tiles(rows, columns):
    """B = 2 A + 1 in tiles of 10 x 5 that fit nothing, walked as 7 parts, one row of a tile unrolled."""
    A = te.placeholder((rows, columns), name="A")
    B = te.compute(A.shape, lambda i, j: A[i, j] * 2 + 1, name="B")
    s = te.create_schedule(B.op)
    io, jo, ii, ji = s[B].tile(*B.op.axis, x_factor=10, y_factor=5)
    s[B].reorder(jo, io, ji, ii)
    tiles = s[B].fuse(jo, io)
    s[B].split(tiles, nparts=7)
    s[B].unroll(ii)
    a = normal(rows, columns)
    return Subject(s, [A, B], [a], [a * 2 + 1], near=1e-6)


@on_cpu((0, 3), (1, 1), (7, 9), (13, 8), large=(57, 131))
def bias_of_columns(rows, columns):
    """C[i, j] = A[i, j] * w[j] + b[i]: tensors of other ranks, all loops one loop of vectors."""
    m, n = te.size_var("m"), te.size_var("n")
    A = te.placeholder((m, n), name="A")
    w, b = te.placeholder((n,), name="w"), te.placeholder((m,), name="b")
    C = te.compute((m, n), lambda i, j: A[i, j] * w[j] + b[i], name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(s[C].fuse(*C.op.axis), factor=8)
    s[C].parallel(outer)
    s[C].vectorize(inner)
    data, scale, shift = normal(rows, columns), normal(columns), normal(rows)
    return Subject(s, [A, w, b, C], [data, scale, shift], [data * scale + shift[:, None]])


@on_cpu(0, 1, 7, 8, 9, large=1009)
def activations(size):
    """A chain of functions (tanh, sigmoid, exp, log, sqrt, erf), inlined but for one stage kept for each chunk."""
    n = te.var("n")
    X = te.placeholder((n,), name="X")
    positive = te.compute((n,), lambda i: te.exp(te.tanh(X[i])) + te.sigmoid(X[i]), name="positive")
    root = te.compute((n,), lambda i: te.sqrt(positive[i]), name="root")
    folded = te.compute((n,), lambda i: te.log(root[i]) + te.erf(X[i]), name="folded")
    Y = te.compute((n,), lambda i: te.max(folded[i], 0.0) * te.power(root[i], 3.0), name="Y")
    s = te.create_schedule(Y.op)
    s[positive].compute_inline()
    s[folded].compute_inline()
    outer, inner = s[Y].split(Y.op.axis[0], factor=8)
    s[Y].vectorize(inner)
    s[root].compute_at(s[Y], outer)
    s[root].vectorize(root.op.axis[0])
    x = normal(size)
    p = np.sqrt(np.exp(np.tanh(x)) + 1 / (1 + np.exp(-x)))
    return Subject(s, [X, Y], [x], [np.maximum(np.log(p) + _erf(x), 0) * p**3])


def _erf(x: np.ndarray) -> np.ndarray:
    """Return the error function by its series, in float64."""
    wide, term = x.astype("float64"), x.astype("float64")
    total = term.copy()
    for k in range(1, 80):
        term = -term * wide * wide / k
        total += term / (2 * k + 1)
    return (total * 2 / np.sqrt(np.pi)).astype(x.dtype)


@on_cpu(1, 7, 8, 9, large=4099)
def quantize_and_back(size):
    """float to int8 by rounding and clipping, and back: casts between stages of several types."""
    n = te.var("n")
    X, step = te.placeholder((n,), name="X"), te.var("step", "float32")
    Q = te.compute((n,), lambda i: te.max(te.min(te.nearbyint(X[i] / step), 127.0), -128.0).astype("int8"), name="Q")
    Y = te.compute((n,), lambda i: Q[i].astype("float32") * step, name="Y")
    s = te.create_schedule([Q.op, Y.op])
    for T in (Q, Y):
        s[T].vectorize(s[T].split(T.op.axis[0], factor=8)[1])
    x = ints(-900, 900, size) / np.float32(4)
    q = np.clip(np.round(x / np.float32(1.5)), -128, 127).astype("int8")
    return Subject(s, [step, X, Q, Y], [1.5, x], [q, q.astype("float32") * np.float32(1.5)], near=1e-6)


@on_cpu(0, 1, 31, 32, 33, large=1024)
def sum_and_difference(size):
    """Two results of one stage, written through caches that are filled for each chunk of 32."""
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    S, D = te.compute((n,), lambda i: (A[i] + B[i], A[i] - B[i]), name="T")
    s = te.create_schedule(S.op)
    kept, _ = s.cache_write([S, D], "local")
    outer, inner = s[S].split(S.op.axis[0], factor=32)
    s[kept].compute_at(s[S], outer)
    s[kept].vectorize(s[kept].split(kept.op.axis[0], factor=4)[1])
    s[S].unroll(s[S].split(inner, factor=2)[1])
    a, b = normal(2, size)
    return Subject(s, [A, B, S, D], [a, b], [a + b, a - b], near=0)


@on_cpu(1, 15, 16, 17, large=128)
def persistent_threads(size):
    """Three stages one after another, each on all cores: the threads wait for each other in between."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    C = te.compute((n,), lambda i: te.sqrt(B[n - 1 - i]) * 2 + 2, name="C")
    D = te.compute((n,), lambda i: C[n - 1 - i] * B[i], name="D")
    s = te.create_schedule(D.op)
    for T in (B, C, D):
        s[T].parallel(s[T].split(T.op.axis[0], factor=16)[0])
    a = np.abs(normal(size))
    return Subject(s, [A, D], [a], [(np.sqrt(a + 1) * 2 + 2) * (a + 1)])
