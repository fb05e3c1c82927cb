"""Random schedules with what moves stages, their memory and the ends of their loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tecomp.errors import ScheduleError
from tecomp.ir.axis import AxisKind

from .draw import Case, Draw
from .schedules import random_schedule


def random_layout(case: Case, draw: Draw) -> Any:
    """Return a random schedule of `case`, some of whose stages are duplicated, laid out anew, padded, made to roll."""
    return random_schedule(case, draw, early=_early, late=_late)


def _early(schedule: Any, stages: list[Any], case: Case, draw: Draw) -> list[Any]:
    """Return what is to be scheduled, before any loop was."""
    for tensor in list(stages):
        if draw.rng.random() < 0.3 and len(schedule.readers[tensor.op]) > 1:
            reader = draw.rng.choice(schedule.readers[tensor.op])
            made = attempted(lambda tensor=tensor, reader=reader: schedule.duplicate(tensor, [reader]))
            stages += [made[0] if isinstance(made, list) else made] if made is not None else []
    for tensor in stages:
        if draw.rng.random() < 0.3:
            attempted(lambda tensor=tensor: _reversed(schedule, tensor, draw))
        if draw.rng.random() < 0.4 and not set(tensor.op.outputs) & set(case.args):
            attempted(lambda tensor=tensor: schedule[tensor].transform_layout(_random_map(draw)))
        if draw.rng.random() < 0.4:
            attempted(lambda tensor=tensor: _padded(schedule[tensor], case, draw))
    return stages


def _late(schedule: Any, stages: list[Any], draw: Draw) -> None:
    """Let stages roll where they are computed now: one that cannot is refused when lowered, so few are tried."""
    for tensor in stages:
        if draw.rng.random() < 0.3 and schedule[tensor].attach_stage is not None:
            attempted(lambda tensor=tensor: schedule[tensor].rolling_buffer())


def attempted(primitive: Callable[[], Any]) -> Any:
    """Return what a primitive gives, None where it is refused."""
    try:
        return primitive()
    except ScheduleError:
        return None


def _reversed(schedule: Any, tensor: Any, draw: Draw) -> Any:
    """Compute the only reader of a tensor in a loop of it."""
    (reader,) = schedule.readers[tensor.op] if len(schedule.readers[tensor.op]) == 1 else (tensor.op,)
    stage = schedule[tensor]
    leaves = list(stage.leaf_iter_vars)
    if leaves and draw.rng.random() < 0.6:
        attempted(lambda: stage.split(leaves[0], **{draw.rng.choice(["factor", "nparts"]): draw.factor}))
    return schedule[reader].reverse_compute_at(stage, draw.rng.choice(list(stage.leaf_iter_vars)))


def _random_map(draw: Draw) -> Callable[..., list[Any]]:
    """Return a map that cuts some indices in two and puts all parts in a random order."""
    cuts = [draw.rng.choice([0, 0, 2, 3, draw.factor]) for _ in range(8)]
    seed = draw.rng.random()

    def mapping(*at: Any) -> list[Any]:
        parts = [
            part
            for index, cut in zip(at, cuts, strict=False)
            for part in ([index // cut, index % cut] if cut else [index])
        ]
        order = sorted(range(len(parts)), key=lambda number: hash((seed, number)))
        return [parts[number] for number in order] or [0]

    return mapping


def _padded(stage: Any, case: Case, draw: Draw) -> None:
    axes = [*getattr(stage.op, "axis", ()), *getattr(stage.op, "reduce_axis", ())]
    kept = set(stage.op.outputs) & set(case.args)
    axes = [axis for axis in axes if axis.kind is AxisKind.REDUCE or not kept]
    if axes:
        stage.pad(draw.rng.choice(axes), draw.rng.choice([2, 3, draw.factor, 8]))
