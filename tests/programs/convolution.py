"""Convolutions on the CPU: direct, by channel, in groups, with holes, transposed, packed, by Winograd's transform."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu


def windows(x, kernel, stride=1, pad=0, hole=1):
    """All windows of the last two dimensions: (..., rows, columns, kernel, kernel)."""
    edge = [(0, 0)] * (x.ndim - 2) + [(pad, pad)] * 2
    span = (kernel - 1) * hole + 1
    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, edge), (span, span), axis=(-2, -1))
    return view[..., ::stride, ::stride, ::hole, ::hole]


def padded(X, pad, name="padded"):
    """X with `pad` zeros around its last two dimensions."""
    *outer, h, w = X.shape

    def at(*index):
        *rest, y, x = index
        inside = te.all(y >= pad, y < h + pad, x >= pad, x < w + pad)
        return te.if_then_else(inside, X(*rest, y - pad, x - pad), te.const(0, X.dtype))

    return te.compute((*outer, h + 2 * pad, w + 2 * pad), at, name=name)


def reduce_axes(**extents):
    return [te.reduce_axis((0, extent), name=name) for name, extent in extents.items()]


@on_cpu((1, 3, 1), (3, 4, 4), (4, 5, 7), large=(8, 16, 14))
def conv2d(channels, filters, size):
    """3 x 3 over a padded image: the padding inlined, rows on several cores, the window unrolled."""
    X = te.placeholder((channels, size, size), name="X")
    W = te.placeholder((filters, channels, 3, 3), name="W")
    P = padded(X, 1)
    c, u, v = reduce_axes(c=channels, u=3, v=3)
    Y = te.compute(
        (filters, size, size), lambda f, i, j: te.sum(P[c, i + u, j + v] * W[f, c, u, v], axis=[c, u, v]), name="Y"
    )
    s = te.create_schedule(Y.op)
    s[P].compute_inline()
    f, i, j = Y.op.axis
    s[Y].reorder(f, i, c, u, v, j)
    s[Y].unroll(u)
    s[Y].unroll(v)
    s[Y].parallel(s[Y].fuse(f, i))
    x, w = normal(channels, size, size), normal(filters, channels, 3, 3)
    return Subject(s, [X, W, Y], [x, w], [np.einsum("cijuv,fcuv->fij", windows(x, 3, pad=1), w)], near=1e-4)


@on_cpu((1, 3, 1), (3, 6, 2), (2, 9, 2), large=(32, 28, 2))
def depthwise_conv2d(channels, size, stride):
    """Each channel by its own 3 x 3 filter, with a stride; batch norm and relu follow where a row is finished."""
    X, W = te.placeholder((channels, size, size), name="X"), te.placeholder((channels, 3, 3), name="W")
    scale, shift = te.placeholder((channels,), name="scale"), te.placeholder((channels,), name="shift")
    P = padded(X, 1)
    out = (size - 1) // stride + 1
    u, v = reduce_axes(u=3, v=3)
    D = te.compute(
        (channels, out, out),
        lambda c, i, j: te.sum(P[c, i * stride + u, j * stride + v] * W[c, u, v], axis=[u, v]),
        name="D",
    )
    Y = te.compute(D.shape, lambda c, i, j: te.max(D[c, i, j] * scale[c] + shift[c], 0.0), name="Y")
    s = te.create_schedule(Y.op)
    c, i, _ = Y.op.axis
    s[D].compute_at(s[Y], i)
    s[P].compute_at(s[Y], c)
    s[Y].parallel(c)
    x, w, a, b = normal(channels, size, size), normal(channels, 3, 3), normal(channels), normal(channels + 1)[1:].copy()
    d = np.einsum("cijuv,cuv->cij", windows(x, 3, stride, pad=1), w)
    return Subject(
        s, [X, W, scale, shift, Y], [x, w, a, b], [np.maximum(d * a[:, None, None] + b[:, None, None], 0)], near=1e-4
    )


@on_cpu((2, 2, 5), (4, 6, 6), large=(16, 32, 15))
def grouped_conv_with_holes(channels, filters, size):
    """Two groups of channels, windows whose taps are 2 apart, channels last; filters in vectors."""
    per, each = channels // 2, filters // 2
    X = te.placeholder((size, size, channels), name="X")
    W = te.placeholder((3, 3, per, filters), name="W")
    out = size - 4
    u, v, c = reduce_axes(u=3, v=3, c=per)
    Y = te.compute(
        (out, out, filters),
        lambda i, j, f: te.sum(X[i + 2 * u, j + 2 * v, te.indexdiv(f, each) * per + c] * W[u, v, c, f], axis=[u, v, c]),
        name="Y",
    )
    s = te.create_schedule(Y.op)
    i, j, f = Y.op.axis
    fo, fi = s[Y].split(f, factor=each)
    s[Y].reorder(i, j, fo, u, v, c, fi)
    s[Y].vectorize(fi)
    s[Y].parallel(i)
    x, w = normal(size, size, channels), normal(3, 3, per, filters)
    view = windows(x.transpose(2, 0, 1), 3, hole=2)
    want = [
        np.einsum("cijuv,uvcf->ijf", view[g * per : (g + 1) * per], w[..., g * each : (g + 1) * each]) for g in (0, 1)
    ]
    return Subject(s, [X, W, Y], [x, w], [np.concatenate(want, axis=2)], near=1e-4)


@on_cpu((1, 1, 1), (2, 3, 3), (3, 2, 5), large=(8, 12, 14))
def transposed_conv2d(channels, filters, size):
    """The gradient of a convolution of stride 2: zeros between the elements, then a convolution with turned filters."""
    X, W = te.placeholder((channels, size, size), name="X"), te.placeholder((channels, filters, 3, 3), name="W")
    wide = 2 * size - 1

    def spread(c, i, j):
        here = te.all(te.indexmod(i, 2).equal(0), te.indexmod(j, 2).equal(0))
        return te.if_then_else(here, X[c, te.indexdiv(i, 2), te.indexdiv(j, 2)], te.const(0, "float32"))

    D = te.compute((channels, wide, wide), spread, name="spread")
    P = padded(D, 2)
    c, u, v = reduce_axes(c=channels, u=3, v=3)
    Y = te.compute(
        (filters, wide + 2, wide + 2),
        lambda f, i, j: te.sum(P[c, i + u, j + v] * W[c, f, 2 - u, 2 - v], axis=[c, u, v]),
        name="Y",
    )
    s = te.create_schedule(Y.op)
    s[D].compute_inline()
    s[P].parallel(P.op.axis[0])
    s[Y].parallel(Y.op.axis[0])
    x, w = normal(channels, size, size), normal(channels, filters, 3, 3)
    want = np.zeros((filters, wide + 2, wide + 2), "float32")
    for i in range(size):
        for j in range(size):
            want[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += np.einsum("c,cfuv->fuv", x[:, i, j], w)
    return Subject(s, [X, W, Y], [x, w], [want], near=1e-4)


@on_cpu((4, 4, 3), (8, 4, 5), large=(16, 16, 14))
def conv2d_of_packed_channels(channels, filters, size):
    """Channels and filters in packs of 4, innermost: a pack of filters a vector, a row computed into a cache."""
    X = te.placeholder((channels // 4, size, size, 4), name="X")
    W = te.placeholder((filters // 4, channels // 4, 3, 3, 4, 4), name="W")
    out = size - 2
    co, u, v, ci = reduce_axes(co=channels // 4, u=3, v=3, ci=4)
    Y = te.compute(
        (filters // 4, out, out, 4),
        lambda fo, i, j, fi: te.sum(X[co, i + u, j + v, ci] * W[fo, co, u, v, ci, fi], axis=[co, u, v, ci]),
        name="Y",
    )
    s = te.create_schedule(Y.op)
    row = s.cache_write(Y, "global")
    fo, i, _, lanes = Y.op.axis
    s[row].compute_at(s[Y], i)
    _, _, j, fi = s[row].op.axis
    co, u, v, ci = s[row].op.reduce_axis
    s[row].reorder(co, u, v, ci, j, fi)
    s[row].vectorize(fi)
    s[row].unroll(ci)
    s[Y].vectorize(lanes)
    s[Y].parallel(fo)
    x, w = normal(channels // 4, size, size, 4), normal(filters // 4, channels // 4, 3, 3, 4, 4)
    view = windows(x.transpose(0, 3, 1, 2), 3)
    return Subject(s, [X, W, Y], [x, w], [np.einsum("acijuv,fauvcg->fijg", view, w)], near=1e-4)


@on_cpu((1, 2), (2, 6), (3, 8), large=(4, 30))
def winograd_1d(channels, size):
    """F(2, 3): two outputs of a 3-tap filter from 4 products, between transforms of data, filter and result."""
    X, W = te.placeholder((channels, size + 2), name="X"), te.placeholder((channels, 3), name="W")
    c = te.reduce_axis((0, channels), name="c")

    def data(q, p, c):
        at = [X[c, 2 * p + offset] for offset in range(4)]
        rows = [at[0] - at[2], at[1] + at[2], at[2] - at[1], at[1] - at[3]]
        return te.Select(q < 2, te.Select(q < 1, rows[0], rows[1]), te.Select(q < 3, rows[2], rows[3]))

    def taps(q, c):
        a, b, d = W[c, 0], W[c, 1], W[c, 2]
        mixed = te.Select(q < 2, a + b + d, a - b + d) * 0.5
        return te.Select(q < 1, a, te.Select(q < 3, mixed, d))

    V = te.compute((4, size // 2, channels), data, name="V")
    U = te.compute((4, channels), taps, name="U")
    M = te.compute((4, size // 2), lambda q, p: te.sum(V[q, p, c] * U[q, c], axis=c), name="M")
    Y = te.compute(
        (size,),
        lambda i: te.Select(
            te.indexmod(i, 2) < 1,
            M[0, te.indexdiv(i, 2)] + M[1, te.indexdiv(i, 2)] + M[2, te.indexdiv(i, 2)],
            M[1, te.indexdiv(i, 2)] - M[2, te.indexdiv(i, 2)] - M[3, te.indexdiv(i, 2)],
        ),
        name="Y",
    )
    s = te.create_schedule(Y.op)
    pair, rest = s[Y].split(Y.op.axis[0], factor=2)
    s[Y].unroll(rest)
    s[M].compute_at(s[Y], pair)
    s[V].compute_at(s[Y], pair)
    s[V].unroll(V.op.axis[0])
    x, w = ints(-9, 9, channels, size + 2), ints(-4, 5, channels, 3)
    want = np.einsum("cik,ck->i", np.lib.stride_tricks.sliding_window_view(x, 3, axis=1), w)
    return Subject(s, [X, W, Y], [x, w], [want], near=1e-5)
