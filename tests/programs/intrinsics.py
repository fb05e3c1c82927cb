"""tensorize and intrinsics as bodies: declared with a small computation, put in for the loops that equal it."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tecomp import te, tir

from .subject import Subject, ints, normal, on_cpu


def declared(tensor, **more):
    """A buffer for a tensor of a declaration: any region of a larger one, rows of any stride."""
    strides = [te.var("stride"), 1] if tensor.ndim == 2 else [1]
    return tir.decl_buffer(tensor.shape, tensor.dtype, name=tensor.name, offset_factor=1, strides=strides, **more)


def matrix_by_vector(m, l):
    """c[i] = sum of a[i, k] * b[k], written with the IR builder: whole, its beginning, and one step of it."""
    a, b = te.placeholder((m, l), name="a"), te.placeholder((l,), name="b")
    k = te.reduce_axis((0, l), name="k")
    c = te.compute((m,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="c")

    def emit(ins, outs):
        def begun():
            ib = tir.ir_builder.create()
            with ib.for_range(0, m, name="i") as i:
                ib.emit(outs[0].vstore([i], te.const(0, "float32")))
            return ib.get()

        def added():
            ib = tir.ir_builder.create()
            with ib.for_range(0, m, name="i") as i, ib.for_range(0, l, name="k") as at:
                ib.emit(outs[0].vstore([i], outs[0].vload([i]) + ins[0].vload([i, at]) * ins[1].vload([at])))
            return ib.get()

        ib = tir.ir_builder.create()
        ib.emit(begun())
        ib.emit(added())
        return ib.get(), begun(), added()

    return te.decl_tensor_intrin(c.op, emit, name="gemv", binds={t: declared(t) for t in (a, b, c)})


@on_cpu((8, 4, 4), (16, 8, 12), large=(32, 64, 48))
def tensorized_gemm(m, n, l):
    """C = A B.T in pieces of matrix by vector, k divided around them: the intrinsic begins, then adds."""
    A, B = te.placeholder((m, l), name="A"), te.placeholder((n, l), name="B")
    k = te.reduce_axis((0, l), name="k")
    C = te.compute((n, m), lambda i, j: te.sum(A[j, k] * B[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=8)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(i, jo, ko, ji, ki)
    s[C].tensorize(ji, matrix_by_vector(8, 4))
    s[C].parallel(i)
    a, b = ints(-9, 10, m, l), ints(-5, 6, n, l)
    return Subject(s, [A, B, C], [a, b], [b @ a.T], near=0)


def row_of_products(width):
    """c[j] = a[j] * b[j] + 1 for a row, as vectors."""
    a, b = te.placeholder((width,), name="a"), te.placeholder((width,), name="b")
    c = te.compute((width,), lambda j: a[j] * b[j] + 1, name="c")

    def emit(ins, outs):
        kind = f"float32x{width}"
        return outs[0].vstore([0], ins[0].vload([0], kind) * ins[1].vload([0], kind) + 1.0)

    return te.decl_tensor_intrin(c.op, emit, name="row", binds={t: declared(t) for t in (a, b, c)})


@on_cpu((1, 8), (3, 16), large=(32, 64))
def intrinsic_as_a_body(rows, columns):
    """The intrinsic called on slices in te.compute: no loops to match, one call a row of 8, another stage after it."""
    row = row_of_products(8)
    A, B = te.placeholder((rows, columns), name="A"), te.placeholder((rows, columns), name="B")
    C = te.compute(
        (rows, columns // 8, 8), lambda i, p: row(A[i, p * 8 : p * 8 + 8], B[i, p * 8 : p * 8 + 8]), name="C"
    )
    D = te.compute((rows, columns), lambda i, j: C[i, j // 8, j % 8] * 2, name="D")
    s = te.create_schedule(D.op)
    s[C].compute_at(s[D], D.op.axis[0])
    a, b = ints(-9, 9, rows, columns), ints(0, 9, rows, columns)
    return Subject(s, [A, B, D], [a, b], [(a * b + 1) * 2], near=0)


@on_cpu((1, 8, 8), (3, 16, 4), large=(30, 64, 40))
def intrinsic_over_a_reduction(rows, columns, depth):
    """The matrix-by-vector intrinsic as a body with reduce_axis: it begins at the first part of k, then adds."""
    gemv = matrix_by_vector(8, 4)
    A, B = te.placeholder((columns, depth), name="A"), te.placeholder((rows, depth), name="B")
    k = te.reduce_axis((0, depth // 4), name="k")
    C = te.compute(
        (rows, columns // 8, 8),
        lambda i, p: gemv(A[p * 8 : p * 8 + 8, k * 4 : k * 4 + 4], B[i, k * 4 : k * 4 + 4], reduce_axis=k),
        name="C",
    )
    s = te.create_schedule(C.op)
    s[C].parallel(C.op.axis[0])
    a, b = ints(-9, 10, columns, depth), ints(-5, 6, rows, depth)
    return Subject(s, [A, B, C], [a, b], [(b @ a.T).reshape(rows, -1, 8)], near=0)


@on_cpu(0, 1, 9, large=1000)
def fused_multiply_add(size):
    """An intrinsic of LLVM's in a body, and operations on bits (shift, count, reinterpretation)."""
    n = te.var("n")
    X, Y = te.placeholder((n,), name="X"), te.placeholder((n,), "uint32", name="Y")
    A = te.compute((n,), lambda i: te.fma(X[i], X[i], te.const(1.0, "float32")), name="A")
    B = te.compute((n,), lambda i: (te.reinterpret("uint32", A[i]) >> 23) + te.popcount(Y[i]), name="B")
    s = te.create_schedule([A.op, B.op])
    for T in (A, B):
        s[T].vectorize(s[T].split(T.op.axis[0], factor=8)[1])
    x, y = ints(-9, 9, size), ints(0, 2**31, size, dtype="uint32")
    a = x * x + 1
    counts = np.array([bin(value).count("1") for value in y.tolist()], "uint32")
    return Subject(s, [X, Y, A, B], [x, y], [a, (a.view("uint32") >> 23) + counts], near=0)


@on_cpu((1, 4), (7, 5), large=(100, 33))
def half_precision(rows, columns):
    """float16 and bfloat16 multiplied in float32, stored as bfloat16: rounding at each store only."""
    A = te.placeholder((rows, columns), "float16", name="A")
    B = te.placeholder((columns,), "bfloat16", name="B")
    C = te.compute(
        (rows, columns), lambda i, j: (A[i, j].astype("float32") * B[j].astype("float32")).astype("bfloat16"), name="C"
    )
    s = te.create_schedule(C.op)
    s[C].vectorize(s[C].split(C.op.axis[1], factor=4)[1])
    a, b = normal(rows, columns).astype("float16"), normal(columns).astype(ml_dtypes.bfloat16)
    return Subject(
        s, [A, B, C], [a, b], [(a.astype("float32") * b.astype("float32")).astype(ml_dtypes.bfloat16)], near=0
    )
