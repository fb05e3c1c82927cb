"""A recurrent cell: an LSTM as a scan; on the CPU, and as one GPU kernel that lives over all time steps.

    python tutorials/13_recurrent_cell.py

Read tutorial 03, on scans, first. No GPU is needed: the interpreter runs the kernel thread by thread.
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


def part(program, start, stop="\0"):
    """Return the lines of a program from the one with `start` to before the next with `stop`, without line numbers."""
    lines = [line.partition("  #")[0] for line in str(program).splitlines()]
    first = next(at for at, line in enumerate(lines) if start in line)
    last = next((at for at, line in enumerate(lines) if at > first and stop in line), len(lines))
    return "\n".join(lines[first:last])


# 1. The problem. Of each step t, batch row i and unit j:
#
#        gates = W h[t-1] + x[t]                         four of them: enter, forget, change, leave
#        c[t]  = sigmoid(forget) c[t-1] + sigmoid(enter) tanh(change)
#        h[t]  = sigmoid(leave) tanh(c[t])
#
#    Two states, c and h, so a scan of two. x is what the inputs contribute; that needs no recurrence, and is one
#    large matrix product for all steps before the scan begins. W h[t-1] is inside of it: a step reads all of the last
#    h.
STEPS, BATCH, UNITS = 5, 2, 8
X = te.placeholder((STEPS, BATCH, 4, UNITS), name="X")
W = te.placeholder((4, UNITS, UNITS), name="W")
shape = (STEPS, BATCH, UNITS)
last_c, last_h = te.placeholder(shape, name="last_c"), te.placeholder(shape, name="last_h")
first_c = te.compute((1, BATCH, UNITS), lambda _, i, j: 0.0, name="first_c")
first_h = te.compute((1, BATCH, UNITS), lambda _, i, j: 0.0, name="first_h")

k = te.reduce_axis((0, UNITS), name="k")
back = te.compute(
    (STEPS, BATCH, 4, UNITS), lambda t, i, g, j: te.sum(last_h[t - 1, i, k] * W[g, j, k], axis=k), name="back"
)
gates = te.compute(back.shape, lambda t, i, g, j: back[t, i, g, j] + X[t, i, g, j], name="gates")
enter, forget, leave = (
    te.compute(shape, lambda t, i, j, gate=gate: te.sigmoid(gates[t, i, gate, j]), name=name)
    for gate, name in ((0, "enter"), (1, "forget"), (3, "leave"))
)
change = te.compute(shape, lambda t, i, j: te.tanh(gates[t, i, 2, j]), name="change")
next_c = te.compute(
    shape, lambda t, i, j: forget[t, i, j] * last_c[t - 1, i, j] + enter[t, i, j] * change[t, i, j], name="next_c"
)
next_h = te.compute(shape, lambda t, i, j: leave[t, i, j] * te.tanh(next_c[t, i, j]), name="next_h")
C, H = te.scan([first_c, first_h], [next_c, next_h], [last_c, last_h], inputs=[X], name="lstm")
args = [X, W, C, H]


def reference(x, w):
    """What it means, in NumPy."""
    sigmoid = lambda z: 1 / (1 + np.exp(-z))
    c, h = np.zeros((2, STEPS, BATCH, UNITS), np.float32)
    for t in range(1, STEPS):
        enter, forget, change, leave = np.einsum("bk,gjk->gbj", h[t - 1], w) + x[t].transpose(1, 0, 2)
        c[t] = sigmoid(forget) * c[t - 1] + sigmoid(enter) * np.tanh(change)
        h[t] = sigmoid(leave) * np.tanh(c[t])
    return c, h


random = np.random.default_rng(0)
x = random.standard_normal((STEPS, BATCH, 4, UNITS)).astype(np.float32)
w = (random.standard_normal((4, UNITS, UNITS)) * 0.3).astype(np.float32)
expected = reference(x, w)


def compare(function, where):
    c, h = np.empty((2, STEPS, BATCH, UNITS), np.float32)
    function(x, w, c, h)
    np.testing.assert_allclose(c, expected[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(h, expected[1], rtol=1e-4, atol=1e-6)
    print(f"{where}: equal to NumPy's\n")


# 2. On the CPU. Formulas without a loop of their own are inlined. Of the product, the loop over k goes outside the
#    units, so that these are a vector. All of it stands in the loop over time: a stage that reads the state is
#    computed at each step.
def inlined():
    s = te.create_schedule(C.op)
    for stage in (gates, enter, forget, change, leave):
        s[stage].compute_inline()
    return s


s = inlined()
t, i, g, j = back.op.axis
s[back].reorder(i, g, k, j)
s[back].vectorize(j)
for stage in (next_c, next_h):
    s[stage].vectorize(stage.op.axis[2])
show("a step on the CPU", part(tecomp.lower(s, args, name="lstm"), "for lstm_idx"))
compare(tecomp.build(s, args), "on the CPU")

# 3. On a GPU. A kernel a step would read W from memory at each step; between them, 64 steps and 4 MB of weights, that
#    is all the time it takes. The other way: one kernel lives over all steps. Its threads are those of the scan,
#    env_threads; each thread works on its units at every step, and keeps its rows of W in registers from the first
#    step to the last.
BLOCKS, THREADS = 2, 2
block, thread = te.thread_axis((0, BLOCKS), "blockIdx.x"), te.thread_axis((0, THREADS), "threadIdx.x")


def persistent():
    s = inlined()
    s[C].env_threads([block, thread])
    for stage in (first_c, first_h, next_c, next_h, back):
        outer, rest = s[stage].split(stage.op.axis[-1], nparts=BLOCKS)
        middle, inner = s[stage].split(rest, nparts=THREADS)
        s[stage].reorder(outer, middle, *stage.op.axis[1:-1], inner)
        s[stage].bind(outer, block)
        s[stage].bind(middle, thread)
    s[back].set_scope("global")
    own = s.cache_read(W, "local", [back])
    s[own].compute_at(s[C], thread)  # inside of the threads, outside of time
    return s


# In the program, each thread first fills its W_local; then comes the loop over time. A step needs what other blocks
# did in the last one: barrier_grid lets all blocks wait for each other. That needs all of them on the GPU at once: the
# launch is a cooperative one, and a call with too many blocks is refused. The host part gives the barrier a counter.
# One barrier a step is enough: a thread reads the gates that it made itself, and nobody else's.
s = persistent()
program = tecomp.lower(s, args, name="lstm", target=TARGET)
show("one kernel for all steps", part(program, "def"))
compare(lambda *arrays: interpret(program, *arrays), "the kernel, thread by thread")
function = tecomp.build(s, args, name="lstm", target=TARGET)
show("its host part", function.artifact.host)
compare(tecomp.build(s, args, name="lstm", target="cuda-sim"), "the kernel, all its blocks at once in the simulator")

if tecomp.cuda().exist:
    given = [tecomp.nd.array(array, tecomp.cuda()) for array in (x, w, *np.empty((2, STEPS, BATCH, UNITS), np.float32))]
    tecomp.build(s, args, target="cuda")(*given)
    np.testing.assert_allclose(given[-1].numpy(), expected[1], rtol=1e-3, atol=1e-5)
    print("CUDA: equal to NumPy's", file=sys.stderr)
else:
    print("no GPU: interpreted and simulated only", file=sys.stderr)


# 4. What goes wrong. A step reads steps before it only.
def same_step():
    state = te.placeholder(shape, name="state")
    update = te.compute(shape, lambda t, i, j: state[t, i, j] + 1, name="update")
    te.scan(first_c, update, state)


# Time is no loop of a stage in the scan: it belongs to the scan, and runs in order.
def time_in_parallel():
    s = te.create_schedule(C.op)
    s[next_c].parallel(next_c.op.axis[0])


# The threads of the kernel are there before its stages: how many must be known.
def how_many_blocks():
    s = inlined()
    s[C].env_threads([te.thread_axis("blockIdx.x"), thread])
    tecomp.lower(s, args, target=TARGET)


# Without env_threads the weights have no place to stay: between two kernels registers are lost.
def kept_between_kernels():
    s = inlined()
    own = s.cache_read(W, "local", [back])
    s[own].compute_at(s[C], C.op.scan_axis)
    s[back].bind(back.op.axis[3], te.thread_axis("threadIdx.x"))
    for stage in (first_c, first_h, next_c, next_h):
        s[stage].bind(stage.op.axis[2], te.thread_axis("threadIdx.x"))
    tecomp.build(s, args, target=TARGET)


for mistake in (same_step, time_in_parallel, how_many_blocks, kept_between_kernels):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
