"""Elementwise programs on a GPU: vectors a thread, virtual threads, grids of several dimensions, chains of stages."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_gpu


@on_gpu(1, 2, large=1024)
def exponentials_in_vectors(size):
    """exp(A) + b for 1024 n numbers and any n: four numbers a thread, b a scalar of the call."""
    n = te.var("n")
    A, b = te.placeholder((n * 64,), name="A"), te.var("b", "float32")
    B = te.compute((n * 64,), lambda i: te.exp(A[i]) + b, name="B")
    s = te.create_schedule(B.op)
    rest, lanes = s[B].split(B.op.axis[0], factor=4)
    block, thread = s[B].split(rest, factor=16)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[B].vectorize(lanes)
    a = normal(64 * size)
    return Subject(s, [b, A, B], [1.5, a], [np.exp(a) + np.float32(1.5)])


@on_gpu(0, 1, 15, 16, 17, large=100003)
def axpy_of_virtual_threads(size):
    """a x + y with 2 virtual threads a thread, each a stripe of the block's part."""
    n, a = te.var("n"), te.var("a", "float32")
    X, Y = te.placeholder((n,), name="X"), te.placeholder((n,), name="Y")
    Z = te.compute((n,), lambda i: a * X[i] + Y[i], name="Z")
    s = te.create_schedule(Z.op)
    block, rest = s[Z].split(Z.op.axis[0], factor=16)
    stripe, thread = s[Z].split(rest, nparts=2)
    s[Z].bind(block, te.thread_axis("blockIdx.x"))
    s[Z].bind(stripe, te.thread_axis("vthread"))
    s[Z].bind(thread, te.thread_axis("threadIdx.x"))
    x, y = ints(-9, 9, 2, size)
    return Subject(s, [a, X, Y, Z], [2.0, x, y], [2 * x + y], near=0)


@on_gpu((1, 1, 1), (2, 5, 3), (3, 4, 4), large=(20, 33, 65))
def grid_of_three_dimensions(a, b, c):
    """A tensor of rank 3 on blocks and threads of x, y and z; a producer in registers, another in a kernel before."""
    X = te.placeholder((a, b, c), name="X")
    P = te.compute((a, b), lambda i, j: X[i, j, 0] * 2, name="P")
    Q = te.compute((a, b, c), lambda i, j, k: X[i, j, k] + P[i, j], name="Q")
    Y = te.compute((a, b, c), lambda i, j, k: Q[i, j, k] * Q[i, j, k], name="Y")
    s = te.create_schedule(Y.op)
    for axis, dim in zip(Y.op.axis, "zyx", strict=True):
        outer, inner = s[Y].split(axis, factor=2)
        s[Y].bind(outer, te.thread_axis(f"blockIdx.{dim}"))
        s[Y].bind(inner, te.thread_axis(f"threadIdx.{dim}"))
        last = inner
    s[Y].reorder(
        *(leaf for leaf in s[Y].leaf_iter_vars if leaf.name.endswith("outer")),
        *(leaf for leaf in s[Y].leaf_iter_vars if leaf.name.endswith("inner")),
    )
    s[Q].compute_at(s[Y], last)
    s[P].bind(P.op.axis[0], te.thread_axis("blockIdx.x"))
    s[P].bind(P.op.axis[1], te.thread_axis("threadIdx.x"))
    x = ints(-9, 9, a, b, c)
    return Subject(s, [X, Y], [x], [(x + 2 * x[..., :1]) ** 2], near=0)


@on_gpu((1, 1), (4, 7), (5, 8), large=(100, 999))
def two_outputs_of_threads(rows, columns):
    """Quotient and remainder from one stage, through registers; the kernel's loop has a tail."""
    A, B = (te.placeholder((rows, columns), "int32", name=name) for name in "AB")
    Q, R = te.compute((rows, columns), lambda i, j: (A[i, j] // B[i, j], A[i, j] % B[i, j]), name="T")
    s = te.create_schedule(Q.op)
    kept, _ = s.cache_write([Q, R], "local")
    block, thread = s[Q].split(s[Q].fuse(*Q.op.axis), factor=8)
    s[Q].bind(block, te.thread_axis("blockIdx.x"))
    s[Q].bind(thread, te.thread_axis("threadIdx.x"))
    s[kept].compute_at(s[Q], thread)
    a, b = ints(-99, 99, rows, columns, dtype="int32"), ints(1, 9, rows, columns, dtype="int32")
    return Subject(s, [A, B, Q, R], [a, b], [a // b, a % b], near=0)
