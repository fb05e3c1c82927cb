"""Random primitives beside those about loops, layouts and memory; what is refused is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tecomp.errors import ScheduleError
from tecomp.ir.axis import AxisKind

from .draw import Draw
from .intrinsics import tensorize

Extra = Callable[[Any, Draw], Any]


def _reduce_at_once(stage: Any, draw: Draw) -> None:
    loops = [leaf for leaf in stage.leaf_iter_vars if leaf.kind is AxisKind.REDUCE]
    if loops:
        stage.parallel(draw.rng.choice(loops), reduce_update="atomic")


def _hint(stage: Any, draw: Draw) -> None:
    if stage.leaf_iter_vars:
        stage.pragma(draw.rng.choice(list(stage.leaf_iter_vars)), "auto_unroll_max_step", 16)


def _tile(stage: Any, draw: Draw) -> None:
    loops = list(stage.leaf_iter_vars)
    if len(loops) > 1:
        stage.tile(*draw.rng.sample(loops, 2), draw.factor, draw.rng.choice([1, 2, 4]))


def _always(stage: Any, draw: Draw) -> None:
    """Store where what always holds does."""
    axes = [axis for axis in getattr(stage.op, "axis", ()) if axis.dom is not None]
    if axes:
        axis = draw.rng.choice(axes)
        stage.set_store_predicate(axis < axis.dom.min + axis.dom.extent)


def _whole(stage: Any, draw: Draw) -> None:
    """Split by lengths that divide every extent."""
    if stage.leaf_iter_vars:
        lengths = {draw.rng.choice(["factor", "nparts"]): 1}
        stage.split(draw.rng.choice(list(stage.leaf_iter_vars)), **lengths, disable_predication=True)


EXTRAS: tuple[Extra, ...] = (
    lambda stage, draw: stage.set_scope(draw.rng.choice(["global", "local"])),
    _reduce_at_once,
    _hint,
    _tile,
    _always,
    _whole,
    lambda stage, draw: stage.compute_root(),
    tensorize,
)


def group_some(schedule: Any, stages: list[Any], draw: Draw) -> None:
    """Make a group of what lies between two stages, and compute it in a loop of one that reads it."""
    if not stages or draw.rng.random() > 0.1:
        return
    inputs, output = draw.rng.choice(stages), draw.rng.choice(stages)
    before = schedule.text()
    try:
        group = schedule.create_group(outputs=output, inputs=inputs, include_inputs=draw.rng.random() < 0.5)
        readers = schedule.readers[output.op]
        loops = list(schedule[readers[0]].leaf_iter_vars) if readers else []
        if loops:
            before = schedule.text()
            group.compute_at(schedule[readers[0]], draw.rng.choice(loops))
    except ScheduleError:
        assert schedule.text() == before, "a refusal must leave the schedule as it was"


def apply_some(schedule: Any, stage: Any, draw: Draw) -> None:
    """Apply a few to a stage."""
    for _ in range(draw.rng.choice([0, 0, 0, 1, 2])):
        before = schedule.text()
        try:
            draw.rng.choice(EXTRAS)(stage, draw)
        except ScheduleError:
            assert schedule.text() == before, "a refusal must leave the schedule as it was"
