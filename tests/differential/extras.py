"""Random primitives beside those about loops, layouts and memory; what is refused is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tecomp.errors import ScheduleError
from tecomp.ir.axis import AxisKind

from .draw import Draw

Extra = Callable[[Any, Draw], Any]


def _reduce_at_once(stage: Any, draw: Draw) -> None:
    loops = [leaf for leaf in stage.leaf_iter_vars if leaf.kind is AxisKind.REDUCE]
    if loops:
        stage.parallel(draw.rng.choice(loops), reduce_update="atomic")


def _hint(stage: Any, draw: Draw) -> None:
    if stage.leaf_iter_vars:
        stage.pragma(draw.rng.choice(list(stage.leaf_iter_vars)), "auto_unroll_max_step", 16)


EXTRAS: tuple[Extra, ...] = (
    lambda stage, draw: stage.set_scope(draw.rng.choice(["global", "local"])),
    _reduce_at_once,
    _hint,
)


def apply_some(schedule: Any, stage: Any, draw: Draw) -> None:
    """Apply a few to a stage."""
    for _ in range(draw.rng.choice([0, 0, 0, 1, 2])):
        before = schedule.text()
        try:
            draw.rng.choice(EXTRAS)(stage, draw)
        except ScheduleError:
            assert schedule.text() == before, "a refusal must leave the schedule as it was"
