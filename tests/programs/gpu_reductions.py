"""Reductions on a GPU: across the threads of a block in one and two dimensions, of a warp, in two kernels."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_gpu


def sums(rows, columns, reducer=te.sum, name="B"):
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), name="k")
    return A, k, te.compute((rows,), lambda i: reducer(A[i, k], axis=k), name=name)


@on_gpu((1, 1, 1), (3, 5, 7), (2, 4, 4), large=(40, 33, 70))
def sums_over_two_thread_axes(blocks, a, b):
    """Sums over two dimensions by 4 x 4 threads; a stage after it is computed there; one thread stores."""
    A = te.placeholder((blocks, a, b), name="A")
    k, l = te.reduce_axis((0, a), name="k"), te.reduce_axis((0, b), name="l")
    S = te.compute((blocks,), lambda i: te.sum(A[i, k, l], axis=[k, l]), name="S")
    B = te.compute((blocks,), lambda i: S[i] + 2, name="B")
    s = te.create_schedule(B.op)
    tx, ty = te.thread_axis((0, 4), "threadIdx.x"), te.thread_axis((0, 4), "threadIdx.y")
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    for axis, thread in ((k, ty), (l, tx)):
        s[S].bind(s[S].split(axis, factor=4)[1], thread)
    s[S].compute_at(s[B], B.op.axis[0])
    s[B].set_store_predicate(te.all(tx.var.equal(0), ty.var.equal(0)))
    x = ints(-9, 9, blocks, a, b)
    return Subject(s, [A, B], [x], [x.sum((1, 2)) + 2], near=0)


@on_gpu((1, 1), (3, 31), (5, 32), (4, 33), large=(100, 5000))
def sums_of_warps(rows, columns):
    """A warp a row: each lane sums its stripe by rfactor, the warp its lanes' sums."""
    A, k, B = sums(rows, columns)
    s = te.create_schedule(B.op)
    own = s.rfactor(B, s[B].split(k, factor=32)[1])
    block, row = s[B].split(s[B].op.axis[0], factor=2)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(row, te.thread_axis("threadIdx.y"))
    lane = s[B].op.reduce_axis[0]
    s[B].bind(lane, te.thread_axis("threadIdx.x"))
    s[own].compute_at(s[B], lane)
    a = normal(rows, columns)
    return Subject(s, [A, B], [a], [a.sum(1)], near=1e-3)


@on_gpu((1, 1), (3, 12), (2, 13), large=(33, 1001))
def maxima_of_odd_blocks(rows, columns):
    """Maxima of rows by 13 threads, which is no power of two, for any length."""
    n = te.var("n")
    A, k, B = sums(rows, n, te.max)
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(s[B].split(k, factor=13)[1], te.thread_axis("threadIdx.x"))
    a = normal(rows, columns)
    return Subject(s, [A, B], [a], [a.max(1)], near=0)


@on_gpu(1, 31, 32, 33, large=1000003)
def sum_in_two_kernels(size):
    """A long vector: 4 blocks leave their sums in memory, a kernel after them joins those."""
    A = te.placeholder((size,), name="A")
    k = te.reduce_axis((0, size), name="k")
    B = te.compute((1,), lambda i: te.sum(A[k], axis=k), name="B")
    s = te.create_schedule(B.op)
    blocks = s.rfactor(B, s[B].split(k, nparts=4)[0])
    s[blocks].bind(s[blocks].op.axis[0], te.thread_axis("blockIdx.x"))
    s[blocks].bind(s[blocks].split(s[blocks].op.reduce_axis[0], factor=8)[1], te.thread_axis("threadIdx.x"))
    s[B].bind(s[B].op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(s[B].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    a = ints(-4, 5, size)
    return Subject(s, [A, B], [a], [a.sum(keepdims=True)], near=0)


@on_gpu((1, 1), (7, 3), (8, 4), (9, 5), large=(1000, 130))
def sums_of_columns(rows, columns):
    """Columns by threads of x, which read side by side, parts of the rows by threads of y, which are then joined."""
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, rows), name="k")
    B = te.compute((columns,), lambda j: te.sum(A[k, j], axis=k), name="B")
    s = te.create_schedule(B.op)
    block, column = s[B].split(B.op.axis[0], factor=4)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(column, te.thread_axis("threadIdx.x"))
    s[B].bind(s[B].split(k, nparts=4)[0], te.thread_axis("threadIdx.y"))
    a = ints(-9, 9, rows, columns)
    return Subject(s, [A, B], [a], [a.sum(0)], near=0)


@on_gpu((1, 1), (3, 9), (5, 16), large=(70, 333))
def sums_where_a_condition_holds(rows, columns):
    """A condition on the reduced element, across threads: every row is stored, whichever threads it holds for."""
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), name="k")
    B = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k, where=te.all(k >= i, A[i, k] > 0)), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(s[B].split(k, factor=8)[1], te.thread_axis("threadIdx.x"))
    a = ints(-9, 9, rows, columns)
    return Subject(s, [A, B], [a], [(a * (a > 0) * (np.arange(columns) >= np.arange(rows)[:, None])).sum(1)], near=0)


@on_gpu((1, 1), (4, 3), (9, 8), large=(128, 500))
def maximum_of_all_by_threads_and_loops(rows, columns):
    """One number: threads take rows, each of them a loop over its columns."""
    A = te.placeholder((rows, columns), name="A")
    k, l = te.reduce_axis((0, rows), name="k"), te.reduce_axis((0, columns), name="l")
    B = te.compute((), lambda: te.max(A[k, l], axis=[k, l]), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(k, te.thread_axis("threadIdx.x"))
    a = normal(rows, columns)
    return Subject(s, [A, B], [a], [a.max(keepdims=False).reshape(())], near=0)


@on_gpu((1, 1, 1), (3, 7, 5), (2, 8, 8), large=(20, 200, 33))
def joined_sums_used_by_all_threads(groups, length, width):
    """Each group's norm is joined by the threads, kept for them, and divides what they write; the sums by rfactor."""
    A = te.placeholder((groups, length, width), name="A")
    k, l = te.reduce_axis((0, length), name="k"), te.reduce_axis((0, width), name="l")
    S = te.compute((groups,), lambda g: te.sum(A[g, k, l] * A[g, k, l], axis=[k, l]), name="S")
    Y = te.compute(A.shape, lambda g, i, j: A[g, i, j] * te.rsqrt(S[g] + 1.0), name="Y")
    s = te.create_schedule(Y.op)
    thread = te.thread_axis("threadIdx.x")
    _, ki = s[S].split(s[S].fuse(k, l), factor=8)
    own = s.rfactor(S, ki)
    g, i, j = Y.op.axis
    s[Y].bind(g, te.thread_axis("blockIdx.x"))
    s[Y].bind(s[Y].split(s[Y].fuse(i, j), factor=8)[1], thread)
    s[S].compute_at(s[Y], g)
    s[S].bind(s[S].op.reduce_axis[0], thread)
    s[own].compute_at(s[S], s[S].op.reduce_axis[0])
    a = normal(groups, length, width)
    return Subject(s, [A, Y], [a], [a / np.sqrt((a**2).sum((1, 2), keepdims=True) + 1)], near=1e-4)


@on_gpu((1, 1), (3, 7), (5, 8), large=(64, 3000))
def sums_across_blocks(rows, columns):
    """Blocks share a row's sum out and add their parts to it in memory, in any order."""
    A, k, B = sums(rows, columns)
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(k, factor=8)
    s[B].reorder(ko, B.op.axis[0], ki)
    s[B].bind(ko, te.thread_axis("blockIdx.x"), reduce_update="atomic")
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    a = ints(-4, 5, rows, columns)
    return Subject(s, [A, B], [a], [a.sum(1)], near=0)
