"""Layouts: transposed and blocked on the way, by a cache or by transform_layout; tensors joined, mirrored, shuffled."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, on_cpu, on_gpu


@on_cpu((1, 1), (7, 5), (8, 8), (9, 17), large=(32, 32))
def chain_of_transposes(rows, columns):
    """Two transposes with a stage between, kept in the layout of its divided loops; one of them inlined."""
    X = te.placeholder((rows, columns), name="X")
    A = te.compute((columns, rows), lambda i, j: X[j, i] + 1, name="A")
    B = te.compute((columns, rows), lambda i, j: A[i, j] * 2, name="B")
    Y = te.compute((rows, columns), lambda i, j: B[j, i] - 3, name="Y")
    s = te.create_schedule(Y.op)
    s[A].compute_inline()
    i, j = B.op.axis
    jo, ji = s[B].split(j, factor=4)
    s[B].reorder(jo, i, ji)
    kept = s.cache_write(B, "global")
    s[B].compute_inline()
    s[kept].vectorize(s[kept].op.axis[2])
    s[Y].parallel(Y.op.axis[0])
    x = ints(-9, 9, rows, columns)
    return Subject(s, [X, Y], [x], [(x + 1) * 2 - 3], near=0)


@on_cpu((1, 1, 4), (2, 3, 8), (4, 6, 40))
def blocked_layouts(a, b, c):
    """The last dimension in packs of 4 innermost, in a copy and in a result between: loops follow the memory."""
    X = te.placeholder((a, b, c), name="X")
    P = te.compute((a, b, c), lambda i, j, k: X[i, j, k] * 3, name="P")
    Y = te.compute((a, b, c), lambda i, j, k: P[a - 1 - i, j, k] + 1, name="Y")
    s = te.create_schedule(Y.op)
    copied = s.cache_read(X, "global", [P])
    s[copied].transform_layout(lambda i, j, k: [i, k // 4, j, k % 4])
    *_, lanes = s[P].transform_layout(lambda i, j, k: [k // 4, te.AXIS_SEPARATOR, i, j, k % 4])
    s[P].vectorize(lanes)
    x = ints(-9, 9, a, b, c)
    return Subject(s, [X, Y], [x], [x[::-1] * 3 + 1], near=0)


@on_cpu((1, 2), (3, 4), (2, 6), large=(16, 30))
def space_to_depth(channels, size):
    """2 x 2 pixels into channels and back, one of the two inlined into the other."""
    X = te.placeholder((channels, size, size), name="X")
    half = size // 2
    D = te.compute(
        (4 * channels, half, half),
        lambda c, i, j: X[c // 4, 2 * i + te.indexdiv(te.indexmod(c, 4), 2), 2 * j + te.indexmod(c, 2)],
        name="D",
    )
    S = te.compute((4 * channels, half, half), lambda c, i, j: D[c, i, j] * (c + 1), name="S")
    Y = te.compute(
        (channels, size, size),
        lambda c, i, j: S[4 * c + 2 * te.indexmod(i, 2) + te.indexmod(j, 2), i // 2, j // 2],
        name="Y",
    )
    s = te.create_schedule([D.op, Y.op])
    s[S].compute_inline()
    s[Y].parallel(s[Y].fuse(*Y.op.axis[:2]))
    x = ints(-9, 9, channels, size, size)
    cells = x.reshape(channels, half, 2, half, 2).transpose(0, 2, 4, 1, 3)
    weight = np.arange(1, 4 * channels + 1, dtype="float32").reshape(channels, 2, 2, 1, 1)
    back = (cells * weight).transpose(0, 3, 1, 4, 2).reshape(x.shape)
    return Subject(s, [X, D, Y], [x], [cells.reshape(-1, half, half), back], near=0)


@on_cpu((1, 1), (3, 4), (8, 8), large=(100, 37))
def joined_and_mirrored(first, second):
    """Two tensors one after the other, with their mirror images beyond both ends."""
    A, B = te.placeholder((first,), name="A"), te.placeholder((second,), name="B")
    n = first + second
    J = te.compute((n,), lambda i: te.if_then_else(i < first, A[i], B[i - first]), name="J")

    def mirrored(i):
        at = te.if_then_else(i < 2, te.max(1 - i, 0), i - 2)
        return J[te.min(te.if_then_else(at >= n, 2 * n - 1 - at, at), n - 1)]

    Y = te.compute((n + 4,), mirrored, name="Y")
    s = te.create_schedule(Y.op)
    chunk, _ = s[Y].split(Y.op.axis[0], factor=8)
    s[J].compute_at(s[Y], chunk)
    a, b = ints(-9, 9, first), ints(0, 9, second)
    return Subject(s, [A, B, Y], [a, b], [np.pad(np.concatenate([a, b]), 2, mode="symmetric")], near=0)


@on_gpu((1, 1), (7, 9), (8, 8), (17, 8), large=(1000, 777))
def transpose_in_shared_memory(rows, columns):
    """A tile of 8 x 8 through shared memory whose rows stand 9 apart, read by rows and written by rows."""
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    Y = te.compute((n, m), lambda i, j: X[j, i], name="Y")
    s = te.create_schedule(Y.op)
    tile = s.cache_read(X, "shared", [Y])
    io, jo, ii, ji = s[Y].tile(*Y.op.axis, 8, 8)
    down, across = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
    s[Y].bind(io, te.thread_axis("blockIdx.y"))
    s[Y].bind(jo, te.thread_axis("blockIdx.x"))
    s[Y].bind(ii, down)
    s[Y].bind(ji, across)
    s[tile].compute_at(s[Y], jo)
    s[tile].storage_align(s[tile].op.axis[0], 8, 1)
    s[tile].bind(s[tile].op.axis[0], down)
    s[tile].bind(s[tile].op.axis[1], across)
    x = ints(-9, 9, rows, columns)
    return Subject(s, [X, Y], [x], [x.T.copy()], near=0)
