"""te.default_schedule: a decent schedule for every program, and a place to begin with your own.

python tutorials/17_default_schedule.py
"""

import sys

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.ir import interpret

TARGET = "cuda -arch=sm_90a"


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


# 1. The problem: a program that should run now, and be made fast where it matters later. Softmax of rows, four
#    stages.
n, m = te.var("n"), te.var("m")
X = te.placeholder((n, m), name="X")
k, l = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="l")
M = te.compute((n,), lambda i: te.max(X[i, k], axis=k), name="M")
E = te.compute((n, m), lambda i, j: te.exp(X[i, j] - M[i]), name="E")
S = te.compute((n,), lambda i: te.sum(E[i, l], axis=l), name="S")
Y = te.compute((n, m), lambda i, j: E[i, j] / S[i], name="Y")

# 2. `build` and `lower` take tensors too, and schedule them themselves. The arguments are the inputs, then the
#    results.
softmax = tecomp.build([Y], name="softmax")
for shape in ((0, 3), (1, 1), (3, 17), (64, 1000)):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    y = np.empty_like(x)
    softmax(x, y)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
print("softmax of four shapes: equal to NumPy's\n")

# 3. What they do is no secret: te.default_schedule(tensors, target) is the schedule, and its text is the Python of
#    it. On a CPU: rows on the cores, vectors along rows, reductions with 16 partial results (tutorial 05).
s = te.default_schedule([Y], "llvm")
show("for a CPU", s)
show("as Python", s.text())

# 4. For a GPU every stage is bound: blocks of 256 threads for elements, a block for each reduction, whose threads
#    join their parts (tutorial 06).
s = te.default_schedule([Y], TARGET)
show("for a GPU", s)
x = np.random.default_rng(1).standard_normal((2, 33)).astype(np.float32)
y = np.empty_like(x)
interpret(tecomp.lower([Y], target=TARGET), x, y)
powers = np.exp(x - x.max(axis=1, keepdims=True))
np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
y[:] = np.nan
tecomp.build([Y], target="cuda-sim")(x, y)
np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
if tecomp.cuda().exist:
    given = [tecomp.nd.array(array, tecomp.cuda()) for array in (x, np.zeros_like(y))]
    tecomp.build([Y], target="cuda")(*given)
    np.testing.assert_allclose(given[1].numpy(), y, rtol=1e-4)
    print("CUDA: equal to NumPy's", file=sys.stderr)
else:
    print("no GPU: interpreted and simulated only", file=sys.stderr)

# 5. Where it matters, take over. On the GPU those are four kernels, and E goes to memory and back. A schedule of your
#    own does a row in one kernel, with a warp, and computes the exponentials twice instead: copy the text, or write
#    it anew.
s = te.create_schedule(Y.op)
block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
i, j = Y.op.axis
s[E].compute_inline()
s[Y].bind(i, block)
for stage, axis in ((Y, j), (M, k), (S, l)):
    s[stage].bind(s[stage].split(axis, factor=32)[1], thread)
for stage in (M, S):
    s[stage].compute_at(s[Y], i)
show("one kernel", s)
program = tecomp.lower(s, [X, Y], name="softmax", target=TARGET)
for run in (lambda *arrays: interpret(program, *arrays), tecomp.build(s, [X, Y], target="cuda-sim")):
    y = np.empty_like(x)
    run(x, y)
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
print("softmax in one kernel: equal to NumPy's\n")

# 6. What goes wrong. A schedule can be added to, but what the default has done stays: its loops are no longer the
#    axes.
s = te.default_schedule([Y], "llvm")
try:
    s[Y].split(j, factor=4)
except ScheduleError as error:
    show(type(error).__name__, error)
