"""Convolutions on a GPU: direct in shared memory and registers, by channel, on tensor cores."""

from __future__ import annotations

import numpy as np

from tecomp import te
from tests.tensor_cores import convolution

from .convolution import padded, reduce_axes, windows
from .subject import Subject, ints, on_gpu


@on_gpu((1, 4, 4, 4), (2, 4, 8, 4), large=(14, 64, 64, 32))
def conv2d_direct(size, channels, filters, batch):
    """Rows, columns, channels, batch: both operands in shared memory by parts of the channels, fetched by all threads
    together; each thread a piece of filters x batch in registers, which virtual threads double."""
    X, W = te.placeholder((size, size, channels, batch), name="X"), te.placeholder((3, 3, channels, filters), name="W")
    P = te.compute(
        (size + 2, size + 2, channels, batch),
        lambda y, x, c, n: te.if_then_else(
            te.all(y >= 1, y - 1 < size, x >= 1, x - 1 < size), X[y - 1, x - 1, c, n], te.const(0.0, "float32")
        ),
        name="P",
    )
    c, u, v = reduce_axes(c=channels, u=3, v=3)
    Y = te.compute(
        (size, size, filters, batch),
        lambda y, x, f, n: te.sum(P[y + u, x + v, c, n] * W[u, v, c, f], axis=[u, v, c]),
        name="Y",
    )
    tile, threads, lanes, step = (4, 2, 1, 2) if filters < 32 else (32, 4, 2, 8)
    s = te.create_schedule(Y.op)
    s[P].compute_inline()
    image, taps = s.cache_read(P, "shared", [Y]), s.cache_read(W, "shared", [Y])
    own_image, own_taps = s.cache_read(image, "local", [Y]), s.cache_read(taps, "local", [Y])
    total = s.cache_write(Y, "local")
    ty, tx = te.thread_axis((0, threads), "threadIdx.y"), te.thread_axis((0, threads), "threadIdx.x")
    y, x, f, n = Y.op.axis
    place = s[Y].fuse(y, x)
    s[Y].bind(place, te.thread_axis("blockIdx.z"))
    loops = []
    for axis, thread, dim in ((f, ty, "y"), (n, tx, "x")):
        block, rest = s[Y].split(axis, factor=tile)
        lane, rest = s[Y].split(rest, nparts=lanes)
        own, rest = s[Y].split(rest, nparts=threads)
        s[Y].bind(block, te.thread_axis(f"blockIdx.{dim}"))
        s[Y].bind(lane, te.thread_axis((0, lanes), "vthread", name=f"v{dim}"))
        s[Y].bind(own, thread)
        loops.append((block, lane, own, rest))
    order = [loop for pair in zip(*loops, strict=True) for loop in pair]
    s[Y].reorder(place, *order)
    s[total].compute_at(s[Y], order[5])
    *_, own_f, own_n = s[total].op.axis
    u, v, c = s[total].op.reduce_axis
    co, ci = s[total].split(c, factor=step)
    s[total].reorder(co, u, v, ci, own_f, own_n)
    for T in (own_image, own_taps):
        s[T].compute_at(s[total], ci)
    for T in (image, taps):
        s[T].compute_at(s[total], v)
        rest = s[T].fuse(*s[T].op.axis[2:])
        _, thread = s[T].split(rest, factor=threads * threads)
        outer, inner = s[T].split(thread, factor=threads)
        s[T].bind(outer, ty)
        s[T].bind(inner, tx)
    a, w = ints(-4, 5, size, size, channels, batch), ints(-3, 4, 3, 3, channels, filters)
    view = windows(a.transpose(2, 3, 0, 1), 3, pad=1)
    return Subject(s, [X, W, Y], [a, w], [np.einsum("cnyxuv,uvcf->yxfn", view, w, optimize=True)], near=0)


@on_gpu((1, 3), (2, 5), (3, 8), large=(32, 56))
def depthwise_conv2d_of_blocks(channels, size):
    """A channel a block of z, tiles of 4 x 4: the tile with its border in shared memory, the filter in registers."""
    X, W = te.placeholder((channels, size, size), name="X"), te.placeholder((channels, 3, 3), name="W")
    P = padded(X, 1)
    u, v = reduce_axes(u=3, v=3)
    D = te.compute(
        (channels, size, size), lambda c, i, j: te.sum(P[c, i + u, j + v] * W[c, u, v], axis=[u, v]), name="D"
    )
    Y = te.compute(D.shape, lambda c, i, j: te.max(D[c, i, j], 0.0), name="Y")
    s = te.create_schedule(Y.op)
    tile, taps = s.cache_read(P, "shared", [D]), s.cache_read(W, "local", [D])
    s[P].compute_inline()
    ty, tx = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
    c, i, j = Y.op.axis
    io, jo, ii, ji = s[Y].tile(i, j, 4, 4)
    for axis, thread in (
        (c, te.thread_axis("blockIdx.z")),
        (io, te.thread_axis("blockIdx.y")),
        (jo, te.thread_axis("blockIdx.x")),
        (ii, ty),
        (ji, tx),
    ):
        s[Y].bind(axis, thread)
    s[D].compute_at(s[Y], ji)
    s[D].unroll(u)
    s[D].unroll(v)
    s[taps].compute_at(s[Y], ji)
    s[tile].compute_at(s[Y], jo)
    for axis, thread in zip(s[tile].op.axis[1:], (ty, tx), strict=True):
        s[tile].bind(s[tile].split(axis, factor=4)[1], thread)
    x, w = ints(-9, 9, channels, size, size), ints(-4, 5, channels, 3, 3)
    want = np.maximum(np.einsum("cijuv,cuv->cij", windows(x, 3, pad=1), w), 0)
    return Subject(s, [X, W, Y], [x, w], [want], near=0)


@on_gpu((16, 2, 16, 32), large=(32, 14, 64, 64))
def conv2d_of_tensor_cores(batch, size, channels, filters):
    """float16 images and filters in blocks of 16: each pixel of 16 images is a matrix product of fragments."""
    s, args = convolution(batch, size, channels, filters)
    n, c, f = batch // 16, channels // 16, filters // 16
    x = ints(-3, 4, n, size, size, c, 16, 16, dtype="float16")
    w = ints(-2, 3, 3, 3, c, f, 16, 16, dtype="float16")
    wide = np.pad(x.astype("float32"), ((0, 0), (1, 1), (1, 1), *[(0, 0)] * 3))
    view = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(1, 2))
    return Subject(
        s, args, [x, w], [np.einsum("nijcbkuv,uvcfko->nijfbo", view, w.astype("float32"), optimize=True)], near=0
    )
