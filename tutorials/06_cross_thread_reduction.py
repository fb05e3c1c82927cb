"""Reductions by the threads of a GPU: one sum that many threads make together.

    python tutorials/06_cross_thread_reduction.py

No GPU is needed: programs are lowered, run thread by thread in the interpreter, and compiled. Where there is one,
they run on it too.
"""

import sys

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.ir import interpret

TARGET = "cuda -arch=sm_90a"  # named, so that what is printed is the same everywhere; "cuda" is the GPU that is present


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


# The problem: sums of rows, few rows and long ones. A row a thread would leave most of the GPU idle.
n, m = te.var("n"), te.var("m")
A = te.placeholder((n, m), name="A")
k = te.reduce_axis((0, m), name="k")
B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
i = B.op.axis[0]
block, thread_x, thread_y = (te.thread_axis(tag) for tag in ("blockIdx.x", "threadIdx.x", "threadIdx.y"))


def checked(s):
    """Return the program for the device, after it was interpreted, simulated, and run on a GPU that is there."""
    device = tecomp.lower(s, [A, B], name="sums", target=TARGET)
    simulated = tecomp.build(s, [A, B], target="cuda-sim")
    for rows, columns in ((1, 0), (3, 1), (2, 31), (2, 32), (2, 65)):
        a = np.random.default_rng(columns).integers(-9, 9, (rows, columns)).astype(np.float32)
        for run in (lambda *arrays: interpret(device, *arrays), simulated):
            b = np.full(rows, np.nan, np.float32)
            run(a, b)
            np.testing.assert_array_equal(b, a.sum(1))
    if tecomp.cuda().exist:
        a = np.random.default_rng(0).integers(-9, 9, (100, 5000)).astype(np.float32)
        b = tecomp.nd.array(np.full(100, np.nan, np.float32), tecomp.cuda())
        tecomp.build(s, [A, B], target="cuda")(tecomp.nd.array(a, tecomp.cuda()), b)
        np.testing.assert_array_equal(b.numpy(), a.sum(1))
        print("CUDA: equal to NumPy's", file=sys.stderr)
    else:
        print("no GPU: interpreted and simulated only", file=sys.stderr)
    return device


# 1. A block a row, 32 threads a block: bind a loop over k to threadIdx.x. Each thread sums every 32nd element, so
#    that neighbours read neighbouring memory. In the first program, `across` says what is shared out among which
#    threads; the threads' parts are still to be joined. How, depends on the threads: here they are one warp, whose
#    threads can read each other's registers. shuffle_xor(x, 16, -1) is the x of the thread whose number differs in
#    the bit 16: after five of them every thread has the whole sum, without shared memory and without a barrier.
s = te.create_schedule(B.op)
s[B].bind(i, block)
_, lane = s[B].split(k, factor=32)
s[B].bind(lane, thread_x)
show("a warp a row, as scheduled", tecomp.lower(s, [A, B], name="sums"))
show("for the device", checked(s))

#    TE programs often say it in more words: a stage of partial sums by rfactor, computed in the thread, and a predicate
#    for the one that stores. That gives the same.
s = te.create_schedule(B.op)
P = s.rfactor(B, s[B].split(k, factor=32)[1])
lane = s[B].op.reduce_axis[0]
s[B].bind(i, block)
s[B].bind(lane, thread_x)
s[P].compute_at(s[B], lane)
s[B].set_store_predicate(thread_x.var.equal(0))
checked(s)

# 2. 256 threads a row are 8 warps. Each joins its own by shuffles; then one number a warp goes through shared memory.
s = te.create_schedule(B.op)
s[B].bind(i, block)
_, lane = s[B].split(k, factor=256)
s[B].bind(lane, thread_x)
program = str(checked(s))
show("8 warps a row, after the shuffles", program[program.index("        with scope") :].rstrip())

# 3. Four rows a block: the rows on threadIdx.y, 32 lanes each. Four warps work beside each other and do not meet.
#    `if` guards rows that are not there; all lanes of a warp come to its shuffles, or none.
s = te.create_schedule(B.op)
rows, row = s[B].split(i, factor=4)
s[B].bind(rows, block)
s[B].bind(row, thread_y)
_, lane = s[B].split(k, factor=32)
s[B].bind(lane, thread_x)
show("four rows a block", checked(s))

# 4. Every thread has the sum, and so a stage after it can go on in the same kernel: softmax's denominators, a norm.
#    Here each row is divided by its sum; the second stage is written by the same threads.
share = te.compute((n, m), lambda i, j: A[i, j] / B[i], name="share")
s = te.create_schedule(share.op)
row, column = share.op.axis
s[share].bind(row, block)
_, lane = s[share].split(column, factor=32)
s[share].bind(lane, thread_x)
s[B].compute_at(s[share], row)
_, lane = s[B].split(k, factor=32)
s[B].bind(lane, thread_x)
device = tecomp.lower(s, [A, share], name="shares", target=TARGET)
a = np.random.default_rng(1).random((3, 70), dtype=np.float32)
for run in (lambda *arrays: interpret(device, *arrays), tecomp.build(s, [A, share], target="cuda-sim")):
    result = np.empty_like(a)
    run(a, result)
    np.testing.assert_allclose(result, a / a.sum(1, keepdims=True), rtol=1e-5)
show("shares of a row's sum, one kernel", tecomp.lower(s, [A, share], name="shares"))

# 5. One very long row: several blocks for one sum. Blocks cannot wait for each other in the middle of a kernel, so
#    binding k to blockIdx.x is refused, and the message names the two ways there are.
s = te.create_schedule(B.op)
parts, _ = s[B].split(k, nparts=8)
try:
    s[B].bind(parts, block)
except ScheduleError as error:
    show("ScheduleError", error)

#    The first way: partial sums to memory, joined by a second kernel.
P = s.rfactor(B, parts)
s[P].bind(s[P].op.axis[0], block)
s[P].bind(s[P].split(s[P].op.reduce_axis[0], factor=32)[1], thread_x)
s[B].bind(s[B].op.axis[0], te.thread_axis("blockIdx.x"))
show("partial sums, then their sums", checked(s))

#    The second: each block adds its part to the result, atomically. Which block comes first changes from run to run,
#    and so may the last bits of a float.
s = te.create_schedule(B.op)
P = s.rfactor(B, s[B].split(k, nparts=8)[0])
s[P].bind(s[P].split(s[P].op.reduce_axis[0], factor=32)[1], thread_x)
part = s[B].op.reduce_axis[0]
s[B].reorder(part, i)
s[B].bind(part, block, reduce_update="atomic")
s[P].compute_at(s[B], i)
program = str(checked(s))
show('reduce_update="atomic", after the shuffles', program[program.rindex("            if threadIdx") :])

# 6. The CUDA C++ of the last one: what every program above becomes. `for` and `if` are C's, shuffles are intrinsics.
source = tecomp.build(s, [A, B], name="sums", target=TARGET).source
show("its kernel", source[source.rindex('extern "C"') :])
