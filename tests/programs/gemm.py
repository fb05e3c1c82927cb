"""Matrix products on the CPU: blocks, packing, a write cache, partial products, small types, what follows them."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu


def factors(m, n, l, dtype="float32"):
    A, B = te.placeholder((m, l), dtype, name="A"), te.placeholder((l, n), dtype, name="B")
    return A, B, te.reduce_axis((0, l), name="k")


@on_cpu((1, 1, 1), (9, 7, 3), (8, 8, 8), large=(130, 70, 90))
def gemm_in_blocks(m, n, l):
    """8 x 8 blocks of the result, k in parts of 4 outside them, rows of a block inside as vectors."""
    A, B, k = factors(m, n, l)
    C = te.compute((m, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 8)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(io, jo, ko, ii, ki, ji)
    s[C].vectorize(ji)
    a, b = normal(m, l), normal(l, n)
    return Subject(s, [A, B, C], [a, b], [a @ b], near=1e-4)


@on_cpu((8, 8, 1), (16, 24, 5), (16, 8, 13), large=(256, 256, 256))
def gemm_of_packed(m, n, l):
    """B is packed by panels of 8 columns, blocks are summed in a cache, its loops unrolled and in vectors."""
    A, B, k = factors(m, n, l)
    P = te.compute((n // 8, l, 8), lambda p, k, j: B[k, p * 8 + j], name="packed")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, k] * P[te.indexdiv(j, 8), k, te.indexmod(j, 8)], axis=k), name="C")
    s = te.create_schedule(C.op)
    kept = s.cache_write(C, "global")
    io, jo, _, _ = s[C].tile(*C.op.axis, 8, 8)
    s[kept].compute_at(s[C], jo)
    row, column = s[kept].op.axis
    ko, ki = s[kept].split(s[kept].op.reduce_axis[0], factor=4)
    s[kept].reorder(ko, row, ki, column)
    s[kept].unroll(ki)
    s[kept].vectorize(column)
    s[C].parallel(io)
    panel, _, lanes = P.op.axis
    s[P].vectorize(lanes)
    s[P].parallel(panel)
    a, b = normal(m, l), normal(l, n)
    return Subject(s, [A, B, C], [a, b], [a @ b], near=1e-4)


@on_cpu(1, 4, 5, 9, large=257)
def identity_plus_product(size):
    """C = I + A B: partial products of 4 parts of k, whose axis stands second; the sums begin with a tensor."""
    n = te.var("n")
    A, B, k = factors(n, n, n)
    I = te.compute((n, n), lambda i, j: te.if_then_else(i.equal(j), 1.0, 0.0), name="I")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k, init=I[i, j]), name="C")
    s = te.create_schedule(C.op)
    part = s.rfactor(C, s[C].split(k, nparts=4)[0], factor_axis=1)
    s[part].parallel(s[part].op.axis[0])
    s[part].reorder(s[part].op.axis[0], s[part].op.axis[1], s[part].op.reduce_axis[0], s[part].op.axis[2])
    s[C].parallel(s[C].op.axis[0])
    s[I].parallel(I.op.axis[0])
    a, b = normal(size, size), normal(size, size + 1)[:, :size].copy()
    return Subject(s, [A, B, C], [a, b], [np.eye(size, dtype="float32") + a @ b], near=2e-4)


@on_cpu((0, 3), (1, 1), (3, 7), (2, 8), large=(10, 65))
def batch_of_products(batch, size):
    """C[b] = A[b] B[b].T for any number of pairs: all rows of all products on several cores."""
    b, n = te.var("b"), te.var("n")
    A, B = te.placeholder((b, n, n), name="A"), te.placeholder((b, n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((b, n, n), lambda b, i, j: te.sum(A[b, i, k] * B[b, j, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    which, i, j = C.op.axis
    jo, ji = s[C].split(j, factor=4)
    s[C].reorder(which, i, jo, k, ji)
    s[C].parallel(s[C].fuse(which, i))
    s[C].unroll(ji)
    x, y = normal(batch, size, size), normal(batch, size, size, scale=0.5)
    return Subject(s, [A, B, C], [x, y], [x @ y.swapaxes(1, 2)], near=1e-4)


@on_cpu((1, 1, 1), (5, 9, 7), (4, 8, 6), large=(65, 40, 130))
def dense_layer(batch, out, features):
    """relu(X W.T + b): the product is computed where a block of the result is finished, X copied for it."""
    X, W = te.placeholder((batch, features), name="X"), te.placeholder((out, features), name="W")
    bias = te.placeholder((out,), name="bias")
    k = te.reduce_axis((0, features), name="k")
    P = te.compute((batch, out), lambda i, j: te.sum(X[i, k] * W[j, k], axis=k), name="P")
    Q = te.compute((batch, out), lambda i, j: P[i, j] + bias[j], name="Q")
    Y = te.compute((batch, out), lambda i, j: te.max(Q[i, j], te.const(0, "float32")), name="Y")
    s = te.create_schedule(Y.op)
    s[Q].compute_inline()
    io, jo, _, ji = s[Y].tile(*Y.op.axis, 4, 8)
    s[Y].vectorize(ji)
    rows = s.cache_read(X, "global", [P])
    s[P].compute_at(s[Y], jo)
    s[rows].compute_at(s[Y], io)
    s[P].reorder(k, *P.op.axis)
    s[Y].parallel(io)
    x, w, b = normal(batch, features), normal(out, features, scale=0.3), normal(out)
    return Subject(s, [X, W, bias, Y], [x, w, b], [np.maximum(x @ w.T + b, 0)], near=1e-4)


@on_cpu((1, 1, 1), (5, 7, 9), (8, 16, 32), large=(33, 48, 65))
def product_of_bytes(m, n, l):
    """int8 by uint8 summed in int32, an epilogue that scales and rounds back to int8."""
    A, B = te.placeholder((m, l), "int8", name="A"), te.placeholder((n, l), "uint8", name="B")
    k = te.reduce_axis((0, l), name="k")
    P = te.compute((m, n), lambda i, j: te.sum(A[i, k].astype("int32") * B[j, k].astype("int32"), axis=k), name="P")
    Y = te.compute((m, n), lambda i, j: te.max(te.min((P[i, j] + 32) >> 6, 127), -128).astype("int8"), name="Y")
    s = te.create_schedule([P.op, Y.op])
    s[P].vectorize(s[P].split(P.op.axis[1], factor=8)[1])
    s[P].parallel(P.op.axis[0])
    a, b = ints(-128, 128, m, l, dtype="int8"), ints(0, 256, n, l, dtype="uint8")
    p = a.astype("int32") @ b.astype("int32").T
    return Subject(s, [A, B, P, Y], [a, b], [p, np.clip((p + 32) >> 6, -128, 127).astype("int8")], near=0)


@on_cpu((0, 4), (1, 1), (7, 9), (16, 8), large=(300, 70))
def matrix_by_vector(rows, columns):
    """y = A x with x copied first and 8 partial sums a row, for sizes known when it is called."""
    m, n = te.size_var("m"), te.size_var("n")
    A, x = te.placeholder((m, n), "float64", name="A"), te.placeholder((n,), "float64", name="x")
    k = te.reduce_axis((0, n), name="k")
    y = te.compute((m,), lambda i: te.sum(A[i, k] * x[k], axis=k), name="y")
    s = te.create_schedule(y.op)
    copied = s.cache_read(x, "global", [y])
    lanes = s.rfactor(y, s[y].split(k, factor=8)[1], factor_axis=1)
    s[lanes].compute_at(s[y], s[y].op.axis[0])
    s[lanes].vectorize(s[lanes].op.axis[1])
    s[y].parallel(s[y].op.axis[0])
    s[copied].vectorize(s[copied].split(s[copied].op.axis[0], factor=4)[1])
    a, v = normal(rows, columns, dtype="float64"), normal(columns, dtype="float64")
    return Subject(s, [A, x, y], [a, v], [a @ v], near=1e-10)
