"""Random programs under random GPU schedules against NumPy: interpreted, compiled, and run where there is a GPU.

A failure prints its seed and its schedule; `pytest "tests/differential/test_random_cuda.py::test_interpreter[17]"` runs
that one again.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest

import tecomp
from tecomp import sim
from tecomp.errors import UnsupportedError
from tecomp.ir import expr as E
from tecomp.ir.evaluate import ExecutionError
from tecomp.ir.func import Func, Level
from tecomp.ir.instruction import EXCHANGES
from tecomp.ir.interpret import interpret
from tecomp.ir.stmt import Alloc, Evaluate, For, Launch, Seq, Stmt, Store
from tecomp.ir.visit import rewrite, walk
from tecomp.lowering.func import lower_schedule
from tecomp.module import strided
from tecomp.passes.events import is_barrier
from tecomp.passes.manager import run_pipeline
from tecomp.passes.pipeline import PIPELINE
from tecomp.target import Target

from .draw import Case
from .gpu_memory import GuardedAllocations
from .gpu_schedules import random_gpu_schedule
from .running import check, legal_case

SEEDS = range(1020)
ON_GPU = range(408)
COMPILED = range(0, 1020, 8)
STRIDED = range(0, 1020, 5)
MUTATED = range(204)
MOST_THREADS = 4096
"""In all blocks of a launch."""
ARCHITECTURES = ("sm_80", "sm_90a")


class Lowered(NamedTuple):
    """A program at each level, and what to say when one fails."""

    program: Case
    note: str
    loops: Func
    device: Func
    flat: Func


@cache
def lowered(seed: int) -> Lowered:
    """Return the program of a seed: loops as lowered, kernels with barriers, flat offsets in machine integers."""
    legal = legal_case(seed, random_gpu_schedule, _traced)
    last = {step.func.level: step.func for step in legal.lowered}
    return Lowered(legal.program, legal.note, legal.lowered[0].func, last[Level.DEVICE], last[Level.FLAT])


def _traced(schedule: Any, args: list[Any]) -> Any:
    """Return the program after each pass; refuse one with more threads than the interpreter runs in a second or two."""
    steps = tecomp.lower(schedule, args, target="cuda", trace=True)
    for node in walk(steps[-1].func.body):
        if isinstance(node, Launch):
            count = math.prod(int(var.extent.value) for _, var in node.threads if isinstance(var.extent, E.Const))
            if count > MOST_THREADS:
                raise UnsupportedError("a launch", f"{count} threads are many to interpret")
    return steps


@pytest.mark.parametrize("seed", SEEDS)
def test_interpreter(seed: int) -> None:
    """At each level the interpreter gives what NumPy does.

    It checks every index, every read of what nothing has written, that all threads of a block come to its barriers, and
    that no two threads meet in one element without one.
    """
    case = lowered(seed)
    for func in (case.loops, case.device, case.flat):
        check(f"{func.level.value} of {case.note}", case.program, lambda *arrays, func=func: interpret(func, *arrays))


@pytest.mark.parametrize("seed", SEEDS)
def test_simulator(seed: int) -> None:
    """The simulator gives what NumPy does and reports nothing; of every third seed each warp runs by itself."""
    legal = legal_case(seed, random_gpu_schedule, lambda s, args: tecomp.build(s, args, target="cuda-sim"))
    with sim.options(warps="apart" if seed % 3 == 0 else "", seed=seed):
        check(legal.note, legal.program, legal.lowered, gaps=seed in STRIDED)


@pytest.mark.parametrize("seed", STRIDED)
def test_strided(seed: int) -> None:
    """The variant for arrays whose elements do not follow one another leaves what lies between them alone."""
    legal = legal_case(seed, random_gpu_schedule, _with_strides)
    check(legal.note, legal.program, lambda *arrays: interpret(legal.lowered, *arrays), gaps=True)


def _with_strides(schedule: Any, args: list[Any]) -> Func:
    return run_pipeline(strided(lower_schedule(schedule, args, "main")), Target.of("cuda"), PIPELINE)


@pytest.mark.parametrize(("seed", "arch"), [*zip(COMPILED, itertools.cycle(ARCHITECTURES), strict=False)])
def test_compiles(seed: int, arch: str) -> None:
    """NVRTC takes the program, without a warning that it makes slow code of it."""
    legal = legal_case(seed, random_gpu_schedule, lambda s, args: tecomp.build(s, args, target=f"cuda -arch={arch}"))
    artifact = legal.lowered.artifact
    assert artifact.binary
    assert "C75" not in artifact.log, f"{artifact.log}\n{legal.note}"


@pytest.mark.gpu
@pytest.mark.parametrize("seed", ON_GPU)
def test_gpu(seed: int) -> None:
    """The kernels give what NumPy does; no guard word changes around arguments and temporaries, poisoned before."""
    cupy = importlib.import_module("cupy")
    legal = legal_case(seed, random_gpu_schedule, lambda s, args: tecomp.build(s, args, target="cuda"))

    def call(*arrays: Any) -> None:
        with GuardedAllocations(cupy) as temporaries:
            legal.lowered(*arrays)
        temporaries.check(legal.note)

    check(legal.note, legal.program, call, cupy, gaps=seed in STRIDED)


def test_a_missing_barrier_is_noticed() -> None:
    """Without any one of the barriers, the interpreter reports a race or the result is wrong.

    Not so where a size is 0 or 1, where at these sizes each thread happens to read what it wrote itself, or where only
    the last iteration of a loop before would tell that no thread is still reading.
    """
    found: Counter[bool] = Counter()
    for seed in MUTATED:
        case = lowered(seed)
        for barrier in filter(is_barrier, walk(case.device.body)):
            found[_fails(case.program, _without(case.device, barrier))] += 1
    assert found.total() >= 30
    assert found[True] >= 0.6 * found.total(), found


def _without(func: Func, barrier: Any) -> Func:
    """Return `func` less one barrier."""
    return func.with_body(rewrite(func.body, stmts={Evaluate: lambda node: Seq(()) if node is barrier else node}))


def _fails(program: Case, func: Func) -> bool:
    try:
        check("", program, lambda *arrays: interpret(func, *arrays))
    except (ExecutionError, AssertionError):
        return True
    return False


def test_what_the_schedules_reach() -> None:
    """Enough of the seeds have each thing that can go wrong on a GPU."""
    reached: Counter[str] = Counter()
    for seed in MUTATED:
        nodes = list(walk(lowered(seed).device.body))
        reached.update(name for name, found in REACHED.items() if any(map(found, nodes)))
        launches = [node for node in nodes if isinstance(node, Launch)]
        reached["several kernels"] += len(launches) > 1
        reached["a scan in one launch"] += len(launches) == 1 and "scan" in lowered(seed).program.kind
    rare = {name: reached[name] for name in (*REACHED, "several kernels", "a scan in one launch") if reached[name] < 5}
    assert not rare, rare


def _allocates(scope: str) -> Callable[[Any], bool]:
    return lambda node: isinstance(node, Alloc) and node.buffer.scope == scope and bool(node.buffer.shape)


def _loop_over_launches(node: Any) -> bool:
    return isinstance(node, For) and any(isinstance(below, Launch) for below in walk(node.body))


def _threads(count: int) -> Callable[[Any], bool]:
    return lambda node: isinstance(node, Launch) and sum("threadIdx" in tag for tag, _ in node.threads) == count


REACHED: dict[str, Callable[[Any], bool]] = {
    "shared memory": _allocates("shared"),
    "local memory": _allocates("local"),
    "temporary in global memory": _allocates("global"),
    "barrier": lambda node: isinstance(node, Stmt) and is_barrier(node),
    "exchange between lanes": lambda node: isinstance(node, E.Call) and node.name in EXCHANGES,
    "vector": lambda node: isinstance(node, Store) and node.lanes > 1,
    "vector under a mask": lambda node: isinstance(node, Store) and not isinstance(node.mask, E.Const),
    "host loop over launches": _loop_over_launches,
    "threads in 1 dimension": _threads(1),
    "threads in 2 dimensions": _threads(2),
    "threads in 3 dimensions": _threads(3),
    "symbolic grid": lambda node: (
        isinstance(node, Launch) and any(not isinstance(var.extent, E.Const) for _, var in node.threads)
    ),
}
