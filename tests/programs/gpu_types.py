"""Small types and whole warps on a GPU: halves and bytes in vectors, products of four bytes, values of other lanes."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_gpu


def in_vectors(s, T, threads, lanes):
    """All loops of a stage as one, in blocks of threads that take `lanes` elements each."""
    rest, vector = s[T].split(s[T].fuse(*T.op.axis), factor=lanes)
    block, thread = s[T].split(rest, factor=threads)
    s[T].bind(block, te.thread_axis("blockIdx.x"))
    s[T].bind(thread, te.thread_axis("threadIdx.x"))
    s[T].vectorize(vector)


@on_gpu(1, 8, 31, 32, large=10007)
def halves_in_vectors(size):
    """float16: a x + y, 8 of them a thread, whatever is left of the last."""
    X, Y = te.placeholder((size,), "float16", name="X"), te.placeholder((size,), "float16", name="Y")
    Z = te.compute((size,), lambda i: X[i] * te.const(3, "float16") + Y[i], name="Z")
    s = te.create_schedule(Z.op)
    in_vectors(s, Z, 4, 8)
    x, y = ints(-9, 9, 2, size, dtype="float16")
    return Subject(s, [X, Y, Z], [x, y], [x * np.float16(3) + y], near=0)


@on_gpu((1, 4), (3, 8), (2, 12), large=(100, 64))
def bytes_in_vectors(rows, columns):
    """int8 in fours: quotients rounded down, remainders, bits counted, sums that wrap around."""
    A, B = (te.placeholder((rows, columns), "int8", name=name) for name in "AB")
    Q, R, P = te.compute(
        (rows, columns),
        lambda i, j: (A[i, j] // B[i, j], A[i, j] % B[i, j], te.popcount(A[i, j]) + A[i, j] + B[i, j]),
        name="T",
    )
    s = te.create_schedule(Q.op)
    in_vectors(s, Q, 2, 4)
    a, b = ints(-128, 128, rows, columns, dtype="int8"), ints(1, 100, rows, columns, dtype="int8")
    counts = np.unpackbits(a.view("uint8")[..., None], axis=-1).sum(-1).astype("int8")
    return Subject(s, [A, B, Q, R, P], [a, b], [a // b, a % b, counts + a + b], near=0)


@on_gpu((1, 4), (3, 8), (5, 36), large=(300, 128))
def products_of_four_bytes(rows, columns):
    """Rows of int8 multiplied by a vector with the instruction that takes four at a time."""
    A, x = te.placeholder((rows, columns), "int8", name="A"), te.placeholder((columns,), "int8", name="x")
    k = te.reduce_axis((0, columns // 4), name="k")

    def four(T, *index):
        *rest, at = index
        word = te.const(0, "uint32")
        for byte in range(4):
            word = word | (T(*rest, at * 4 + byte).astype("uint8").astype("uint32") << (8 * byte))
        return word.astype("int32")

    y = te.compute(
        (rows,), lambda i: te.sum(te.dp4a(four(A, i, k), four(x, k), te.const(0, "int32")), axis=k), name="y"
    )
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].split(k, factor=8)[1], te.thread_axis("threadIdx.x"))
    a, v = ints(-128, 128, rows, columns, dtype="int8"), ints(-128, 128, columns, dtype="int8")
    return Subject(s, [A, x, y], [a, v], [a.astype("int32") @ v.astype("int32")], near=0)


@on_gpu(1, 3, 4, large=1000)
def values_of_other_lanes(rows):
    """Each lane of a warp reads what another one holds: no shared memory, no barrier."""
    X = te.placeholder((rows, 32), name="X")
    Y = te.compute((rows, 32), lambda i, j: X[i, 31 - j] + X[i, (j * 5) % 32] * 2, name="Y")
    s = te.create_schedule(Y.op)
    held = s.cache_read(X, "warp", [Y])
    block, row = s[Y].split(Y.op.axis[0], factor=2)
    lane = te.thread_axis("threadIdx.x")
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(row, te.thread_axis("threadIdx.y"))
    s[Y].bind(Y.op.axis[1], lane)
    s[held].compute_at(s[Y], row)
    s[held].bind(s[held].op.axis[1], lane)
    x = ints(-9, 9, rows, 32)
    return Subject(s, [X, Y], [x], [x[:, ::-1] + 2 * x[:, np.arange(32) * 5 % 32]], near=0)


@on_gpu((1, 1), (3, 5), (2, 8), large=(30, 700))
def exponents_and_special_values(rows, columns):
    """NaN and infinities pass through minima, maxima and comparisons as NumPy's do."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    F = te.compute(
        (rows, columns),
        lambda i, j: te.Select(te.isnan(X[i, j]), te.const(-1.0, "float32"), te.exp2(te.min(X[i, j], 3.0))),
        name="F",
    )
    M = te.compute((rows,), lambda i: te.max(X[i, k], axis=k), name="M")
    s = te.create_schedule([F.op, M.op])
    in_vectors(s, F, 8, 1)
    s[M].bind(M.op.axis[0], te.thread_axis("blockIdx.x"))
    s[M].bind(s[M].split(k, factor=8)[1], te.thread_axis("threadIdx.x"))
    x = normal(rows, columns)
    x[0, -1] = np.nan
    x[-1, 0] = -np.inf
    with np.errstate(invalid="ignore"):
        f = np.where(np.isnan(x), -1, np.exp2(np.minimum(x, 3))).astype("float32")
    return Subject(s, [X, F, M], [x], [f, x.max(1)])
