"""Matrix products on a GPU: shared and register tiles, virtual threads, copies ahead, tensor cores."""

from __future__ import annotations

import numpy as np

from tecomp import te
from tests.tensor_cores import matmul

from .subject import Subject, ints, normal, on_gpu


@on_gpu((8, 8), (16, 12), large=(256, 64))
def gemm_of_virtual_threads(size, depth):
    """C = A.T B: tiles in shared memory that all threads load ahead, pieces in registers, 2 x 2 virtual threads."""
    A, B = te.placeholder((depth, size), name="A"), te.placeholder((depth, size), name="B")
    k = te.reduce_axis((0, depth), name="k")
    C = te.compute((size, size), lambda y, x: te.sum(A[k, y] * B[k, x], axis=k), name="C")
    tile, lanes, threads, step = (8, 2, 2, 4) if size < 64 else (64, 2, 8, 8)
    s = te.create_schedule(C.op)
    shared = [s.cache_read(T, "shared", [C]) for T in (A, B)]
    local = [s.cache_read(T, "local", [C]) for T in shared]
    sums = s.cache_write(C, "local")
    ty, tx = te.thread_axis((0, threads), "threadIdx.y"), te.thread_axis((0, threads), "threadIdx.x")
    loops = []
    for axis, thread, dim in zip(C.op.axis, (ty, tx), "yx", strict=True):
        block, rest = s[C].split(axis, factor=tile)
        lane, rest = s[C].split(rest, nparts=lanes)
        own, rest = s[C].split(rest, nparts=threads)
        s[C].bind(block, te.thread_axis(f"blockIdx.{dim}"))
        s[C].bind(lane, te.thread_axis((0, lanes), "vthread", name=f"v{dim}"))
        s[C].bind(own, thread)
        loops.append((block, lane, own, rest))
    order = [loop for pair in zip(*loops, strict=True) for loop in pair]
    s[C].reorder(*order)
    s[C].vectorize(s[C].split(order[-1], factor=2)[1])
    s[sums].compute_at(s[C], order[5])
    ko, ki = s[sums].split(s[sums].op.reduce_axis[0], factor=step)
    s[sums].reorder(ko, ki, *s[sums].op.axis)
    s[sums].unroll(ki)
    for T in local:
        s[T].compute_at(s[sums], ki)
    for T in shared:
        s[T].compute_at(s[sums], ko)
        rest, vector = s[T].split(s[T].fuse(*s[T].op.axis), factor=2)
        _, thread = s[T].split(rest, factor=threads * threads)
        outer, inner = s[T].split(thread, factor=threads)
        s[T].bind(outer, ty)
        s[T].bind(inner, tx)
        s[T].vectorize(vector)
        s[T].double_buffer()
    a, b = ints(-4, 5, depth, size), ints(-5, 4, depth, size)
    return Subject(s, [A, B, C], [a, b], [a.T @ b], near=0)


@on_gpu((1, 1, 1), (5, 7, 3), (8, 8, 8), (9, 17, 10), large=(200, 150, 99))
def gemm_of_any_size(m, n, l):
    """An element a thread, tiles of 4 x 4 in shared memory, sizes of the call: every loop has a tail."""
    M, N, L = (te.size_var(name) for name in "MNL")
    A, B = te.placeholder((M, L), name="A"), te.placeholder((L, N), name="B")
    k = te.reduce_axis((0, L), name="k")
    C = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    tiles = [s.cache_read(T, "shared", [C]) for T in (A, B)]
    total = s.cache_write(C, "local")
    ty, tx = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
    io, jo, ii, ji = s[C].tile(*C.op.axis, 4, 4)
    for axis, thread in ((io, te.thread_axis("blockIdx.y")), (jo, te.thread_axis("blockIdx.x")), (ii, ty), (ji, tx)):
        s[C].bind(axis, thread)
    s[total].compute_at(s[C], ji)
    ko, ki = s[total].split(s[total].op.reduce_axis[0], factor=4)
    s[total].reorder(ko, ki, *s[total].op.axis)
    for T in tiles:
        s[T].compute_at(s[total], ko)
        s[T].bind(s[T].op.axis[0], ty)
        s[T].bind(s[T].op.axis[1], tx)
    a, b = normal(m, l), normal(l, n)
    return Subject(s, [A, B, C], [a, b], [a @ b], near=1e-3)


@on_gpu((1, 4), (5, 9), (4, 16), large=(500, 700))
def matrix_by_vector_of_warps(rows, columns):
    """A row a warp of 8 lanes, four rows a block; the vector staged in shared memory for the whole block."""
    A, x = te.placeholder((rows, columns), name="A"), te.placeholder((columns,), name="x")
    k = te.reduce_axis((0, columns), name="k")
    y = te.compute((rows,), lambda i: te.sum(A[i, k] * x[k], axis=k), name="y")
    s = te.create_schedule(y.op)
    staged = s.cache_read(x, "shared", [y])
    block, row = s[y].split(y.op.axis[0], factor=4)
    down, lane = te.thread_axis((0, 4), "threadIdx.y"), te.thread_axis((0, 8), "threadIdx.x")
    s[y].bind(block, te.thread_axis("blockIdx.x"))
    s[y].bind(row, down)
    _, ki = s[y].split(k, factor=8)
    s[y].bind(ki, lane)
    s[staged].compute_at(s[y], block)
    _, rest = s[staged].split(s[staged].op.axis[0], factor=32)
    outer, inner = s[staged].split(rest, factor=8)
    s[staged].bind(outer, down)
    s[staged].bind(inner, lane)
    a, v = ints(-9, 9, rows, columns), ints(-9, 9, columns)
    return Subject(s, [A, x, y], [a, v], [a @ v], near=0)


@on_gpu((32, 32, 16), large=(256, 256, 256))
def gemm_of_tensor_cores(m, n, l):
    """float16 by float16 in float32: fragments loaded, multiplied and stored by intrinsics, padded shared rows."""
    s, args = matmul(m, n, l, block=(32, 32, 16), warp=(16, 16), vector=4, pad=8)
    a, b = ints(-3, 4, m, l, dtype="float16"), ints(-2, 3, l, n, dtype="float16")
    return Subject(s, args, [a, b], [a.astype("float32") @ b.astype("float32")], near=0)


@on_gpu((1, 1, 1), (4, 5, 6), (8, 8, 8), large=(100, 64, 130))
def dense_layer_of_blocks(batch, out, features):
    """relu(X W.T + b): the product stays in registers of the thread that finishes it, in a group with its bias."""
    X, W = te.placeholder((batch, features), name="X"), te.placeholder((out, features), name="W")
    bias = te.placeholder((out,), name="bias")
    k = te.reduce_axis((0, features), name="k")
    P = te.compute((batch, out), lambda i, j: te.sum(X[i, k] * W[j, k], axis=k), name="P")
    Q = te.compute((batch, out), lambda i, j: P[i, j] + bias[j], name="Q")
    Y = te.compute((batch, out), lambda i, j: te.max(Q[i, j], 0.0), name="Y")
    s = te.create_schedule(Y.op)
    group = s.create_group(outputs=Q, inputs=[X, W, bias], include_inputs=False)
    io, jo, ii, ji = s[Y].tile(*Y.op.axis, 4, 4)
    tags = ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x")
    for axis, tag in zip((io, jo, ii, ji), tags, strict=True):
        s[Y].bind(axis, te.thread_axis(tag))
    group.compute_at(s[Y], ji)
    x, w, b = ints(-4, 5, batch, features), ints(-3, 4, out, features), ints(-9, 9, out)
    return Subject(s, [X, W, bias, Y], [x, w, b], [np.maximum(x @ w.T + b, 0)], near=0)
