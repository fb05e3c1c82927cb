"""Random primitives about memory, layout and place, beside those about loops; what is refused is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tecomp.errors import ScheduleError
from tecomp.ir.axis import AxisKind

from .draw import Draw

Extra = Callable[[Any, Any, Draw], Any]


def _axis(stage: Any, draw: Draw) -> Any:
    return draw.rng.choice(list(stage.op.axis))


def _leaf(stage: Any, draw: Draw) -> Any:
    return draw.rng.choice(list(stage.leaf_iter_vars))


def _mapping(stage: Any, draw: Draw) -> Callable[..., list[Any]]:
    """Return a change of layout: dimensions in another order, one of them split."""
    rank = stage.origin.output(0).ndim
    order = draw.rng.sample(range(rank), rank)
    split = draw.rng.randrange(rank)

    def mapped(*indices: Any) -> list[Any]:
        found = [indices[number] for number in order]
        return [*found[:split], found[split] // draw.factor, *found[split + 1 :], found[split] % draw.factor]

    return mapped


def _prefetch(_: Any, stage: Any, draw: Draw) -> Any:
    tensor = draw.rng.choice(list(stage.op.input_tensors))
    return stage.prefetch(tensor, _leaf(stage, draw), draw.rng.randint(1, 3))


def _duplicate(schedule: Any, stage: Any, draw: Draw) -> Any:
    readers = list(schedule.readers[stage.origin])
    return schedule.duplicate(stage.origin.output(0), draw.rng.sample(readers, draw.rng.randint(1, len(readers))))


def _reverse(schedule: Any, stage: Any, draw: Draw) -> Any:
    source = schedule[draw.rng.choice(list(stage.op.input_tensors))]
    return stage.reverse_compute_at(source, _leaf(source, draw))


def _reduce_at_once(_: Any, stage: Any, draw: Draw) -> Any:
    loops = [leaf for leaf in stage.leaf_iter_vars if leaf.kind is AxisKind.REDUCE]
    return stage.parallel(draw.rng.choice(loops), reduce_update="atomic")


EXTRAS: dict[str, Extra] = {
    "storage_align": lambda _, stage, draw: stage.storage_align(_axis(stage, draw), draw.factor, 1),
    "double_buffer": lambda _, stage, draw: stage.double_buffer(),
    "rolling_buffer": lambda _, stage, draw: stage.rolling_buffer(),
    "set_scope": lambda _, stage, draw: stage.set_scope(draw.rng.choice(["global", "local"])),
    "pad": lambda _, stage, draw: stage.pad(_leaf(stage, draw), draw.factor),
    "transform_layout": lambda _, stage, draw: stage.transform_layout(_mapping(stage, draw)),
    "prefetch": _prefetch,
    "duplicate": _duplicate,
    "reverse_compute_at": _reverse,
    "reduce at once": _reduce_at_once,
    "unroll": lambda _, stage, draw: stage.pragma(_leaf(stage, draw), "auto_unroll_max_step", 16),
}


def apply_some(schedule: Any, stage: Any, draw: Draw, names: tuple[str, ...] = tuple(EXTRAS)) -> list[Any]:
    """Apply a few to a stage; return the tensors of new stages."""
    made: list[Any] = []
    for _ in range(draw.rng.choice([0, 0, 0, 1, 2])):
        name = draw.rng.choice(names)
        before = schedule.text()
        try:
            result = EXTRAS[name](schedule, stage, draw)
        except (ScheduleError, IndexError, ValueError) as refusal:
            if not isinstance(refusal, ScheduleError) and not _drew_from_nothing(refusal):
                raise
            assert schedule.text() == before, f"a refused {name} must leave the schedule as it was"
        else:
            made += [result] if name == "duplicate" else []
    return made


def _drew_from_nothing(error: Exception) -> bool:
    """Return whether a choice had nothing to choose from: a stage without loops, or readers."""
    return "empty" in str(error)
