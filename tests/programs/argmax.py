"""Places of greatest and least values: reducers of pairs, on a CPU and across the threads of a GPU."""

from __future__ import annotations

from tecomp import te

from .subject import Subject, ints, normal, on_cpu, on_gpu


def greatest(X, k, rows):
    """The place and the value of each row's greatest number, by a reducer of (place, value)."""

    def better(x, y):
        first = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.Select(first, x[0], y[0]), te.Select(first, x[1], y[1])

    def worst(place, value):
        return te.max_value(place), te.min_value(value)

    argmax = te.comm_reducer(better, worst, name="argmax")
    return te.compute((rows,), lambda i: argmax((k.var, X[i, k]), axis=k), name="T")


def answered(s, X, I, V, x):
    return Subject(s, [X, I, V], [x], [x.argmax(1).astype("int32"), x.max(1)], near=0)


@on_cpu((1, 1), (3, 7), (3, 8), (4, 9), large=(12, 1027))
def argmax_of_parts(rows, columns):
    """The greatest of 8 interleaved parts of a row, then of those."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    I, V = greatest(X, k, rows)
    s = te.create_schedule(I.op)
    parts, _ = s.rfactor(I, s[I].split(k, factor=8)[1])
    s[parts].compute_at(s[I], s[I].op.axis[0])
    return answered(s, X, I, V, ints(0, 5, rows, columns))


@on_cpu((1, 1), (3, 7), (5, 8), (4, 9), large=(33, 100))
def argmin_of_columns(rows, columns):
    """te.argmin along the first dimension: columns inside, the loop over rows outside."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, rows), name="k")
    I, V = te.compute((columns,), lambda j: te.argmin((k.var, X[k, j]), axis=k), name="T")
    s = te.create_schedule(I.op)
    jo, ji = s[I].split(I.op.axis[0], factor=8)
    s[I].reorder(jo, k, ji)
    x = ints(0, 5, rows, columns)
    return Subject(s, [X, I, V], [x], [x.argmin(0).astype("int32"), x.min(0)], near=0)


@on_gpu((1, 1), (3, 7), (3, 8), (3, 13), large=(128, 1027))
def argmax_across_threads(rows, columns):
    """A block a row: each of 8 threads takes every eighth number, rfactor gives each its pair, then they compare."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    I, V = greatest(X, k, rows)
    s = te.create_schedule(I.op)
    own, _ = s.rfactor(I, s[I].split(k, factor=8)[1])
    s[I].bind(s[I].op.axis[0], te.thread_axis("blockIdx.x"))
    thread = te.thread_axis("threadIdx.x")
    s[I].bind(s[I].op.reduce_axis[0], thread)
    s[own].compute_at(s[I], s[I].op.reduce_axis[0])
    s[I].set_store_predicate(thread.var.equal(0))
    return answered(s, X, I, V, ints(0, 5, rows, columns))


@on_gpu((1, 1), (3, 31), (4, 33), large=(100, 1000))
def argmax_by_rows_of_threads(rows, columns):
    """Four rows a block, 16 threads a row; the built-in reducer."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    I, V = te.compute((rows,), lambda i: te.argmax((k.var, X[i, k]), axis=k), name="T")
    s = te.create_schedule(I.op)
    block, row = s[I].split(I.op.axis[0], factor=4)
    s[I].bind(block, te.thread_axis("blockIdx.x"))
    s[I].bind(row, te.thread_axis("threadIdx.y"))
    s[I].bind(s[I].split(k, factor=16)[1], te.thread_axis("threadIdx.x"))
    return answered(s, X, I, V, normal(rows, columns))
