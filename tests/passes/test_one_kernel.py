"""Scans in one kernel: where barriers of the grid stand, what threads keep, and that it is right."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError, TecompError
from tecomp.ir.interpret import interpret
from tecomp.ir.parse import parse
from tecomp.ir.stmt import Launch
from tecomp.ir.visit import walk
from tecomp.passes import launch
from tecomp.passes.events import is_grid_barrier
from tecomp.schedule import create_schedule
from tecomp.target import Target
from tecomp_runtime.errors import CallError

from ..schedule.test_text import made_again
from .recurrent import bound_to, living_threads, lstm, matrix_powers, powers_in_parts

PROGRAMS = {
    "in registers": lambda: matrix_powers(5),
    "in shared memory": lambda: matrix_powers(5, keep="shared"),
    "not kept": lambda: matrix_powers(5, keep=""),
    "one step": lambda: matrix_powers(1, value=1),
    "symbolic": lambda: matrix_powers(te.var("m"), value=4),
    "one block": lambda: matrix_powers(5, blocks=1),
    "one thread": lambda: matrix_powers(5, threads=1),
    "a ragged size": lambda: matrix_powers(5, size=13, blocks=2, threads=3, keep=""),
    "in parts": powers_in_parts,
    "lstm": lstm,
}


def results(run, program):
    outputs = [np.full(want.shape, np.nan, "f") for want in program.expected]
    run(*program.inputs, *outputs)
    for got, want in zip(outputs, program.expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_interpreted(name):
    """The program is right before threads are told apart, and with all of them at once."""
    program = PROGRAMS[name]()
    for target in (None, "cuda"):
        func = tecomp.lower(program.schedule, program.args, target=target)
        results(lambda *arrays, func=func: interpret(func, *arrays), program)
    assert made_again(program.schedule) == program.schedule.text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name):
    program = PROGRAMS[name]()
    module = tecomp.build(program.schedule, program.args, target="cuda")
    (kernel,) = module.artifact.kernels
    together = name not in ("one block", "one step")
    assert kernel["cooperative"] is together
    assert ("alloc('uint64', 1, zero=True)" in module.artifact.host) is together


@pytest.mark.gpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_a_gpu(name):
    cupy = pytest.importorskip("cupy")
    program = PROGRAMS[name]()
    module = tecomp.build(program.schedule, program.args, target="cuda")

    def run(*arrays):
        given = [cupy.asarray(array) for array in arrays]
        module(*given)
        for array, result in zip(arrays, given, strict=True):
            array[...] = result.get()

    results(run, program)


@pytest.mark.gpu
def test_more_blocks_than_run_at_once():
    cupy = pytest.importorskip("cupy")
    s, H = _mirrored(1 << 20)
    block, thread = living_threads(1 << 14, 64)
    s[H].env_threads([block, thread])
    for tensor in (*H.op.init, *H.op.update):
        bound_to(s, tensor, tensor.op.axis[1], block, thread)
    X = H.op.inputs[0]
    with pytest.raises(CallError, match=r"16384 blocks that wait for each other\n *because: at most \d+ run"):
        tecomp.build(s, [X, H], target="cuda")(*(cupy.zeros((6, 1 << 20), "f") for _ in range(2)))


@pytest.mark.parametrize("name", ["in registers", "in shared memory", "in parts", "lstm"])
def test_the_program(name, golden):
    program = PROGRAMS[name]()
    loops = tecomp.lower(program.schedule, program.args)
    device = tecomp.lower(program.schedule, program.args, target="cuda")
    golden(f"{loops!r}\n\n{device!r}\n")


def barriers(func):
    return sum(is_grid_barrier(node) for node in walk(func.body))


def test_barriers_stand_only_between_what_blocks_do_to_each_other():
    """One before the steps and one in each, for all that is passed on; none where columns keep to themselves."""
    assert barriers(tecomp.lower(*_lowered(matrix_powers(5)), target="cuda")) == 2
    columns = tecomp.lower(*_lowered(_column_sums()), target="cuda")
    assert barriers(columns) == 0
    assert sum(isinstance(node, Launch) for node in walk(columns.body)) == 1


def _lowered(program):
    return program.schedule, program.args


def _column_sums():
    X, state = te.placeholder((6, 16), name="X"), te.placeholder((6, 16), name="state")
    init = te.compute((1, 16), lambda _, i: X[0, i], name="init")
    update = te.compute((6, 16), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    s = create_schedule(S.op)
    block, thread = living_threads(2, 4)
    s[S].env_threads([block, thread])
    for tensor in (init, update):
        bound_to(s, tensor, tensor.op.axis[1], block, thread)
    x = np.random.default_rng(0).standard_normal((6, 16)).astype("f")
    return type(matrix_powers(1, value=1))(s, [X, S], [x], [np.cumsum(x, 0, dtype="f")])


def test_columns_alone():
    program = _column_sums()
    func = tecomp.lower(program.schedule, program.args, target="cuda")
    results(lambda *arrays: interpret(func, *arrays), program)


BAD = {
    "of a compute": lambda p: p.schedule[p.args[0]].env_threads([te.thread_axis((0, 2), "blockIdx.x")]),
    "twice": lambda p: p.schedule[p.args[-1]].env_threads([te.thread_axis((0, 2), "blockIdx.x")]),
}
BAD_THREADS = {
    "no list": lambda: te.thread_axis((0, 2), "blockIdx.x"),
    "no thread axis": lambda: [te.reduce_axis((0, 4))],
    "a virtual thread": lambda: [te.thread_axis((0, 4), "vthread")],
    "no extent": lambda: [te.thread_axis("blockIdx.x")],
    "a symbolic extent": lambda: [te.thread_axis((0, te.var("n")), "blockIdx.x")],
    "one tag twice": lambda: [te.thread_axis((0, 2), "blockIdx.x"), te.thread_axis((0, 4), "blockIdx.x")],
    "a start": lambda: [te.thread_axis((1, 4), "blockIdx.x")],
}


def test_refused(golden):
    messages = []
    for name, attempt in BAD.items():
        program = matrix_powers(3, value=3)
        messages.append(_refusal(name, lambda attempt=attempt, program=program: attempt(program)))
    for name, threads in BAD_THREADS.items():
        s, H = _mirrored()
        messages.append(_refusal(name, lambda s=s, H=H, threads=threads: s[H].env_threads(threads())))
    golden("\n".join(messages))


def _refusal(name, attempt):
    with pytest.raises(TecompError) as caught:
        attempt()
    message = re.sub(r"(--> \w+\.py):\d+", r"\1:LINE", str(caught.value))
    return f"# {name}\n{type(caught.value).__name__}: {message}\n"


def _mirrored(size=16):
    """A scan each column of which needs the step before of the column on the other side."""
    X, state = te.placeholder((6, size), name="X"), te.placeholder((6, size), name="state")
    init = te.compute((1, size), lambda _, i: X[0, i], name="init")
    update = te.compute((6, size), lambda t, i: state[t - 1, size - 1 - i] + X[t, i], name="update")
    H = te.scan(init, update, state, inputs=[X], name="H")
    return create_schedule(H.op), H


def test_what_lowering_refuses(golden):
    messages = []
    program = matrix_powers(3, value=3, keep="")
    s, (W, _, H) = program.schedule, program.args
    thread = s[H].state.env[1]
    product = next(stage for stage in s.stages if stage.name == "product")
    kept = s.cache_read(W, "local", [product.op])
    s[kept].compute_at(s[H], thread)
    s[product.op].compute_root()
    s[product.op].set_scope("global")
    messages.append(_refusal("a reader that binds none of the threads", lambda: tecomp.lower(s, program.args)))
    s, H = _mirrored()
    s[H].env_threads([te.thread_axis((0, 4), "blockIdx.x")])
    update = H.op.update[0]
    s[update].bind(update.op.axis[1], te.thread_axis("blockIdx.x"))
    messages.append(_refusal("a loop of another extent", lambda: tecomp.lower(s, [*H.op.inputs, H])))
    golden("\n".join(messages))


MET_IN_ONE_NEST = """
def f(A: out[f32[n, 8]]):
    for t in range(n, pragmas=[('one_kernel', 'blockIdx.x=8')]):
        for i in thread('blockIdx.x', 8):
            A[t, i] = A[t, 7 - i]
"""
GROWING = """
def f(A: out[f32[n, 8]]):
    for t in range(n, pragmas=[('one_kernel', 'blockIdx.x=8')]):
        T = alloc(f32[t, 8])
        for i in thread('blockIdx.x', 8):
            for k in range(t):
                T[k, i] = 1.0
        for i in thread('blockIdx.x', 8):
            A[t, i] = T[0, 7 - i]
"""
PARTS = """
def f(X: f32[8], A: out[f32[n, 8]]):
    W = alloc(f32[8], '{scope}')
    for i in thread('blockIdx.x', 2):
        for j in thread('threadIdx.x', 4):
            W[i * 4 + j] = X[i * 4 + j]
    for t in range(n, pragmas=[('one_kernel', 'blockIdx.x=2 threadIdx.x=4')]):
        for i in thread('blockIdx.x', 2):
            for j in thread('threadIdx.x', 4):
                A[t, i * 4 + j] = W[{read}]
"""


@pytest.mark.parametrize(("scope", "read"), [("local", "i * 4 + j"), ("shared", "i * 4 + 3 - j"), ("global", "j")])
def test_each_block_has_what_it_wrote_itself(scope, read):
    func = launch.run(parse(PARTS.format(scope=scope, read=read)), Target.of("cuda"))
    assert sum(isinstance(node, Launch) for node in walk(func.body)) == 1


def test_memory_that_the_steps_share_is_the_grids():
    """A temporary of one shape is allocated before the kernel; barriers stand on both sides of its use."""
    func = parse(GROWING.replace("f32[t, 8]", "f32[n, 8]").replace("range(t)", "range(4)"))
    device = launch.run(func, Target.of("cuda"))
    assert [type(node).__name__ for node in (device.body, device.body.body)] == ["Alloc", "Launch"]
    assert barriers(device) == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            MET_IN_ONE_NEST,
            """
            'A' is read and written in one nest of a kernel that runs all steps
              --> test_one_kernel.py:LINE
               |     launch.run(parse(source), Target.of("cuda"))
               |     ^
              because: a block reads in it what another one writes, and blocks wait between nests only
              legal: compute what is read in a nest of its own: compute_root, bound to the same threads
            """,
        ),
        (
            GROWING,
            """
            'T' in each step of a kernel that runs all steps
              --> test_one_kernel.py:LINE
               |     launch.run(parse(source), Target.of("cuda"))
               |     ^
              because: its shape (t, 8) changes from step to step, and a kernel allocates no memory
              legal: a stage of constant shape in each step, or no env_threads
            """,
        ),
        (
            MET_IN_ONE_NEST.replace("thread('blockIdx.x'", "thread('blockIdx.y'").replace("7 - i", "i"),
            """
            blockIdx.y runs 'i' of A in a kernel that runs all steps
              --> test_one_kernel.py:LINE
               |     launch.run(parse(source), Target.of("cuda"))
               |     ^
              because: the blocks that live over the steps are blockIdx.x=8
              legal: env_threads with blockIdx.y too, or a loop bound to these or to threads of a block
            """,
        ),
        (
            PARTS.format(scope="shared", read="4 - i * 4 + j"),
            """
            shared buffer W read by another block
              --> test_one_kernel.py:LINE
               |     launch.run(parse(source), Target.of("cuda"))
               |     ^
              because: the blocks of blockIdx.x divide its elements, each in memory of its own
              legal: bind W to threads only, so that each block has all of it; or set_scope('global') of W
            """,
        ),
        (
            PARTS.format(scope="local", read="i * 4 + 3 - j"),
            """
            local buffer W read by another thread
              --> test_one_kernel.py:LINE
               |     launch.run(parse(source), Target.of("cuda"))
               |     ^
              because: the threads of threadIdx.x divide its elements, each in registers of its own
              legal: set_scope('shared') of W, or compute_at inside the loop bound to the thread
            """,
        ),
    ],
)
def test_what_the_pass_refuses(source, message, refused):
    with refused(ScheduleError, message):
        launch.run(parse(source), Target.of("cuda"))
