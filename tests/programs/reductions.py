"""Reductions: their loops divided and reordered, partial results, several values at once, rows of different lengths."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu


@on_cpu((0, 5), (1, 1), (5, 0), (7, 15), (8, 16), (9, 17), large=(1027, 129))
def row_sums(rows, columns):
    """B[i] = sum of A[i, k]: the loop over parts of k outside that over rows, so that init stands between."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    io, ii = s[B].split(B.op.axis[0], factor=8)
    ko, ki = s[B].split(k, factor=16)
    s[B].reorder(io, ko, ii, ki)
    a = normal(rows, columns)
    return Subject(s, [A, B], [a], [a.sum(1)], near=1e-4)


@on_cpu(0, 1, 4, 5, 12)
def dot_of_rank_0(size):
    """A dot product: a result without dimensions, the loop of nothing, more parts than elements."""
    A, B = te.placeholder((size,), name="A"), te.placeholder((size,), name="B")
    k = te.reduce_axis((0, size), name="k")
    C = te.compute((), lambda: te.sum(A[k] * B[k], axis=k), name="C")
    D = te.compute((), lambda: C() * 2 + 1, name="D")
    s = te.create_schedule(D.op)
    s[C].split(k, nparts=5)
    once = s[D].fuse()
    s[C].compute_at(s[D], once)
    a, b = normal(2, size)
    return Subject(s, [A, B, D], [a, b], [np.array(a @ b * 2 + 1, "float32")])


@on_cpu((1, 1), (15, 3), (16, 4), (17, 5), large=(1000, 64))
def products_of_columns(rows, columns):
    """A reducer of one's own (product, where a condition holds), over the rows of each column, 16 at a time."""
    product = te.comm_reducer(lambda x, y: x * y, lambda dtype: te.const(1, dtype), name="product")
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, rows), name="k")
    B = te.compute((columns,), lambda j: product(A[k, j], axis=k, where=A[k, j] > 0.5), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(k, factor=16)
    s[B].reorder(ko, ki, B.op.axis[0])
    s[B].unroll(ki)
    a = (1 + normal(rows, columns, scale=0.03)) * np.where(
        ints(0, 2, rows, columns) > 0, np.float32(1), np.float32(0.25)
    )
    return Subject(s, [A, B], [a], [np.where(a > 0.5, a, 1).prod(0)], near=1e-3)


@on_cpu((1, 1), (2, 7), (3, 8), (4, 9), large=(50, 501))
def mean_and_variance(rows, columns):
    """Sum and sum of squares in one pass by a reducer of pairs, as 8 partial pairs a row."""

    def add(x, y):
        return x[0] + y[0], x[1] + y[1]

    def nothing(t0, t1):
        return te.const(0, t0), te.const(0, t1)

    both = te.comm_reducer(add, nothing, name="both")
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    S, Q = te.compute((rows,), lambda i: both((X[i, k], X[i, k] * X[i, k]), axis=k), name="moments")
    mean = te.compute((rows,), lambda i: S[i] / columns, name="mean")
    var = te.compute((rows,), lambda i: Q[i] / columns - mean[i] * mean[i], name="var")
    s = te.create_schedule([mean.op, var.op])
    SF, _ = s.rfactor(S, s[S].split(k, factor=8)[1])
    s[SF].compute_at(s[S], s[S].op.axis[0])
    x = normal(rows, columns)
    return Subject(s, [X, mean, var], [x], [x.mean(1), x.var(1)], near=1e-4)


@on_cpu((1, 1), (3, 7), (3, 8), (3, 9), large=(40, 777))
def log_sum_exp(rows, columns):
    """Maximum and sum of exponentials together: a reducer that rescales the sum of the side with the lesser maximum."""

    def join(x, y):
        top = te.max(x[0], y[0])
        return top, x[1] * te.exp(x[0] - top) + y[1] * te.exp(y[0] - top)

    online = te.comm_reducer(join, lambda t0, t1: (te.const(-1e30, t0), te.const(0, t1)), name="online")
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    top, total = te.compute((rows,), lambda i: online((X[i, k], te.const(1, "float32")), axis=k), name="online")
    Y = te.compute((rows,), lambda i: te.log(total[i]) + top[i], name="Y")
    s = te.create_schedule(Y.op)
    partial, _ = s.rfactor(top, s[top].split(k, factor=8)[1], factor_axis=1)
    s[partial].compute_at(s[top], s[top].op.axis[0])
    s[top].compute_at(s[Y], Y.op.axis[0])
    x = normal(rows, columns, scale=20)
    wide = x.astype("float64")
    most = wide.max(1, keepdims=True)
    return Subject(s, [X, Y], [x], [(np.log(np.exp(wide - most).sum(1)) + most[:, 0]).astype("float32")])


@on_cpu((1, 1), (4, 7), (5, 8), (6, 9), large=(64, 300))
def lengths_from_data(rows, columns):
    """Sums of the first L[i] numbers of row i: how far k goes is read from an array."""
    A, L = te.placeholder((rows, columns), name="A"), te.placeholder((rows,), "int32", name="L")

    def first(i):
        k = te.reduce_axis((0, L[i]), name="k")
        return te.sum(A[i, k], axis=k)

    B = te.compute((rows,), first, name="B")
    s = te.create_schedule(B.op)
    s[B].parallel(B.op.axis[0])
    s[B].split(B.op.reduce_axis[0], factor=8)
    a, lengths = ints(-9, 9, rows, columns), ints(0, columns + 1, rows, dtype="int32")
    want = np.array([row[:length].sum() for row, length in zip(a, lengths, strict=True)], "float32")
    return Subject(s, [A, L, B], [a, lengths], [want], near=0)


@on_cpu((1, 1), (3, 7), (3, 8), (3, 9), large=(16, 997))
def partial_sums_of_partial_sums(rows, columns):
    """rfactor twice: 4 x 8 partial sums in vectors of 8, then their sums."""
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), name="k")
    B = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, ki = s[B].split(k, factor=8)
    lanes = s.rfactor(B, ki, factor_axis=1)
    quarters = s.rfactor(lanes, s[lanes].split(s[lanes].op.reduce_axis[0], nparts=4)[0])
    s[lanes].compute_at(s[B], s[B].op.axis[0])
    s[lanes].vectorize(s[lanes].op.axis[1])
    s[quarters].compute_at(s[lanes], s[lanes].op.axis[0])
    s[quarters].vectorize(s[quarters].op.axis[2])
    a = normal(rows, columns)
    return Subject(s, [A, B], [a], [a.sum(1)], near=1e-4)


@on_cpu((1, 1, 1), (3, 2, 5), (4, 8, 3), large=(17, 33, 29))
def sum_over_two_axes(a, b, c):
    """Sums over the first and the last dimension, both reduce loops one loop that is divided again."""
    X = te.placeholder((a, b, c), name="X")
    k, l = te.reduce_axis((0, a), name="k"), te.reduce_axis((0, c), name="l")
    Y = te.compute((b,), lambda j: te.sum(X[k, j, l], axis=[k, l]), name="Y")
    s = te.create_schedule(Y.op)
    s[Y].split(s[Y].fuse(k, l), factor=7)
    s[Y].parallel(Y.op.axis[0])
    x = normal(a, b, c)
    return Subject(s, [X, Y], [x], [x.sum((0, 2))], near=1e-4)
