"""Sparse and scatter: loops whose length is data, reads and writes at places that are data, atomic updates.

python tutorials/15_sparse_and_scatter.py
"""

import sys

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import TecompError
from tecomp.ir import interpret

TARGET = "cuda -arch=sm_90a"


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


def checked(s, args, inputs, expected, name):
    """Return the program for the device; it gives what is expected, interpreted, simulated, on a GPU that is there."""
    program = tecomp.lower(s, args, name=name, target=TARGET)
    for run in (lambda *arrays: interpret(program, *arrays), tecomp.build(s, args, target="cuda-sim")):
        result = np.full_like(expected, np.nan)
        run(*inputs, result)
        np.testing.assert_array_equal(result, expected)
    if tecomp.cuda().exist:
        given = [tecomp.nd.array(x, tecomp.cuda()) for x in (*inputs, np.full_like(expected, np.nan))]
        tecomp.build(s, args, target="cuda")(*given)
        np.testing.assert_array_equal(given[-1].numpy(), expected)
        print("CUDA: equal to NumPy's", file=sys.stderr)
    else:
        print("no GPU: interpreted and simulated only", file=sys.stderr)
    return program


random = np.random.default_rng(0)

# 1. Gather: an index that is data, `table[number[i], j]`. Where a number may mean "none", if_then_else does not read.
words, width = te.var("words"), te.var("width")
table, number = te.placeholder((20, width), name="table"), te.placeholder((words,), "int32", name="number")
rows = te.compute((words, width), lambda i, j: te.if_then_else(number[i] >= 0, table[number[i], j], 0.0), name="rows")
s = te.create_schedule(rows.op)
s[rows].vectorize(s[rows].split(rows.op.axis[1], factor=8)[1])
show("rows of a table", tecomp.lower(s, [table, number, rows], name="embedding", simple_mode=True))
values, chosen = random.random((20, 11), dtype=np.float32), np.array([3, -1, 19, 3], np.int32)
result = np.empty((4, 11), np.float32)
tecomp.build(s, [table, number, rows])(values, chosen, result)
np.testing.assert_array_equal(result, np.where(chosen[:, None] >= 0, values[chosen], 0))
print("rows of a table: equal to NumPy's\n")

# 2. A sparse matrix times a dense one. The matrix as three arrays (CSR): its values row by row, the column of each,
#    and where each row begins. So row i has begin[i + 1] - begin[i] values: the extent of a reduce axis may be data,
#    if the axis is made inside of the formula, where i is known.
m, n, count = te.var("m"), te.var("n"), te.var("count")
data, column = te.placeholder((count,), name="data"), te.placeholder((count,), "int32", name="column")
begin, D = te.placeholder((m + 1,), "int32", name="begin"), te.placeholder((n, width), name="D")


def element(i, j):
    k = te.reduce_axis((0, begin[i + 1] - begin[i]), name="k")
    return te.sum(data[begin[i] + k] * D[column[begin[i] + k], j], axis=k)


Y = te.compute((m, width), element, name="Y")
args = [data, column, begin, D, Y]
i, j = Y.op.axis
(k,) = Y.op.reduce_axis
s = te.create_schedule(Y.op)
jo, ji = s[Y].split(j, factor=8)
s[Y].reorder(i, jo, k, ji)  # k inside of i, on which it depends; columns of D innermost
s[Y].parallel(i)
show("sparse by dense", tecomp.lower(s, args, name="sparse", simple_mode=True))

dense = random.integers(-4, 5, (6, 7)) * (random.random((6, 7)) < 0.4)
row, columns = np.nonzero(dense)
csr = (
    dense[row, columns].astype(np.float32),
    columns.astype(np.int32),
    np.concatenate([[0], np.cumsum(np.bincount(row, minlength=6))]).astype(np.int32),
)
d = random.integers(-4, 5, (7, 11)).astype(np.float32)
result = np.empty((6, 11), np.float32)
tecomp.build(s, args)(*csr, d, result)
np.testing.assert_array_equal(result, dense @ d)
print("sparse by dense: equal to NumPy's\n")

#    On a GPU: a row a block. All threads of a block take the same number of steps.
s = te.create_schedule(Y.op)
s[Y].bind(i, te.thread_axis("blockIdx.x"))
s[Y].bind(s[Y].split(j, factor=32)[1], te.thread_axis("threadIdx.x"))
checked(s, args, (*csr, d), (dense @ d).astype(np.float32), "sparse")

# 3. Scatter is the opposite: each value goes to a place that is data, and several may go to one. TE has formulas for
#    results, so it is said from there: C[j] is the sum of all V[i] with I[i] == j.
I, V = te.placeholder((count,), "int32", name="I"), te.placeholder((count,), name="V")
r = te.reduce_axis((0, count), name="r")
C = te.compute((7,), lambda j: te.sum(V[r], axis=r, where=I[r] == j), name="C")
s = te.create_schedule(C.op)
show("as created: each result looks at every value", tecomp.lower(s, [I, V, C], name="scatter"))

#    That is 7 times count. With r outside, j would run over all results for each value, to find the one with I[r] ==
#    j. A loop that does something in one iteration only becomes that iteration: the loop over j is gone.
s[C].reorder(r, C.op.axis[0])
show("reorder(r, j): a scatter", tecomp.lower(s, [I, V, C], name="scatter"))
places, v = random.integers(-2, 9, 100).astype(np.int32), random.integers(-4, 5, 100).astype(np.float32)
inside = (places >= 0) & (places < 7)  # places outside of C are left out
expected = np.bincount(places[inside], v[inside], minlength=7).astype(np.float32)
result = np.empty(7, np.float32)
tecomp.build(s, [I, V, C])(places, v, result)
np.testing.assert_array_equal(result, expected)
print("scatter: equal to NumPy's\n")

# 4. In parallel, two values may meet at one place, and one of them would be lost. That is what the refusal is about.
#    An atomic update is one step, which no other core can come between.
s = te.create_schedule(C.op)
try:
    s[C].parallel(r)
except TecompError as error:
    show(type(error).__name__, error)

s[C].parallel(r, reduce_update="atomic")
s[C].reorder(r, C.op.axis[0])
show("by all cores", tecomp.lower(s, [I, V, C], name="scatter"))
tecomp.build(s, [I, V, C])(places, v, result)
np.testing.assert_array_equal(result, expected)
print("scatter by all cores: equal to NumPy's\n")

#    And on a GPU: a value a thread. One kernel clears C, another one adds. Floats are added in another order at each
#    run; if that matters, keep it serial, or let rfactor make partial sums (tutorial 05).
s = te.create_schedule(C.op)
outer, inner = s[C].split(r, factor=32)
s[C].reorder(outer, inner, C.op.axis[0])
s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_update="atomic")
s[C].bind(inner, te.thread_axis("threadIdx.x"), reduce_update="atomic")
show("by threads", checked(s, [I, V, C], (places, v), expected, "scatter"))
source = tecomp.build(s, [I, V, C], name="scatter", target=TARGET).source
show("the second kernel", source[source.rindex('extern "C"') :])


# 5. What goes wrong. A loop whose length depends on another one cannot go outside of it.
def outside_of_what_it_depends_on():
    s = te.create_schedule(Y.op)
    s[Y].reorder(k, i)


# Nor can it be outside of the formula that knows i.
def outside_of_the_formula():
    rest = te.reduce_axis((0, begin[i + 1] - begin[i]), name="rest")
    te.compute((m,), lambda i: te.sum(data[begin[i] + rest], axis=rest), name="S")


for mistake in (outside_of_what_it_depends_on, outside_of_the_formula):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
