"""Scans: computing over time, each step from the steps before it. Three programs, on the CPU and with CUDA.

    python tutorials/03_scan.py        (or: make demo)

For each program: what it computes, its schedules, the lowered program, the generated LLVM IR and CUDA C++, and a
comparison with NumPy, on the CPU and in the simulator of a GPU. What depends on the machine (is there a GPU?) goes to
stderr.
"""

import inspect
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


def running_sum():
    """Running sums of the columns of X.

    A scan takes three things. `state` is a placeholder for the result so far. `init` gives its first rows, here one.
    `update` gives row t, and may read `state` at earlier steps: at t or later is refused. What the scan returns is the
    state at all steps. Time is the first dimension of each.
    """
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X])
    return [X, scan], [init, update]


def on_vectors(result, stages, lanes=8):
    """`init` and `update` are stages with loops of their own, and are scheduled apart; here both alike."""
    s = te.create_schedule(result.op)
    for stage in stages:
        _, inner = s[stage].split(stage.op.axis[1], factor=lanes)
        s[stage].vectorize(inner)
    return s


def on_threads(result, stages, threads=256):
    """A column a thread. Where each thread reads only what it wrote itself, the whole scan is one kernel."""
    s = te.create_schedule(result.op)
    block_x, thread_x = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    for stage in stages:
        block, thread = s[stage].split(stage.op.axis[1], factor=threads)
        s[stage].bind(block, block_x)
        s[stage].bind(thread, thread_x)
    return s


def two_stages():
    """A step of several stages: `double`, then `update`.

    Wherever `double` is placed, it is computed at each step: outside the scan the state that it reads does not exist.
    """
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    double = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="double")
    update = te.compute((m, n), lambda t, i: double[t, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X])
    return [X, scan], [init, double, update]


def double_in_blocks(result, stages):
    """`double` inside the loop over blocks of `update`: 32 elements of it are needed at a time, and kept."""
    _, double, update = stages
    s = te.create_schedule(result.op)
    block, _ = s[update].split(update.op.axis[1], factor=32)
    s[double].compute_at(s[update], block)
    return s


def double_in_threads(result, stages):
    """`double` in the innermost loop of `update`: each thread keeps the one element that it needs."""
    init, double, update = stages
    s = on_threads(result, [init, update])
    s[double].compute_at(s[update], s[update].leaf_iter_vars[-1])
    return s


def two_states():
    """Two states of different widths: `total` adds up the first column of `sums`. Both are results.

    A thread of `total` reads what another thread wrote, so one launch cannot do it: for CUDA, the host loops over time.
    """
    m, n, l = te.var("m"), te.var("n"), te.var("l")
    X = te.placeholder((m, n), name="X")
    sums, total = te.placeholder((m, n), name="sums"), te.placeholder((m, l), name="total")
    init_sums = te.compute((1, n), lambda _, i: X[0, i], name="init_sums")
    init_total = te.compute((1, l), lambda _, i: 0.0, name="init_total")
    new_sums = te.compute((m, n), lambda t, i: sums[t - 1, i] + X[t, i], name="new_sums")
    new_total = te.compute((m, l), lambda t, i: total[t - 1, i] + sums[t - 1, 0], name="new_total")
    scans = te.scan([init_sums, init_total], [new_sums, new_total], [sums, total], inputs=[X])
    return [X, *scans], [init_sums, init_total, new_sums, new_total]


def as_created(result, stages):
    """One serial loop for each axis."""
    return te.create_schedule(result.op)


def doubled(x):
    rows = [x[0]]
    for row in x[1:]:
        rows.append(rows[-1] * 2 + row)
    return np.array(rows)


def sums_and_total(x, width=5):
    sums = np.cumsum(x, axis=0)
    total = np.cumsum(np.concatenate([[0], sums[:-1, 0]]), dtype=np.float32)
    return sums, np.repeat(total[:, None], width, axis=1)


# Each program, its schedules for CPU and CUDA, and what NumPy says.
PROGRAMS = (
    (running_sum, on_vectors, on_threads, lambda x: [np.cumsum(x, axis=0)]),
    (two_stages, double_in_blocks, double_in_threads, lambda x: [doubled(x)]),
    (two_states, as_created, on_threads, sums_and_total),
)


def show(title, *texts):
    print(f"\n== {title}\n\n" + "\n\n".join(str(text).strip() for text in texts))


def compare(function, numpy_says, memory=np):
    """Call one built function on matrices of several sizes, in the memory of `memory` (numpy or cupy)."""
    for m, n in ((1, 1), (10, 1024), (7, 31), (64, 1000)):
        x = np.random.default_rng(m).random((m, n), dtype=np.float32)
        expected = numpy_says(x)
        results = [memory.full(want.shape, np.nan, dtype=np.float32) for want in expected]
        function(memory.asarray(x), *results)
        for result, want in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result if memory is np else result.get(), want)
    return "equal to NumPy's for (m, n) = (1, 1), (10, 1024), (7, 31), (64, 1000)"


for program, cpu, cuda, numpy_says in PROGRAMS:
    name = program.__name__
    args, stages = program()
    print(f"\n{'=' * 20} {name} {'=' * 20}")
    show("the program", inspect.getsource(program))

    s = cpu(args[1], stages)
    show("its schedule for the CPU", inspect.getsource(cpu), s)
    whole, parted = tecomp.lower(s, args, name=name, simple_mode=True), tecomp.lower(s, args, name=name)
    show("lowered, in simple mode", whole)
    if str(parted) != str(whole):
        show("lowered, full blocks apart from the rest", parted)
    function = tecomp.build(s, args, target="llvm", name=name)
    show("LLVM IR", function.source)
    show("called on the CPU", compare(function, numpy_says))

    s = cuda(args[1], stages)
    show("its schedule for CUDA", inspect.getsource(cuda), s)
    show("lowered", tecomp.lower(s, args, name=name, target="cuda -arch=sm_90a"))
    function = tecomp.build(s, args, target="cuda -arch=sm_90a", name=name)
    show("CUDA C++, and the host part", function.source, function.artifact.host)
    function = tecomp.build(s, args, target="cuda-sim", name=name)
    show("called in the simulator, which needs no GPU", compare(function, numpy_says))
    function = tecomp.build(s, args, target="cuda", name=name)
    try:
        result = compare(function, numpy_says, cupy if has_gpu else np)
    except LaunchError as error:
        result = f"LaunchError: {error}"
    print(f"\n== called on the GPU\n\n{result}", file=sys.stderr)

# The time loop belongs to the scan. Splitting the time axis of `update` is refused; the scan's own axis can be split.
print("\n==================== refusals ====================")
args, (init, update) = running_sum()
s = te.create_schedule(args[1].op)
try:
    s[update].split(update.op.axis[0], factor=4)
except ScheduleError as error:
    show("ScheduleError", error)
s[args[1]].split(args[1].op.scan_axis, factor=4)

# A scan has at least the rows of its `init`. That is checked at the call, before anything runs.
function = tecomp.build(s, args, name="running_sum")
try:
    function(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))
except ArgumentError as error:
    show("ArgumentError", error)
