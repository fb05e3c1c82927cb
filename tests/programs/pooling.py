"""Pooling and normalisation: windows and rows reduced, then used by every element of them."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .convolution import padded, reduce_axes, windows
from .subject import Subject, ints, normal, on_cpu, on_gpu


@on_cpu((1, 2), (2, 5), (3, 8), large=(16, 33))
def max_pool(channels, size):
    """3 x 3 maxima with stride 2; beyond the border there is nothing, which is below every number."""
    X = te.placeholder((channels, size, size), name="X")
    out = (size + 1) // 2
    u, v = reduce_axes(u=3, v=3)

    def at(c, i, j):
        y, x = 2 * i + u - 1, 2 * j + v - 1
        inside = te.all(y >= 0, y < size, x >= 0, x < size)
        return te.max(te.if_then_else(inside, X[c, y, x], te.min_value("float32")), axis=[u, v])

    Y = te.compute((channels, out, out), at, name="Y")
    s = te.create_schedule(Y.op)
    s[Y].unroll(u)
    s[Y].unroll(v)
    s[Y].parallel(Y.op.axis[0])
    x = ints(-50, 50, channels, size, size)
    edge = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    return Subject(s, [X, Y], [x], [windows(edge, 3, 2)[:, :out, :out].max((-2, -1))], near=0)


@on_cpu((1, 3), (2, 5), (3, 8), large=(16, 30))
def average_pool(channels, size):
    """3 x 3 means over the elements that are there: the divisor is counted at each place."""
    X = te.placeholder((channels, size, size), name="X")
    P = padded(X, 1)
    u, v = reduce_axes(u=3, v=3)
    S = te.compute((channels, size, size), lambda c, i, j: te.sum(P[c, i + u, j + v], axis=[u, v]), name="S")

    def within(i):
        return te.min(i + 2, size) - te.max(i - 1, 0)

    Y = te.compute(S.shape, lambda c, i, j: S[c, i, j] / (within(i) * within(j)).astype("float32"), name="Y")
    s = te.create_schedule(Y.op)
    s[P].compute_inline()
    s[S].compute_at(s[Y], Y.op.axis[1])
    s[Y].parallel(Y.op.axis[0])
    x = normal(channels, size, size)
    count = windows(np.ones((1, size, size), "float32"), 3, pad=1).sum((-2, -1))
    return Subject(s, [X, Y], [x], [windows(x, 3, pad=1).sum((-2, -1)) / count])


@on_cpu((0, 3), (1, 1), (5, 7), (4, 16), large=(100, 131))
def softmax(rows, columns):
    """Maximum, exponentials and their sum of a row, all computed in the iteration of the row."""
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    k, l = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="l")
    top = te.compute((m,), lambda i: te.max(X[i, k], axis=k), name="top")
    power = te.compute((m, n), lambda i, j: te.exp(X[i, j] - top[i]), name="power")
    total = te.compute((m,), lambda i: te.sum(power[i, l], axis=l), name="total")
    Y = te.compute((m, n), lambda i, j: power[i, j] / total[i], name="Y")
    s = te.create_schedule(Y.op)
    row, column = Y.op.axis
    s[Y].parallel(row)
    s[Y].vectorize(s[Y].split(column, factor=8)[1])
    for T in (total, power, top):
        s[T].compute_at(s[Y], row)
    x = normal(rows, columns, scale=5)
    return Subject(s, [X, Y], [x], [_softmax(x)])


def _softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(1, keepdims=True)


@on_cpu((1, 1, 1), (2, 3, 5), (3, 4, 4), large=(4, 16, 28))
def batch_norm(batch, channels, size):
    """Mean and variance of each channel over the batch, then scale and shift: two passes, all but them inlined."""
    X = te.placeholder((batch, channels, size), name="X")
    gamma, beta = te.placeholder((channels,), name="gamma"), te.placeholder((channels,), name="beta")
    count = batch * size
    n, w, n2, w2 = reduce_axes(n=batch, w=size, n2=batch, w2=size)
    S = te.compute((channels,), lambda c: te.sum(X[n, c, w], axis=[n, w]), name="S")
    D = te.compute((batch, channels, size), lambda b, c, i: X[b, c, i] - S[c] / count, name="D")
    Q = te.compute((channels,), lambda c: te.sum(D[n2, c, w2] * D[n2, c, w2], axis=[n2, w2]), name="Q")
    scale = te.compute((channels,), lambda c: gamma[c] * te.rsqrt(Q[c] / count + 1e-5), name="scale")
    Y = te.compute(X.shape, lambda b, c, i: D[b, c, i] * scale[c] + beta[c], name="Y")
    s = te.create_schedule(Y.op)
    s[D].compute_inline()
    s[scale].compute_inline()
    b, c, i = Y.op.axis
    s[Y].reorder(c, b, i)
    s[Q].compute_at(s[Y], c)
    s[Y].parallel(c)
    x, g, h = normal(batch, channels, size), normal(channels), normal(channels + 1)[1:].copy()
    centred = x - x.mean((0, 2), keepdims=True)
    spread = np.sqrt((centred**2).mean((0, 2), keepdims=True) + 1e-5)
    return Subject(s, [X, gamma, beta, Y], [x, g, h], [centred / spread * g[:, None] + h[:, None]], near=1e-4)


@on_gpu((1, 1), (3, 15), (3, 16), (3, 33), large=(200, 1000))
def softmax_of_blocks(rows, columns):
    """A block a row, its threads reduce it twice; the exponentials stay in shared memory."""
    X = te.placeholder((rows, columns), name="X")
    k, l = te.reduce_axis((0, columns), name="k"), te.reduce_axis((0, columns), name="l")
    top = te.compute((rows,), lambda i: te.max(X[i, k], axis=k), name="top")
    power = te.compute((rows, columns), lambda i, j: te.exp(X[i, j] - top[i]), name="power")
    total = te.compute((rows,), lambda i: te.sum(power[i, l], axis=l), name="total")
    Y = te.compute((rows, columns), lambda i, j: power[i, j] / total[i], name="Y")
    s = te.create_schedule(Y.op)
    thread = te.thread_axis((0, 16), "threadIdx.x")
    row, column = Y.op.axis
    s[Y].bind(row, te.thread_axis("blockIdx.x"))
    s[Y].bind(s[Y].split(column, factor=16)[1], thread)
    for T in (total, power, top):
        s[T].compute_at(s[Y], row)
    s[power].set_scope("shared")
    s[power].bind(s[power].split(power.op.axis[1], factor=16)[1], thread)
    for T in (total, top):
        s[T].set_scope("shared")
        s[T].bind(s[T].split(s[T].op.reduce_axis[0], factor=16)[1], thread)
    x = normal(rows, columns, scale=5)
    return Subject(s, [X, Y], [x], [_softmax(x)])


@on_gpu((1, 1), (3, 31), (5, 32), (3, 40), large=(77, 768))
def layer_norm_of_warps(rows, columns):
    """A warp a row, four rows a block: mean and variance together by a tuple reduction across the warp."""
    X, g = te.placeholder((rows, columns), name="X"), te.placeholder((columns,), name="g")
    pair = te.comm_reducer(
        lambda x, y: (x[0] + y[0], x[1] + y[1]), lambda t0, t1: (te.const(0, t0), te.const(0, t1)), name="pair"
    )
    k = te.reduce_axis((0, columns), name="k")
    S, Q = te.compute((rows,), lambda i: pair((X[i, k], X[i, k] * X[i, k]), axis=k), name="moments")

    def normed(i, j):
        mean = S[i] / columns
        return (X[i, j] - mean) * te.rsqrt(Q[i] / columns - mean * mean + 1e-3) * g[j]

    Y = te.compute((rows, columns), normed, name="Y")
    s = te.create_schedule(Y.op)
    lane = te.thread_axis((0, 32), "threadIdx.x")
    block, row = s[Y].split(Y.op.axis[0], factor=4)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(row, te.thread_axis("threadIdx.y"))
    s[Y].bind(s[Y].split(Y.op.axis[1], factor=32)[1], lane)
    s[S].compute_at(s[Y], row)
    s[S].bind(s[S].split(k, factor=32)[1], lane)
    x, scale = normal(rows, columns), normal(columns)
    mean, var = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return Subject(s, [X, g, Y], [x, scale], [(x - mean) / np.sqrt(var + 1e-3) * scale], near=1e-3)
