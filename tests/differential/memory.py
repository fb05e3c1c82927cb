"""Random choices about how a schedule's results are held: padded, in copies, asked for ahead, by virtual threads.

They come last, so that all other choices of a seed are what they were without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.schedule.stage import IN_ORDER, At

from .draw import Draw


def laid_out(schedule: Any, tensors: Iterable[Any], draw: Draw) -> Any:
    """Return the schedule with some of that said of its stages; what is refused is left out."""
    for tensor in tensors:
        for chance, choice in CHOICES:
            if draw.rng.random() < chance:
                try:
                    choice(schedule, schedule[tensor], draw)
                except ScheduleError:
                    continue
    return schedule


def _padded(_schedule: Any, stage: Any, draw: Draw) -> None:
    if stage.op.axis:
        factor = draw.rng.choice([1, 2, 4, 8, draw.factor])
        stage.storage_align(draw.rng.choice(stage.op.axis), factor, draw.rng.randrange(factor))


def _in_copies(schedule: Any, stage: Any, _draw: Draw) -> None:
    attach = stage.state.attach
    if isinstance(attach, At) and schedule.states[attach.op].mark(schedule.attach_axis(stage.origin)).kind in IN_ORDER:
        stage.double_buffer()


def _ahead(_schedule: Any, stage: Any, draw: Draw) -> None:
    read = [tensor for tensor in stage.op.input_tensors if tensor.ndim]
    if read and stage.leaf_iter_vars:
        stage.prefetch(draw.rng.choice(read), draw.rng.choice(stage.leaf_iter_vars), draw.rng.randint(1, 3))


def _virtual(_schedule: Any, stage: Any, draw: Draw) -> None:
    """Give a part of a loop to virtual threads."""
    if stage.leaf_iter_vars:
        lengths = {draw.rng.choice(["factor", "nparts"]): draw.rng.choice([2, 3])}
        loops = stage.split(draw.rng.choice(stage.leaf_iter_vars), **lengths)
        stage.bind(loops["nparts" not in lengths], te.thread_axis("vthread"))


CHOICES: tuple[tuple[float, Callable[[Any, Any, Draw], None]], ...] = (
    (0.25, _padded),
    (0.5, _in_copies),
    (0.15, _ahead),
    (0.25, _virtual),
)
"""What may be said of a stage, and how often it is."""
