"""Sparse matrices and look-ups: indices and lengths of loops come from data."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, on_cpu, on_gpu


def csr(rows, columns):
    """A random matrix with about a third of its elements, dense and as (values, columns, where rows begin)."""
    dense = ints(-9, 10, rows, columns) * (ints(0, 3, rows, columns) == 0)
    row, column = np.nonzero(dense)
    begin = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    return dense, dense[row, column], column.astype("int32"), begin.astype("int32")


def sparse_rows(rows, columns, width, entries):
    """Y[i, j] = sum over the elements of row i of the sparse matrix, times row of D."""
    values, which = te.placeholder((entries,), name="values"), te.placeholder((entries,), "int32", name="which")
    begin, D = te.placeholder((rows + 1,), "int32", name="begin"), te.placeholder((columns, width), name="D")

    def element(i, j):
        k = te.reduce_axis((0, begin[i + 1] - begin[i]), name="k")
        at = begin[i] + k
        return te.sum(values[at] * D[which[at], j], axis=k)

    return values, which, begin, D, te.compute((rows, width), element, name="Y")


@on_cpu((1, 1, 1), (4, 5, 3), (5, 9, 8), large=(60, 50, 33))
def sparse_by_dense(rows, columns, width):
    """CSR times dense: the loop over a row's elements outside the one over columns of the result."""
    dense, values, which, begin = csr(rows, columns)
    V, I, B, D, Y = sparse_rows(rows, columns, width, len(values))
    s = te.create_schedule(Y.op)
    i, j = Y.op.axis
    jo, ji = s[Y].split(j, factor=8)
    s[Y].reorder(i, jo, s[Y].op.reduce_axis[0], ji)
    s[Y].parallel(i)
    d = ints(-5, 6, columns, width)
    return Subject(s, [V, I, B, D, Y], [values, which, begin, d], [dense @ d], near=0)


@on_gpu((1, 1, 1), (4, 5, 3), (5, 9, 8), large=(200, 150, 100))
def sparse_by_dense_of_blocks(rows, columns, width):
    """CSR times dense on a GPU: a block a row, a thread a column of the result."""
    dense, values, which, begin = csr(rows, columns)
    V, I, B, D, Y = sparse_rows(rows, columns, width, len(values))
    s = te.create_schedule(Y.op)
    i, j = Y.op.axis
    s[Y].bind(i, te.thread_axis("blockIdx.x"))
    s[Y].bind(s[Y].split(j, factor=8)[1], te.thread_axis("threadIdx.x"))
    d = ints(-5, 6, columns, width)
    return Subject(s, [V, I, B, D, Y], [values, which, begin, d], [dense @ d], near=0)


@on_cpu((1, 1), (5, 3), (8, 8), large=(100, 40))
def embedding(words, width):
    """Rows of a table by number, zeros for the number that means none, and their sum over the sentence."""
    table, number = te.placeholder((20, width), name="table"), te.placeholder((words,), "int32", name="number")
    E = te.compute(
        (words, width),
        lambda i, j: te.if_then_else(number[i] < 0, te.const(0, "float32"), table[number[i], j]),
        name="E",
    )
    k = te.reduce_axis((0, words), name="k")
    total = te.compute((width,), lambda j: te.sum(E[k, j], axis=k), name="total")
    s = te.create_schedule([E.op, total.op])
    s[E].vectorize(s[E].split(E.op.axis[1], factor=4)[1])
    s[total].reorder(k, total.op.axis[0])
    t, which = ints(-9, 10, 20, width), ints(-3, 20, words, dtype="int32")
    rows = np.where(which[:, None] < 0, 0, t[which]).astype("float32")
    return Subject(s, [table, number, E, total], [t, which], [rows, rows.sum(0)], near=0)


@on_cpu((1, 1, 1), (3, 4, 2), (4, 4, 4), large=(12, 9, 16))
def block_sparse_attention_mask(rows, columns, width):
    """Scores only of the keys that a list names for each query; the rest of the row is minus infinity."""
    Q, K = te.placeholder((rows, width), name="Q"), te.placeholder((columns, width), name="K")
    allowed = te.placeholder((rows, columns), "bool", name="allowed")
    k = te.reduce_axis((0, width), name="k")
    P = te.compute((rows, columns), lambda i, j: te.sum(Q[i, k] * K[j, k], axis=k, where=allowed[i, j]), name="P")
    Y = te.compute(
        (rows, columns), lambda i, j: te.if_then_else(allowed[i, j], P[i, j], -te.infinity("float32")), name="Y"
    )
    s = te.create_schedule(Y.op)
    s[P].compute_at(s[Y], Y.op.axis[1])
    q, keys, mask = ints(-5, 6, rows, width), ints(-4, 5, columns, width), ints(0, 2, rows, columns, dtype="bool")
    want = np.where(mask, q @ keys.T, -np.inf).astype("float32")
    return Subject(s, [Q, K, allowed, Y], [q, keys, mask], [want], near=0)
