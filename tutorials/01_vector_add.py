"""Vector addition: declare it, schedule it, read it, build it, call it; on the CPU, then with CUDA.

    python tutorials/01_vector_add.py

What depends on the machine (is there a GPU?) goes to stderr; the rest is the same everywhere.
"""

import sys

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError
from tecomp_runtime import ArgumentError, LaunchError

try:
    import cupy

    has_gpu = cupy.is_available()
except ImportError:
    has_gpu = False


def show(title: str, text: object) -> None:
    print(f"== {title}\n\n{str(text).strip()}\n")


# 1. WHAT to compute. `n` has no value yet: one function will serve every length. A placeholder is an array that the
#    caller gives; te.compute calls the lambda once, with a symbolic index, and keeps the expression it returns.
n = te.var("n")
A = te.placeholder((n,), name="A")
B = te.placeholder((n,), name="B")
C = te.compute((n,), lambda i: A[i] + B[i], name="C")

show("the tensor C", C)
show("its element at i", C.op.body[0])

# 2. HOW to compute it. A new schedule is one plain loop for each axis. `lower` makes the loop program: it is data, and
#    prints as Python. The comment at the end of a line is the line of yours that it comes from.
s = te.create_schedule(C.op)
show("the schedule as created", s)
show("its program", tecomp.lower(s, [A, B, C], name="vector_add"))

# 3. Another how: blocks of eight elements, each block one vector instruction. Primitives change `s`, never the meaning:
#    eight need not divide n, so the program does the whole blocks first, and the rest under a mask, `live`.
#    ramp(start, 1, 8) is the vector of indices start, start + 1, ..., start + 7.
outer, inner = s[C].split(C.op.axis[0], factor=8)
s[C].vectorize(inner)
show("the schedule with vectors", s)
show("the Python that makes it", s.text())
show("its program", tecomp.lower(s, [A, B, C], name="vector_add"))

# 4. Build it for this machine's CPU and call it. The result is written into the array that you pass for C.
vector_add = tecomp.build(s, [A, B, C], target="llvm", name="vector_add")
show("what it takes", "\n".join(str(param) for param in vector_add.signature["params"]))

random = np.random.default_rng(0)
for length in (0, 1, 7, 8, 9, 1_000_003):
    a, b = random.random((2, length), dtype=np.float32)
    c = np.empty_like(a)
    vector_add(a, b, c)
    np.testing.assert_array_equal(c, a + b)
    print(f"n = {length}: equal to NumPy's")

# 5. Views work without a copy. For arrays with gaps a second variant, in which strides are arguments, is built at the
#    first such call; contiguous arrays never pay for it.
a, b = random.random((2, 100), dtype=np.float32)
c = np.empty(50, np.float32)
vector_add(a[::2], b[::-2], c)
np.testing.assert_array_equal(c, a[::2] + b[::-2])
print("every second element, the other backwards: equal to NumPy's\n")

# 6. Mistakes are refused where they are made: what was asked, your line, why not, what would be right.
#    A call checks its arguments before anything runs; n is 100 from A, so C must have 100 elements too.
try:
    vector_add(a, b, c)
except ArgumentError as error:
    show("ArgumentError", error)

#    A primitive checks itself when it is called, and when it refuses, the schedule is as it was. Here the axis `i` is
#    no loop any more: what can be split are the two loops that came of it.
try:
    s[C].split(C.op.axis[0], factor=4)
except ScheduleError as error:
    show("ScheduleError", error)

# 7. The same computation for a GPU is another schedule of the same C: blocks of 256 threads, an element a thread.
#    The guard `if` is there because 256 need not divide n.
s = te.create_schedule(C.op)
block, thread = s[C].split(C.op.axis[0], factor=256)
s[C].bind(block, te.thread_axis("blockIdx.x"))
s[C].bind(thread, te.thread_axis("threadIdx.x"))
show("the schedule for CUDA", s)
show("its program", tecomp.lower(s, [A, B, C], name="vector_add", target="cuda -arch=sm_90a"))

# 8. Building needs no GPU: source and machine code are there. (The architecture is named so that the text is the same
#    everywhere; plain "cuda" is the GPU that is present.)
source = tecomp.build(s, [A, B, C], target="cuda -arch=sm_90a", name="vector_add").source
show("its CUDA C++", source)

# 9. Nor does running it: for target "cuda-sim" the same program runs on NumPy arrays, and what a GPU would do wrong is
#    an error (tutorial 18).
simulated_add = tecomp.build(s, [A, B, C], target="cuda-sim", name="vector_add")
for length in (0, 1, 255, 256, 257, 10_007):
    a, b = random.random((2, length), dtype=np.float32)
    c = np.empty_like(a)
    simulated_add(a, b, c)
    np.testing.assert_array_equal(c, a + b)
print("simulated for n = 0, 1, 255, 256, 257, 10007: equal to NumPy's")

# 10. Calling the CUDA function needs a GPU. Arrays are CuPy's, or whatever speaks DLPack, such as PyTorch's.
cuda_add = tecomp.build(s, [A, B, C], target="cuda", name="vector_add")
a, b = random.random((2, 1_000_003), dtype=np.float32)
if has_gpu:
    c = cupy.empty(a.size, np.float32)
    cuda_add(cupy.asarray(a), cupy.asarray(b), c)
    np.testing.assert_array_equal(c.get(), a + b)
    print("CUDA: equal to NumPy's", file=sys.stderr)
else:
    try:
        cuda_add(a, b, np.empty_like(a))
    except LaunchError as error:
        print(f"LaunchError: {error}", file=sys.stderr)
