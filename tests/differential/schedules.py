"""Random schedules for the CPU. A primitive that is refused is left out: refusals have tests of their own."""

from __future__ import annotations

from typing import Any

from tecomp import te
from tecomp.errors import ScheduleError

from .dataflow import rewritten
from .draw import Case, Draw
from .extras import apply_some, group_some
from .memory import laid_out

TRIES = 40


def random_schedule(case: Case, draw: Draw, early: Any = None, late: Any = None) -> Any:
    """Return a schedule of `case` with random primitives on every stage.

    `early` is called before loops are scheduled and returns what to schedule, `late` when all is placed.
    """
    schedule = te.create_schedule([tensor.op for tensor in case.expected])
    stages = rewritten(schedule, case, draw)
    stages = stages if early is None else early(schedule, stages, case, draw)
    for tensor in stages:
        if _inlined(schedule, tensor, case, draw):
            continue
        for _ in range(draw.rng.randint(0, 5)):
            _attempt(lambda stage: _loop_primitive(stage, draw), schedule[tensor])
        if draw.rng.random() < 0.5:
            _attempt(lambda stage: stage.vectorize(stage.leaf_iter_vars[-1]), schedule[tensor])
    for tensor in stages:
        apply_some(schedule, schedule[tensor], draw)
        if draw.rng.random() < 0.4:
            _attempt(lambda stage: _placed(schedule, stage, draw), schedule[tensor])
    group_some(schedule, stages, draw)
    if late is not None:
        late(schedule, stages, draw)
    return laid_out(schedule, stages, draw)


def _attempt(primitive: Any, stage: Any) -> None:
    """Apply a primitive unless it is refused."""
    before = stage.state
    try:
        primitive(stage)
    except ScheduleError:
        assert stage.state is before, "a refusal must leave the stage as it was"


def _inlined(schedule: Any, tensor: Any, case: Case, draw: Draw) -> bool:
    if tensor in case.args or draw.rng.random() > 0.25:
        return False
    try:
        schedule[tensor].compute_inline()
    except ScheduleError:
        return False
    return True


def _loop_primitive(stage: Any, draw: Draw) -> None:
    leaves = list(stage.leaf_iter_vars)
    if not leaves:
        return
    axis = draw.rng.choice(leaves)
    factor = draw.rng.choice([1, 2, 3, draw.factor, draw.factor + 1])
    match draw.rng.randrange(7):
        case 0 | 1:
            stage.split(axis, factor=factor)
        case 2:
            stage.split(axis, nparts=factor)
        case 3:
            at = draw.rng.randrange(len(leaves))
            stage.fuse(*leaves[at : at + 2])
        case 4:
            draw.rng.shuffle(leaves)
            stage.reorder(*leaves[: draw.rng.randint(2, 4)])
        case 5:
            stage.vectorize(axis)
        case _:
            draw.rng.choice([stage.unroll, stage.parallel])(axis)


def _placed(schedule: Any, stage: Any, draw: Draw) -> None:
    """Compute a stage in a loop of one that reads it."""
    readers = schedule.readers[stage.origin]
    if not readers or (len(readers) > 1 and draw.rng.random() < 0.8):
        return
    reader = schedule[draw.rng.choice(readers)]
    leaves = list(reader.leaf_iter_vars)
    if leaves:
        stage.compute_at(reader, draw.rng.choice(leaves))
