"""Random primitives that move work to new stages: copies that are read, copies that are written, partial reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tecomp.errors import ScheduleError
from tecomp.ir.axis import AxisKind

from .draw import Case, Draw


def rewritten(schedule: Any, case: Case, draw: Draw, scopes: Sequence[str] = ("global",)) -> list[Any]:
    """Apply some to a schedule; return what is to be scheduled now, one tensor a stage, each after what it reads."""
    stages = list(case.stages)
    for _ in range(draw.rng.choice([0, 0, 1, 2, 3])):
        tensor = draw.rng.choice([*stages, *case.inputs])
        rewrite = draw.rng.choice([_read, _written, _factored])(schedule, tensor, draw.rng.choice(scopes), draw)
        before = schedule.text()
        try:
            made = rewrite()
        except ScheduleError:
            assert schedule.text() == before, "a refusal must leave the schedule as it was"
        else:
            stages.append(made[0] if isinstance(made, list) else made)
    order = {stage.origin: number for number, stage in enumerate(schedule.stages)}
    return sorted(stages, key=lambda tensor: order[tensor.op])


def _read(schedule: Any, tensor: Any, scope: str, draw: Draw) -> Callable[[], Any]:
    readers = list(schedule.readers[tensor.op])
    chosen = draw.rng.sample(readers, draw.rng.randint(0, len(readers)))
    return lambda: schedule.cache_read(tensor, scope, chosen)


def _written(schedule: Any, tensor: Any, scope: str, draw: Draw) -> Callable[[], Any]:
    loops = _splittable(schedule[tensor], AxisKind.DATA)
    if loops and draw.rng.random() < 0.3:
        schedule[tensor].split(draw.rng.choice(loops), factor=draw.factor)
    outputs = list(tensor.op.outputs)
    return lambda: schedule.cache_write(outputs if len(outputs) > 1 else tensor, scope)


def _factored(schedule: Any, tensor: Any, scope: str, draw: Draw) -> Callable[[], Any]:
    loops = _splittable(schedule[tensor], AxisKind.REDUCE)
    if not loops:
        return _read(schedule, tensor, scope, draw)
    axis = draw.rng.choice(loops)
    if draw.rng.random() < 0.7:
        axis = draw.rng.choice(schedule[tensor].split(axis, factor=draw.factor))
    return lambda: schedule.rfactor(tensor, axis, draw.rng.randint(0, tensor.ndim))


def _splittable(stage: Any, kind: AxisKind) -> list[Any]:
    return [axis for axis in stage.leaf_iter_vars if axis.kind is kind and axis is not stage.state.time_axis]
