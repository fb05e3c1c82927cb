"""One small program at every stage of its way through the compiler: read this before the source.

    python tutorials/02_every_stage.py

    te.compute -> tensors -> schedule -> bounds -> LOOPS -> passes -> DEVICE -> FLAT -> LLVM or CUDA -> artifact -> call

Every arrow is one function, every value prints. The sections name the file that does the work.
"""

import sys

import numpy as np

import tecomp
from tecomp import te
from tecomp.bounds.infer import infer
from tecomp.bounds.program import Program
from tecomp.ir import alpha_equal, interpret, parse, text
from tecomp.ir.evaluate import ExecutionError
from tecomp.passes.pipeline import PIPELINE
from tecomp.te.graph import post_order
from tecomp_runtime import LaunchError

try:
    import cupy

    has_gpu = cupy.is_available()
except ImportError:
    has_gpu = False


def chapter(title: str) -> None:
    print(f"\n{title}\n{'=' * len(title)}")


# A whole `te` program: each element doubled, then neighbours added. B is n long, so C is one shorter: reading
# B[i + 1] for the last i of a C of length n would be refused here, by te.compute.
n = te.var("n")
A = te.placeholder((n,), name="A")
B = te.compute((n,), lambda i: A[i] * 2, name="B")
C = te.compute((n - 1,), lambda i: B[i] + B[i + 1], name="C")
expected = lambda a: 2 * a[:-1] + 2 * a[1:]

# te/tensor.py. A tensor is a result of an operation; an operation knows its axes, its body and the tensors it reads.
# Bodies are expressions, interned: equal ones are one object (ir/node.py).
chapter("1. Tensors: what to compute")
for op in post_order([C.op]):
    body = f" = {op.body[0]}" if op.input_tensors else ""
    print(f"{op.output(0)}{body}   reads {[tensor.name for tensor in op.input_tensors]}, declared at {op.loc}")
assert (A[C.op.axis[0].var] * 2) is (A[C.op.axis[0].var] * 2)

# schedule/. A primitive replaces the record of one stage by a new one, or refuses; the schedule keeps what was
# applied. Its text is Python that applies it again, and the sketch shows the stages in the loops that they are
# computed in: here, eight elements of C at a time, each time after the part of B that they need.
chapter("2. Schedule: how to compute it")
s = te.create_schedule(C.op)
outer, inner = s[C].split(C.op.axis[0], factor=8)
s[B].compute_at(s[C], outer)
s[C].vectorize(inner)
print(s.text())
print(s)

# bounds/infer.py. Which part of B is that? From the outputs backwards, each read is bounded while the loops inside
# the place of B run: C reads B[i] and B[i + 1] for eight i, that is nine elements. Where parts stick out over the
# tensor's end (8 need not divide n - 1), a guard is due.
chapter("3. Bounds: over which ranges")
for op, stage in infer(Program(s, [A, C])).items():
    (start, count), *_ = stage.region
    print(f"{op.name}: {count} elements from {start} on, where {stage.guards}")
    for axis, value in stage.values.items():
        print(f"   axis {axis.var.name}: {stage.domains[axis].extent} values, {value}")

# lowering/. One nest for each stage in its place, memory for what is no argument. This is a `Func` at level LOOPS:
# buffers have their dimensions, a loop has a kind (serial, vectorized, ...).
chapter("4. Lowered: the first loop program")
trace = tecomp.lower(s, [A, C], name="pairs", target="llvm", trace=True)
loops = trace[0].func
print(loops)

# The text of a program is Python syntax and reads back to the same program; and every program, at every level, can be
# run by the interpreter (ir/interpret.py). That is how the tests find the pass that breaks something.
assert alpha_equal(parse(text(loops)), loops)

a = np.random.default_rng(0).random(30, dtype=np.float32)
for step in trace:
    c = np.zeros(29, np.float32)
    interpret(step.func, a, c)
    np.testing.assert_array_equal(c, expected(a))

# passes/pipeline.py is a table: each pass, its targets, the level after it, and why it stands where it does. One pass
# takes a Func and returns one. (Printing a Trace, or a Step, shows the time each took.)
chapter("5. Passes: towards the machine")
reasons = {row.name: row.why_here for row in PIPELINE}
for step in trace[1:]:
    print(f"\n# {step.name}: {reasons[step.name]}")
    print(step.func if step.changed else "# nothing to do here")

# That was level FLAT: one offset for each access and machine integers, i64 here. codegen/llvm.py prints LLVM IR from
# it, nearly line by line. LLVM then optimises it for this machine and compiles it.
chapter("6. LLVM IR")
pairs = tecomp.build(s, [A, C], target="llvm", name="pairs")
print(pairs.source.strip())

# artifact.py. Source, machine code and signature are plain data; the runtime (runtime/tecomp_runtime) knows nothing
# else, and imports nothing of the compiler. Shapes are expressions: the call solves them for n, checks, and runs.
chapter("7. Artifact and call")
artifact = pairs.artifact
print(f"{artifact.kind} artifact '{artifact.name}', machine code: {artifact.binary[:4]!r}...")
for param in artifact.signature["params"]:
    print(f"   {param}")
print(f"   sizes: {artifact.signature['sizes']}")
for length in (1, 2, 9, 10, 1001):
    a = np.random.default_rng(length).random(length, dtype=np.float32)
    c = np.zeros(length - 1, np.float32)
    pairs(a, c)
    np.testing.assert_array_equal(c, expected(a))
print("called for n = 1, 2, 9, 10, 1001: equal to NumPy's")

# For a GPU: a block of threads makes 256 elements of C from 257 of B, which they put into shared memory together.
# The pass `launch` makes a kernel of the loops over threads (level DEVICE). Now a thread may read what another one has
# not yet written: the interpreter, which runs each thread as far as it gets, finds that, and says in which line of
# yours. `barrier` finds it by analysis, and lets the threads wait for each other there, and nowhere else.
chapter("8. The same for CUDA")
s = te.create_schedule(C.op)
block_x, thread_x = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
block, thread = s[C].split(C.op.axis[0], factor=256)
s[C].bind(block, block_x)
s[C].bind(thread, thread_x)
s[B].compute_at(s[C], block)
s[B].set_scope("shared")
_, loader = s[B].split(B.op.axis[0], factor=256)
s[B].bind(loader, thread_x)
print(s)
trace = tecomp.lower(s, [A, C], name="pairs", target="cuda -arch=sm_90a", trace=True)
for step in trace:
    if not step.changed:
        continue
    print(f"\n# {step.name}: {reasons.get(step.name, 'the first loop program')}\n{step.func}")
    c = np.zeros(1000, np.float32)
    try:
        interpret(step.func, a, c)
        np.testing.assert_array_equal(c, expected(a))
    except ExecutionError as error:
        print(f"\nExecutionError: {error}")

# Its artifact has a host part too: Python that computes the grid and launches. It needs no GPU up to here.
chapter("9. CUDA C++, and the host part")
pairs = tecomp.build(s, [A, C], target="cuda -arch=sm_90a", name="pairs")
print(f"{pairs.source.strip()}\n\n{pairs.artifact.host.strip()}")

# The simulator runs this program too: the same host part, the same kernels, on NumPy arrays.
c = np.zeros(1000, np.float32)
tecomp.build(s, [A, C], target="cuda-sim", name="pairs")(a, c)
np.testing.assert_array_equal(c, expected(a))
print("\nsimulated: equal to NumPy's")

pairs = tecomp.build(s, [A, C], target="cuda", name="pairs")
if has_gpu:
    c = cupy.zeros(1000, np.float32)
    pairs(cupy.asarray(a), c)
    np.testing.assert_array_equal(c.get(), expected(a))
    print("CUDA: equal to NumPy's", file=sys.stderr)
else:
    try:
        pairs(a, np.zeros(1000, np.float32))
    except LaunchError as error:
        print(f"LaunchError: {error}", file=sys.stderr)
