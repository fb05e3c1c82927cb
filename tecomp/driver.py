"""lower() and build(): the path of a program, read as its arrows."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from .errors import UserError, UserTypeError
from .ir.expr import Var
from .ir.func import Func, Level
from .lowering.func import lower_schedule
from .module import Module
from .passes.manager import Pass, Step, Trace, run_pipeline
from .passes.pipeline import LOOP_PASSES, PIPELINE
from .schedule.schedule import Schedule
from .target import Target
from .te.tensor import Tensor

Argument = Tensor | Var

_FRAMES, _FRAMES_A_STAGE = 2000, 24
"""Python frames that lowering may need: for any program, and more for each stage."""


def lower(
    schedule: Schedule,
    args: Sequence[Argument],
    name: str = "main",
    *,
    simple_mode: bool = False,
    trace: bool = False,
    target: str | Target | None = None,
) -> Any:
    """Return the loop program of `schedule`, a Func; it prints as Python.

    `args` are its arguments in order: placeholders, results, scalar variables. `simple_mode` keeps every stage one nest
    (no loop is divided into main part and tail). With a `target`, the program goes through that target's passes, up to
    the last level that has the tensors' dimensions; `build(...).ir` is what the code is printed from. `trace=True`
    returns the Trace of all passes instead: the program after each, with the time it took.
    """
    _check(schedule, args, "lower")
    goal = None if target is None else Target.of(target)
    steps = Trace()
    with deep_programs(schedule):
        start = time.perf_counter()
        func = lower_schedule(schedule, args, name)
        steps.append(Step("lower", func, (time.perf_counter() - start) * 1e3, True))
        rows = _rows(goal, simple_mode)
        if not trace:
            rows = tuple(row for row in rows if row.level is not Level.FLAT)
        func = run_pipeline(func, goal or Target.of("llvm"), rows, steps)
    return steps if trace else func


def build(
    schedule: Schedule,
    args: Sequence[Argument],
    target: str | Target = "llvm",
    name: str = "main",
) -> Module:
    """Return `schedule` compiled for `target`: a callable on arrays in the order of `args`.

    "llvm" runs on NumPy arrays on this machine's CPU, "cuda" on CuPy arrays (or what speaks DLPack or
    `__cuda_array_interface__`). For CUDA no GPU is needed to build, only to call. Results are written into the arrays
    given; one build serves all values of symbolic sizes.
    """
    _check(schedule, args, "build")
    goal = Target.of(target)
    with deep_programs(schedule):
        return Module(lower_schedule(schedule, args, name), goal, _rows(goal, simple_mode=False))


@contextmanager
def deep_programs(schedule: Schedule) -> Generator[None]:
    """Allow statements as deep as the schedule can make them: passes recurse over statements, and each temporary is a
    level of its own."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES + _FRAMES_A_STAGE * len(schedule.stages)))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _rows(goal: Target | None, simple_mode: bool) -> tuple[Pass, ...]:
    rows = PIPELINE if goal is not None else tuple(row for row in PIPELINE if row.name in LOOP_PASSES)
    return tuple(row for row in rows if not (simple_mode and row.name == "partition"))


def _check(schedule: Any, args: Any, verb: str) -> None:
    if not isinstance(schedule, Schedule):
        raise UserTypeError(
            f"{verb} of a {type(schedule).__name__}",
            because="what is built is a schedule of a computation",
            legal="te.create_schedule(...), and its arguments as a list",
        )
    if not isinstance(args, (list, tuple)):
        raise UserError(
            f"{verb} with the arguments {args!r}",
            because=f"they are a {type(args).__name__}",
            legal=f"a list, in the order of a call: {verb}(s, [A, B, ...])",
        )


__all__ = ["Func", "build", "lower"]
