"""Tuple reductions: several values folded together. Argmax, and a mean with its variance.

    python tutorials/07_tuple_reductions.py

Read tutorial 05, on reductions, first. Where there is a GPU, the program for GPUs runs on it.
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


# 1. The problem: where is the greatest number of each row? One value does not do: to compare, the place of the best
#    so far and its value are needed. A reducer of pairs says how two of them join, and what joins without a change.
#    Equal values must not depend on the order: here the lower place wins, as it does in NumPy.
def better(x, y):
    first = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
    return te.Select(first, x[0], y[0]), te.Select(first, x[1], y[1])


def worst(place, value):
    return te.max_value(place), -te.infinity(value)


argmax = te.comm_reducer(better, worst, name="argmax")

n, m = te.var("n"), te.var("m")
A = te.placeholder((n, m), name="A")
k = te.reduce_axis((0, m), name="k")
place, value = te.compute((n,), lambda i: argmax((k.var, A[i, k]), axis=k), name="best")

#    Two results, one operation, one stage: s[place] and s[value] are the same. Both are arguments of the function.
s = te.create_schedule(place.op)
assert s[place].origin is s[value].origin
show("argmax of rows", tecomp.lower(s, [A, place, value], name="argmax"))

# 2. rfactor makes partial pairs: the best of each of 8 interleaved parts, then the best of those. It returns one
#    tensor for each result.
s = te.create_schedule(place.op)
_, part = s[place].split(k, factor=8)
part_place, part_value = s.rfactor(place, part)
s[part_place].compute_at(s[place], s[place].op.axis[0])
show("the best of 8 parts", s)


def numbers(rows, columns):
    """Return a matrix in which the greatest number of a row stands in it several times."""
    return np.random.default_rng(columns).integers(0, 4, (rows, columns)).astype(np.float32)


function = tecomp.build(s, [A, place, value])
for rows, columns in ((1, 1), (3, 7), (3, 8), (3, 9), (100, 1001)):
    a = numbers(rows, columns)
    where, what = np.empty(rows, np.int32), np.empty(rows, np.float32)
    function(a, where, what)
    np.testing.assert_array_equal(where, a.argmax(1))
    np.testing.assert_array_equal(what, a.max(1))
print("argmax of several sizes: equal to NumPy's\n")

# 3. This reducer is there already, as te.argmax, and te.argmin. There NaN wins, as it does in NumPy.
place, value = te.compute((n,), lambda i: te.argmax((k.var, A[i, k]), axis=k), name="best")

# 4. On a GPU: a warp a row. The lanes exchange pairs; whoever has the better one keeps it. (Tutorial 06 has more.)
s = te.create_schedule(place.op)
s[place].bind(place.op.axis[0], te.thread_axis("blockIdx.x"))
s[place].bind(s[place].split(k, factor=32)[1], te.thread_axis("threadIdx.x"))
device = tecomp.lower(s, [A, place, value], name="argmax", target=TARGET)
exchanges = [line for line in str(device).splitlines() if "shuffle" in line]
show("a warp a row: its exchanges", "\n".join(exchanges))
a = numbers(2, 70)
where, what = np.empty(2, np.int32), np.empty(2, np.float32)
interpret(device, a, where, what)
np.testing.assert_array_equal(where, a.argmax(1))
where, what = np.empty(2, np.int32), np.empty(2, np.float32)
tecomp.build(s, [A, place, value], target="cuda-sim")(a, where, what)
np.testing.assert_array_equal(where, a.argmax(1))
if tecomp.cuda().exist:
    a = numbers(100, 5000)
    given = [tecomp.nd.array(x, tecomp.cuda()) for x in (a, np.empty(100, np.int32), np.empty(100, np.float32))]
    tecomp.build(s, [A, place, value], target="cuda")(*given)
    np.testing.assert_array_equal(given[1].numpy(), a.argmax(1))
    print("CUDA: equal to NumPy's", file=sys.stderr)
else:
    print("no GPU: interpreted and simulated only", file=sys.stderr)


# 5. Any tuple will do. Mean and variance in one pass: the number of values, their mean, and the sum of squared
#    distances from it (Welford's). Two groups join exactly; the naive sum of squares would lose the digits that
#    matter.
def join(x, y):
    count = x[0] + y[0]
    share = te.Select(count > 0, y[0] / te.max(count, 1.0), 0.0)
    distance = y[1] - x[1]
    return count, x[1] + distance * share, x[2] + y[2] + distance * distance * x[0] * share


moments = te.comm_reducer(join, lambda *types: [te.const(0, dtype) for dtype in types], name="moments")
one, zero = te.const(1, "float32"), te.const(0, "float32")
count, mean, squares = te.compute((n,), lambda i: moments((one, A[i, k], zero), axis=k), name="moments")
variance = te.compute((n,), lambda i: squares[i] / count[i], name="variance")
s = te.create_schedule([mean.op, variance.op])
a = (1000 + np.random.default_rng(0).standard_normal((5, 400))).astype(np.float32)
average, spread = np.empty((2, 5), np.float32)
tecomp.build(s, [A, mean, variance])(a, average, spread)
np.testing.assert_allclose(average, a.mean(1), rtol=1e-6)
np.testing.assert_allclose(spread, a.astype(np.float64).var(1), rtol=1e-3)
print("mean and variance near 1000 and 1: equal to NumPy's\n")


# 6. What goes wrong. The reducer that everyone writes first: of equal values, the one on the left. In a loop over k
#    that is the first of them; in 8 parts it is the first of the part whose turn comes first. No one can tell from
#    the formula that this was not meant, so it is accepted; what it gives depends on the schedule.
left = te.comm_reducer(lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.max(x[1], y[1])), worst, name="left")
place, value = te.compute((n,), lambda i: left((k.var, A[i, k]), axis=k), name="best")
in_order, in_parts = te.create_schedule(place.op), te.create_schedule(place.op)
in_parts.rfactor(place, in_parts[place].split(k, factor=8)[1])
a = numbers(3, 100)
for name, s in (("in order", in_order), ("in parts", in_parts)):
    where, what = np.empty(3, np.int32), np.empty(3, np.float32)
    tecomp.build(s, [A, place, value])(a, where, what)
    print(f"the left one of equals, {name}: {where}, which hold {what}")
print()


# An identity is needed for each value: it is what a result begins with.
def one_identity():
    te.comm_reducer(better, lambda place, value: te.max_value(place), name="argmax")((k.var, A[0, k]), axis=k)


# Blocks update a result with one atomic operation, and there is none for pairs.
def updated_by_blocks():
    s = te.create_schedule(place.op)
    s[place].bind(k, te.thread_axis("blockIdx.x"), reduce_update="atomic")


for mistake in (one_identity, updated_by_blocks):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
