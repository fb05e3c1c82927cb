"""lower() and build(): the path of a program, read as its arrows."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from .errors import UserError, UserTypeError
from .ir.func import Func, Level
from .ir.stmt import Stmt
from .lowering.binds import NO_BINDS, Binds
from .lowering.func import lower_schedule
from .module import Module
from .passes.manager import Pass, Step, Trace, run_pipeline
from .passes.pipeline import LOOP_PASSES, PIPELINE
from .schedule.default import default_schedule
from .schedule.schedule import Schedule
from .target import Target
from .te.shape import name_of
from .te.tensor import PlaceholderOp, Tensor
from .transform.context import PassContext

_FRAMES, _FRAMES_A_STAGE = 2000, 24
"""Python frames that lowering may need: for any program, and more for each stage."""
_LEVELS = tuple(Level)
_NAME = "main"
"""What a function is called that nothing else is said of; a Func keeps the name that it has."""


def lower(
    inputs: Schedule | Func | Tensor | Sequence[Tensor],
    args: Sequence[Any] | None = None,
    name: str = _NAME,
    binds: Binds | None = None,
    simple_mode: bool = False,
    *,
    trace: bool = False,
    target: str | Target | None = None,
) -> Any:
    """Return the loop program of a schedule, a Func; it prints as Python.

    args         its arguments in order: placeholders, results, scalar variables
    binds        the buffer that a tensor among them is declared as: {A: tir.decl_buffer(...)}
    simple_mode  keeps every stage one nest: no loop is divided into main part and tail
    target       takes the program through that target's passes, up to the last level that has the tensors' dimensions;
                 `build(...).ir` is what the code is printed from
    trace        returns the Trace of all passes instead: the program after each, with the time it took

    A Func in place of the schedule goes on from where it is; tensors have their default schedule. What a
    `transform.PassContext` says holds here too.
    """
    goal = None if target is None else Target.of(target).hardware
    described, args = _scheduled(inputs, args, goal or Target.of("llvm"))
    steps = Trace()
    with deep_programs(described):
        start = time.perf_counter()
        func = _program(described, args, name, binds, "lower")
        steps.append(Step("lower", func, (time.perf_counter() - start) * 1e3, True))
        rows = _rows(func, goal, simple_mode)
        if not trace:
            rows = tuple(row for row in rows if row.level is not Level.FLAT)
        func = run_pipeline(func, goal or Target.of("llvm"), rows, steps)
    return steps if trace else func


def build(
    inputs: Schedule | Func | Tensor | Sequence[Tensor],
    args: Sequence[Any] | None = None,
    target: str | Target | None = None,
    target_host: str | Target | None = None,
    runtime: Any = None,
    name: str = _NAME,
    binds: Binds | None = None,
) -> Module:
    """Return a schedule, a Func that `lower` made of one, or tensors, compiled for `target`: a callable on arrays.

    Tensors have their default schedule (te.default_schedule), and without `args` take what they need, then themselves.

    args         the arguments of a call, in order; a Func has its own
    target       "llvm" runs on NumPy arrays on this machine's CPU, "cuda" on CuPy arrays (or what speaks DLPack or
                 `__cuda_array_interface__`), "cuda-sim" runs the program of "cuda" on NumPy arrays, step by step and
                 checked (tecomp.sim). Left out, it is that of the `with Target(...)` block, or "llvm"
    target_host  a CPU target, if any: the host part of a CUDA function is Python
    runtime      nothing: there is one

    For CUDA no GPU is needed to build, only to call. Results are written into the arrays given; one build serves all
    values of symbolic sizes.
    """
    if runtime is not None:
        raise UserError(f"build with runtime={runtime!r}", "there is one runtime, tecomp_runtime", "no runtime")
    chosen = target if target is not None else Target.current() or "llvm"
    goal = Target(chosen, host=target_host)
    described, args = _scheduled(inputs, args, goal.hardware)
    with deep_programs(described):
        func = _program(described, args, name, binds, "build")
        return Module(func, goal, _rows(func, goal, simple_mode=False))


def _scheduled(inputs: Any, args: Any, goal: Target) -> tuple[Any, Any]:
    """Return the default schedule of tensors, with what they need and themselves as arguments where none are given."""
    given = [inputs] if isinstance(inputs, Tensor) else inputs
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(one, Tensor) for one in given):
        return inputs, args
    schedule = default_schedule(given, goal)
    if args is None:
        steps = {state for group in schedule.scans for state in group.states}
        inside = [op for op in schedule.declared if isinstance(op, PlaceholderOp) and op not in steps]
        args = [*(op.output(0) for op in inside), *given]
    return schedule, args


def _program(inputs: Any, args: Any, name: str, binds: Binds | None, verb: str) -> Func:
    """Return the program that `inputs` is or describes, before the passes that are still to run."""
    if isinstance(inputs, Func):
        if args is not None or binds is not None:
            because = f"the arguments of '{inputs.name}' were given when it was lowered"
            raise UserError(f"{verb} of a Func with arguments", because, f"{verb}(func, target=...)")
        return inputs if name == _NAME else inputs.named(name_of(verb, name))
    _check(inputs, args, verb)
    return lower_schedule(inputs, args, name_of(verb, name), binds or NO_BINDS)


@contextmanager
def deep_programs(inputs: Schedule | Func) -> Generator[None]:
    """Allow statements as deep as the program can make them: passes recurse over statements, and each temporary is a
    level of its own."""
    before = sys.getrecursionlimit()
    stages = len(inputs.stages) if isinstance(inputs, Schedule) else _depth(inputs)
    sys.setrecursionlimit(max(before, _FRAMES + _FRAMES_A_STAGE * stages))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _depth(inputs: Any) -> int:
    """Return how deep the statements of a Func lie in each other."""
    level: list[Stmt] = [inputs.body] if isinstance(inputs, Func) else []
    depth = 0
    while level:
        level = [part for stmt in level for part in stmt.substatements()]
        depth += 1
    return depth


def _rows(func: Func, goal: Target | None, simple_mode: bool) -> tuple[Pass, ...]:
    """Return the passes that are to run: those of the context, for no target those that `lower` shows."""
    rows = PassContext.current().rows(PIPELINE)
    done = _LEVELS.index(func.level)
    if done > 0:
        rows = tuple(row for row in rows if _LEVELS.index(row.level) > done)
    if goal is None:
        usual = {row.name for row in PIPELINE} - {*LOOP_PASSES}
        rows = tuple(row for row in rows if row.name not in usual)
    return tuple(row for row in rows if not (simple_mode and row.name == "partition"))


def _check(inputs: Any, args: Any, verb: str) -> None:
    if not isinstance(inputs, Schedule):
        raise UserTypeError(
            f"{verb} of a {type(inputs).__name__}",
            because="what is built is a schedule of a computation",
            legal="te.create_schedule(...), and its arguments as a list; or tensors",
        )
    if not isinstance(args, (list, tuple)):
        raise UserError(
            f"{verb} with the arguments {args!r}",
            because=f"they are a {type(args).__name__}",
            legal=f"a list, in the order of a call: {verb}(s, [A, B, ...])",
        )


__all__ = ["Func", "build", "lower"]
