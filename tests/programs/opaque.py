"""te.extern: NumPy and C functions, and statements from the IR builder, in the middle of a program."""

from __future__ import annotations

import numpy as np

from tecomp import te, tir

from .subject import Subject, ints, normal, on_cpu, on_gpu


@on_cpu(1, 7, 16, large=64)
def matmul_by_numpy(size):
    """D = A B + bias, where a Python function makes the product and bias is a scalar of the call."""
    A, B = te.placeholder((size, size), name="A"), te.placeholder((size, size), name="B")
    bias = te.var("bias", "float32")

    def matmul(a, b, out):
        np.matmul(a, b, out=out)

    C = te.extern((size, size), [A, B], lambda ins, outs: tir.call_packed(matmul, *ins, *outs), name="C")
    D = te.compute(C.shape, lambda i, j: C[i, j] + bias, name="D")
    s = te.create_schedule(D.op)
    s[D].parallel(D.op.axis[0])
    a, b = normal(size, size), normal(size, size + 1)[:, 1:].copy()
    return Subject(s, [A, B, bias, D], [a, b, 0.5], [a @ b + np.float32(0.5)], near=1e-4)


@on_cpu((0, 0), (1, 1), (9, 4), large=(300, 10))
def top_k_by_sorting(size, count):
    """The order of all numbers by a function that sorts, then the first few values by that order."""
    n, k = te.var("n"), te.var("k")
    X = te.placeholder((n,), name="X")

    def descending(x, places):
        places[:] = np.argsort(-x, kind="stable")

    P = te.extern(
        (n,), [X], lambda ins, outs: tir.call_packed(descending, ins[0], outs[0]), dtype="int32", name="order"
    )
    V = te.compute((k,), lambda i: X[P[i]], name="V")
    s = te.create_schedule([P.op, V.op])
    x = ints(0, 50, size)
    order = np.argsort(-x, kind="stable").astype("int32")
    return Subject(s, [k, X, P, V], [count, x], [order, x[order][:count]], near=0)


@on_cpu((1, 3), (9, 4), (16, 1), large=(1000, 17))
def histogram(size, bins):
    """Counts by a loop of the IR builder that adds to elements which data chooses, between two computed stages."""
    X = te.placeholder((size,), name="X")
    B = te.compute((size,), lambda i: te.floor(X[i] * bins).astype("int32"), name="B")

    def count(ins, outs):
        ib = tir.ir_builder.create()
        which, counts = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, bins, name="b") as b:
            counts[b] = 0
        with ib.for_range(0, size, name="i") as i:
            counts[which[i]] = counts[which[i]] + 1
        return ib.get()

    H = te.extern((bins,), [B], count, dtype="int32", name="H")
    share = te.compute((bins,), lambda b: H[b].astype("float32") / size, name="share")
    s = te.create_schedule(share.op)
    s[B].vectorize(s[B].split(B.op.axis[0], factor=8)[1])
    x = np.random.default_rng(size).random(size, dtype=np.float32)
    want = np.bincount(np.floor(x * np.float32(bins)).astype(int), minlength=bins)
    return Subject(s, [X, share], [x], [(want / size).astype("float32")], near=1e-6)


@on_cpu(0, 1, 9, large=1001)
def function_of_the_c_library(size):
    """cbrtf of libm for each element, in a loop of vectors of others."""
    n = te.var("n")
    X = te.placeholder((n,), name="X")
    R = te.compute((n,), lambda i: tir.call_pure_extern("float32", "cbrtf", X[i]), name="R")
    Y = te.compute((n,), lambda i: R[i] * R[i] + 1, name="Y")
    s = te.create_schedule(Y.op)
    chunk, inner = s[Y].split(Y.op.axis[0], factor=8)
    s[Y].vectorize(inner)
    s[R].compute_at(s[Y], chunk)
    x = normal(size)
    return Subject(s, [X, Y], [x], [np.cbrt(x) ** 2 + 1])


@on_cpu((1, 1), (5, 4), (9, 8), large=(100, 30))
def running_median_of_rows(rows, columns):
    """Several outputs of one opaque stage: rows sorted by insertion in memory of its own, median and spread taken."""
    X = te.placeholder((rows, columns), name="X")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        x, median, spread = (ib.buffer_ptr(buffer) for buffer in (*ins, *outs))
        with ib.for_range(0, rows, name="i", kind="parallel") as i:
            row = ib.allocate("float32", (columns,), name="row")
            with ib.for_range(0, columns, name="j") as j:
                row[j] = x[i, j]
            with ib.for_range(1, columns, name="j") as j, ib.for_range(0, j, name="k") as k:
                at = j - k
                with ib.if_scope(row[at - 1] > row[at]):
                    held = ib.let("held", row[at])
                    row[at] = row[at - 1]
                    row[at - 1] = held
            median[i] = row[columns // 2]
            spread[i] = row[columns - 1] - row[0]
        return ib.get()

    M, D = te.extern([(rows,), (rows,)], [X], body, dtype=["float32", "float32"], name="stats")
    s = te.create_schedule(M.op)
    x = ints(-50, 50, rows, columns)
    return Subject(s, [X, M, D], [x], [np.sort(x, 1)[:, columns // 2], np.ptp(x, 1)], near=0)


@on_gpu((1, 1), (7, 3), (9, 4), large=(3000, 33))
def histogram_of_threads(size, bins):
    """Statements with threads of their own: one block a bin, whose thread counts; the input made by a kernel before."""
    X = te.placeholder((size,), "int32", name="X")
    B = te.compute((size,), lambda i: te.indexmod(X[i], bins), name="B")

    def count(ins, outs):
        ib = tir.ir_builder.create()
        which, counts = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        block = te.thread_axis("blockIdx.x")
        ib.scope_attr(block, "thread_extent", bins)
        total = ib.allocate("int32", (1,), name="total", scope="local")
        total[0] = 0
        with ib.for_range(0, size, name="i") as i, ib.if_scope(which[i].equal(block.var)):
            total[0] = total[0] + 1
        counts[block.var] = total[0]
        return ib.get()

    H = te.extern((bins,), [B], count, dtype="int32", name="H")
    s = te.create_schedule(H.op)
    outer, inner = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    x = ints(0, 100, size, dtype="int32")
    return Subject(s, [X, H], [x], [np.bincount(x % bins, minlength=bins).astype("int32")], near=0)
