"""Images: resized by neighbours and bilinearly, cut out, rotated by an affine grid."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, on_cpu, on_gpu


def numpy_bilinear(x, y, z):
    """Values of x (..., rows, columns) between its pixels, at rows y and columns z; the border is repeated."""
    low_y, low_z = np.floor(y).astype(int), np.floor(z).astype(int)
    dy, dz = (y - low_y).astype("float32"), (z - low_z).astype("float32")

    def at(i, j):
        return x[..., np.clip(i, 0, x.shape[-2] - 1), np.clip(j, 0, x.shape[-1] - 1)]

    above = at(low_y, low_z) * (1 - dz) + at(low_y, low_z + 1) * dz
    below = at(low_y + 1, low_z) * (1 - dz) + at(low_y + 1, low_z + 1) * dz
    return above * (1 - dy) + below * dy


def bilinear(X, y, z):
    """The same as an expression; X(i, j) gives a pixel."""
    rows, columns = X.shape[-2:]
    low_y, low_z = te.floor(y), te.floor(z)

    def at(i, j):
        i, j = low_y.astype("int32") + i, low_z.astype("int32") + j
        return lambda pick: pick(te.max(te.min(i, rows - 1), 0), te.max(te.min(j, columns - 1), 0))

    def mixed(pick):
        dy, dz = y - low_y, z - low_z
        above = at(0, 0)(pick) * (1.0 - dz) + at(0, 1)(pick) * dz
        below = at(1, 0)(pick) * (1.0 - dz) + at(1, 1)(pick) * dz
        return above * (1.0 - dy) + below * dy

    return mixed


def resized(channels, size, target):
    X = te.placeholder((channels, size, size), name="X")
    ratio = size / target

    def at(c, i, j):
        y = (i.astype("float32") + 0.5) * ratio - 0.5
        z = (j.astype("float32") + 0.5) * ratio - 0.5
        return bilinear(X, y, z)(lambda p, q: X[c, p, q])

    return X, te.compute((channels, target, target), at, name="Y")


def resized_by_numpy(x, target):
    place = (np.arange(target, dtype="float32") + np.float32(0.5)) * np.float32(x.shape[-1] / target) - np.float32(0.5)
    return numpy_bilinear(x, place[:, None], place[None])


@on_cpu((1, 1, 4), (2, 4, 7), (2, 5, 3), large=(8, 20, 33))
def bilinear_resize(channels, size, target):
    """Half-pixel centres; the four neighbours of each pixel, one row on each core."""
    X, Y = resized(channels, size, target)
    s = te.create_schedule(Y.op)
    s[Y].parallel(s[Y].fuse(*Y.op.axis[:2]))
    x = ints(0, 255, channels, size, size)
    return Subject(s, [X, Y], [x], [resized_by_numpy(x, target)], near=1e-3)


@on_gpu((1, 1, 4), (2, 4, 7), large=(8, 20, 133))
def bilinear_resize_of_threads(channels, size, target):
    """The same, a pixel a thread."""
    X, Y = resized(channels, size, target)
    s = te.create_schedule(Y.op)
    outer, inner = s[Y].split(s[Y].fuse(*Y.op.axis), factor=32)
    s[Y].bind(outer, te.thread_axis("blockIdx.x"))
    s[Y].bind(inner, te.thread_axis("threadIdx.x"))
    x = ints(0, 255, channels, size, size)
    return Subject(s, [X, Y], [x], [resized_by_numpy(x, target)], near=1e-3)


@on_cpu((1, 1, 1), (2, 3, 2), (3, 4, 3), large=(8, 15, 4))
def nearest_upsampling(channels, size, times):
    """Each pixel a block of pixels; channels last, which are the vectors."""
    X = te.placeholder((size, size, channels), "uint8", name="X")
    Y = te.compute((size * times, size * times, channels), lambda i, j, c: X[i // times, j // times, c], name="Y")
    s = te.create_schedule(Y.op)
    i, j, c = Y.op.axis
    io, ii = s[Y].split(i, factor=times)
    jo, ji = s[Y].split(j, factor=times)
    s[Y].reorder(io, jo, ii, ji, c)
    s[Y].vectorize(c)
    s[Y].unroll(ji)
    x = ints(0, 256, size, size, channels, dtype="uint8")
    return Subject(s, [X, Y], [x], [x.repeat(times, 0).repeat(times, 1)], near=0)


@on_cpu((1, 2), (3, 5), large=(20, 12))
def crops_of_boxes(count, size):
    """2 x 2 pixels out of each box that data gives, scaled between its corners."""
    X, B = te.placeholder((size, size), name="X"), te.placeholder((count, 4), name="boxes")

    def at(b, i, j):
        y = B[b, 0] + i.astype("float32") * (B[b, 2] - B[b, 0])
        z = B[b, 1] + j.astype("float32") * (B[b, 3] - B[b, 1])
        return bilinear(X, y, z)(lambda p, q: X[p, q])

    Y = te.compute((count, 2, 2), at, name="Y")
    s = te.create_schedule(Y.op)
    s[Y].unroll(Y.op.axis[1])
    s[Y].unroll(Y.op.axis[2])
    x = ints(0, 255, size, size)
    boxes = ints(0, 4 * (size - 1) + 1, count, 4) / np.float32(4)
    y, z = boxes[:, 0::2], boxes[:, 1::2]
    return Subject(s, [X, B, Y], [x, boxes], [numpy_bilinear(x, y[:, :, None], z[:, None])], near=1e-3)
