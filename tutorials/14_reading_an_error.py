"""Reading an error: what a refusal says, what is checked when, and s.explain() for what would be legal.

python tutorials/14_reading_an_error.py
"""

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError, TecompError
from tecomp.ir import interpret
from tecomp.ir.evaluate import ExecutionError
from tecomp_runtime import ArgumentError


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


# 1. Four parts. A softmax-like program: M is the maximum of each row, E the exponentials, both read by what follows.
n = te.var("n")
A = te.placeholder((n, 100), name="A")
k = te.reduce_axis((0, 100), name="k")
M = te.compute((n,), lambda i: te.max(A[i, k], axis=k), name="M")
E = te.compute((n, 100), lambda i, j: te.exp(A[i, j] - M[i]), name="E")
l = te.reduce_axis((0, 100), name="l")
S = te.compute((n,), lambda i: te.sum(E[i, l], axis=l), name="S")
Y = te.compute((n, 100), lambda i, j: E[i, j] / S[i], name="Y")

s = te.create_schedule(Y.op)
try:
    s[S].vectorize(l)
except ScheduleError as error:
    show("ScheduleError", error)

    # The first line is what was asked; the arrow is where, in your file; then why not, with the stage and the axis by
    # name; then what would be right, to be copied. They are attributes as well.
    print(f"asked   {error.asked}")
    print(f"where   line {error.location.line}")
    print(f"because {error.because}")
    print(f"legal   {error.legal}\n")

# 2. Some of it is known at once, as above, and then the schedule stays as it was: go on with another call. Whether a
#    place is possible depends on calls that come later (a reader may move as well), so it is checked when the
#    schedule is lowered. The arrow still points at the line that asked for it, not at `lower`.
s = te.create_schedule(Y.op)
s[E].compute_at(s[S], S.op.axis[0])
try:
    tecomp.lower(s, [A, Y])
except ScheduleError as error:
    show("at lower", error)

#    It names two ways: E at the root, or a copy of E for Y alone. A third is to remove the reason, which is that Y is
#    outside: with S computed in a row of Y, E can be, too.
s = te.create_schedule(Y.op)
i = Y.op.axis[0]
for stage in (M, E, S):
    s[stage].compute_at(s[Y], i)
show("all in one row", tecomp.lower(s, [A, Y], name="softmax"))
a = np.random.default_rng(0).random((3, 100), dtype=np.float32)
y = np.empty_like(a)
tecomp.build(s, [A, Y])(a, y)
np.testing.assert_allclose(y, np.exp(a) / np.exp(a).sum(1, keepdims=True), rtol=1e-5)

# 3. Before asking: s.explain() says of each stage where it is computed, which part of it, in how much memory; at
#    which places it could be computed; and which primitives are legal on each loop now, and why the others are not.
#    Here, of S.
show("s.explain(S)", s.explain(S)[0])


# 4. Mistakes in a formula are found by te.compute, before there is a schedule.
def one_too_many():
    te.compute((n, 101), lambda i, j: A[i, j], name="B")


def a_float_as_an_index():
    te.compute((n,), lambda i: A[i, A[i, 0]], name="B")


def too_large():
    te.compute((n,), lambda i: A[i, 0].astype("int8") + 300, name="B")


for mistake in (one_too_many, a_float_as_an_index, too_large):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)

# 5. Mistakes in a call are found before anything runs: types, ranks, sizes that do not agree, memory that overlaps.
function = tecomp.build(s, [A, Y], name="softmax")
a, y = np.zeros((3, 100), np.float32), np.zeros((3, 100), np.float32)
for arrays in ((a.astype(np.float64), y), (a, y[:2]), (a, a)):
    try:
        function(*arrays)
    except ArgumentError as error:
        show("ArgumentError", error)

# 6. What no one can know before: an index that comes from data. A compiled program trusts it, as C does. The
#    interpreter checks every access, and says which one it was, and in which line of the formula.
I = te.placeholder((4,), "int32", name="I")
B = te.compute((4,), lambda i: A[I[i], 0], name="B")
program = tecomp.lower(te.create_schedule(B.op), [A, I, B])
try:
    interpret(program, a, np.array([0, 2, 3, 1], np.int32), np.zeros(4, np.float32))
except ExecutionError as error:
    show(type(error).__name__, error)
