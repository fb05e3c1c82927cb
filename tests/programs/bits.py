"""Bit-serial programs: numbers packed bit by bit into words, products as population counts."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, on_cpu, on_gpu


def packed_bits(X, bits, name):
    """Bit b of 32 numbers a word: P[b, ..., w] of X[..., 32 w + i]."""
    *outer, length = X.shape

    def word(b, *index):
        *rest, w = index
        return sum(
            (((X(*rest, w * 32 + i) >> b) & 1).astype("uint32") << i for i in range(1, 32)),
            ((X(*rest, w * 32) >> b) & 1).astype("uint32"),
        )

    return te.compute((bits, *outer, length // 32), word, name=name)


def numpy_bits(x, bits):
    """The same with NumPy."""
    planes = (x[None] >> np.arange(bits).reshape(-1, *[1] * x.ndim)) & 1
    words = planes.reshape(*planes.shape[:-1], -1, 32).astype("uint32")
    return (words << np.arange(32, dtype="uint32")).sum(-1, dtype="uint32")


def serial_product(A, B, m, n, words, bits_a, bits_b):
    """sum over bits and words of popcount(A & B) shifted to where the bits stand."""
    k, p, q = (te.reduce_axis((0, extent), name=name) for name, extent in (("k", words), ("p", bits_a), ("q", bits_b)))
    return te.compute(
        (m, n),
        lambda i, j: te.sum(te.popcount(A[p, i, k] & B[q, j, k]).astype("int32") << (p + q), axis=[k, p, q]),
        name="Y",
    )


@on_cpu((1, 32), (3, 64), large=(20, 320))
def bit_packing(rows, length):
    """The 3 bits of small numbers into words, a plane of words for each bit."""
    X = te.placeholder((rows, length), "int32", name="X")
    P = packed_bits(X, 3, "P")
    s = te.create_schedule(P.op)
    s[P].parallel(P.op.axis[0])
    x = ints(0, 8, rows, length, dtype="int32")
    return Subject(s, [X, P], [x], [numpy_bits(x, 3)], near=0)


@on_cpu((1, 1, 32), (3, 5, 64), large=(16, 24, 256))
def bitserial_dense(m, n, length):
    """2-bit activations by 1-bit weights: packed, then summed up bit by bit; packing happens for each row."""
    X, W = te.placeholder((m, length), "int32", name="X"), te.placeholder((n, length), "int32", name="W")
    A, B = packed_bits(X, 2, "A"), packed_bits(W, 1, "B")
    Y = serial_product(A, B, m, n, length // 32, 2, 1)
    s = te.create_schedule(Y.op)
    i, j = Y.op.axis
    jo, ji = s[Y].split(j, factor=4)
    k, p, q = Y.op.reduce_axis
    s[Y].reorder(i, jo, k, p, q, ji)
    s[Y].unroll(p)
    s[A].compute_at(s[Y], i)
    s[Y].parallel(i)
    x, w = ints(0, 4, m, length, dtype="int32"), ints(0, 2, n, length, dtype="int32")
    return Subject(s, [X, W, Y], [x, w], [x @ w.T], near=0)


@on_cpu((32, 1, 3), (32, 3, 4), large=(64, 8, 9))
def bitserial_conv2d(channels, filters, size):
    """A 3 x 3 convolution of 2-bit images with filters of -1 and 1, each a bit: twice the count less the sum."""
    words, out = channels // 32, size - 2
    X = te.placeholder((2, size, size, words), "uint32", name="X")
    W = te.placeholder((filters, 3, 3, words), "uint32", name="W")
    p, u, v, k = (
        te.reduce_axis((0, extent), name=name) for name, extent in (("p", 2), ("u", 3), ("v", 3), ("k", words))
    )

    def counted(f, i, j):
        image, taps = X[p, i + u, j + v, k], W[f, u, v, k]
        difference = te.popcount(image & taps).astype("int32") - te.popcount(image & ~taps).astype("int32")
        return te.sum(difference << p, axis=[p, u, v, k])

    Y = te.compute((filters, out, out), counted, name="Y")
    s = te.create_schedule(Y.op)
    f, i, j = Y.op.axis
    s[Y].reorder(i, f, u, v, k, p, j)
    s[Y].unroll(p)
    x = ints(0, 4, size, size, channels, dtype="int32")
    w = ints(0, 2, filters, 3, 3, channels, dtype="int32")
    view = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(0, 1))
    return Subject(
        s,
        [X, W, Y],
        [numpy_bits(x, 2), numpy_bits(w, 1)[0]],
        [np.einsum("ijcuv,fuvc->fij", view, 2 * w - 1).astype("int32")],
        near=0,
    )


@on_gpu((1, 1, 64), (5, 7, 64), large=(100, 120, 512))
def bitserial_dense_of_threads(m, n, length):
    """The same product on a GPU: packed by one kernel each, 4 x 4 threads a block."""
    X, W = te.placeholder((m, length), "int32", name="X"), te.placeholder((n, length), "int32", name="W")
    A, B = packed_bits(X, 2, "A"), packed_bits(W, 2, "B")
    Y = serial_product(A, B, m, n, length // 32, 2, 2)
    s = te.create_schedule(Y.op)
    io, jo, ii, ji = s[Y].tile(*Y.op.axis, 4, 4)
    for axis, tag in ((io, "blockIdx.y"), (jo, "blockIdx.x"), (ii, "threadIdx.y"), (ji, "threadIdx.x")):
        s[Y].bind(axis, te.thread_axis(tag))
    for T in (A, B):
        block, thread = s[T].split(s[T].fuse(*T.op.axis), factor=8)
        s[T].bind(block, te.thread_axis("blockIdx.x"))
        s[T].bind(thread, te.thread_axis("threadIdx.x"))
    x, w = ints(0, 4, m, length, dtype="int32"), ints(0, 4, n, length, dtype="int32")
    return Subject(s, [X, W, Y], [x, w], [x @ w.T], near=0)
