"""Runs the pipeline: checks the program after each pass, times it, keeps what changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..ir.func import Func, Level
from ..ir.verify import verify
from ..target import Target


class Pass(NamedTuple):
    """A row of the pipeline."""

    name: str
    run: Callable[[Func, Target], Func]
    targets: tuple[str, ...]
    level: Level
    """The level of the program after it."""
    why_here: str


@dataclass(frozen=True, slots=True)
class Step:
    """What one pass made of a program, and how long it took."""

    name: str
    func: Func
    milliseconds: float
    changed: bool

    def __str__(self) -> str:
        head = f"# after {self.name}, {self.milliseconds:.2f} ms"
        return f"{head}\n{self.func!r}" if self.changed else f"{head}: no change"


class Trace(list[Step]):
    """The steps of one lowering; prints those that changed the program."""

    def __str__(self) -> str:
        return "\n\n".join(str(step) for step in self if step.changed)


def run_pipeline(func: Func, target: Target, pipeline: Sequence[Pass], trace: Trace | None = None) -> Func:
    """Return `func` after the passes of `pipeline` for `target`; InternalError where lowering or one broke it."""
    verify(func)
    for row in pipeline:
        if target.kind not in row.targets:
            continue
        start = time.perf_counter()
        new = row.run(func, target)
        if new.level is not row.level:
            new = new.with_body(new.body, row.level)
        elapsed = (time.perf_counter() - start) * 1e3
        changed = new is not func
        if changed:
            verify(new)
        if trace is not None:
            trace.append(Step(row.name, new, elapsed, changed))
        func = new
    return func
