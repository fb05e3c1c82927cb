"""The report on one schedule, stage by stage.

C: f32[64]  te.py:8
  computed  at 'i.outer' of D, inside i.outer (8, parallel)
  region    i_outer * 8 + [0, 8) of 64
  memory    f32[8] in global, 32 bytes
  loops     i (8), k (48, reduce)
  legal     i: split, unroll, ...
  not legal i: vectorize: ...
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...errors import ScheduleError, UnsupportedError
from ...ir import expr as E
from ...ir.axis import AxisKind, IterVar, Range
from ...ir.node import Expr
from ...schedule.axis import describe
from ...schedule.extent import show
from ...schedule.schedule import Schedule, Stage
from ...schedule.stage import INLINE, UNMARKED
from ...te.tensor import Operation, PlaceholderOp
from ..attach import Placement
from ..infer import infer
from ..program import Program
from ..run_over import Bounds, StageBounds
from .attempts import Attempt, on_loop, on_stage


class StageReport(NamedTuple):
    """What a schedule makes of one stage, in words; `legal` and `refused` by loop, "" for the stage itself."""

    name: str
    heading: str
    computed: str
    region: str
    memory: str
    loops: str
    places: str
    legal: dict[str, list[str]]
    refused: dict[str, list[Attempt]]

    def __str__(self) -> str:
        facts = {
            "computed": self.computed,
            "region": self.region,
            "memory": self.memory,
            "loops": self.loops,
            "places": self.places,
        }
        lines = [self.heading, *(f"  {word:<10}{text}" for word, text in facts.items() if text)]
        for loop, names in self.legal.items():
            lines.append(f"  legal     {loop or 'the stage'}: {', '.join(names) or 'nothing'}")
        for loop, attempts in self.refused.items():
            lines += [
                f"  not legal {loop or 'the stage'}: {names}: {because}" for because, names in _by_reason(attempts)
            ]
        return "\n".join(lines)


def _by_reason(attempts: Iterable[Attempt]) -> list[tuple[str, str]]:
    """Return each reason with the primitives that it keeps from being legal."""
    found: dict[str, list[str]] = {}
    for name, because in attempts:
        found.setdefault(because, []).append(name)
    return [(because, ", ".join(names)) for because, names in found.items()]


class Explanation(tuple[StageReport, ...]):
    """The reports on stages, in the order of the program; prints as text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self))


def explain(schedule: Schedule, stages: Iterable[Stage]) -> Explanation:
    """Return the reports on `stages`; where the schedule cannot be lowered yet, they say so in place of the region."""
    inputs = [stage.origin.output(0) for stage in schedule.stages if isinstance(stage.op, PlaceholderOp)]
    outputs = [tensor for op in schedule.outputs for tensor in op.outputs]
    program = Program(schedule, [*inputs, *outputs])
    bounds: Bounds = {}
    problem = ""
    try:
        bounds = infer(program)
    except (ScheduleError, UnsupportedError) as refusal:
        problem = f"unknown: {refusal.asked}: {refusal.because}"
    return Explanation(
        _report(schedule, stage, program.placement, bounds.get(stage.origin), problem) for stage in stages
    )


def _report(
    schedule: Schedule, stage: Stage, placement: Placement, found: StageBounds | None, problem: str
) -> StageReport:
    attempts = {axis.name: list(on_loop(stage, axis)) for axis in stage.leaf_iter_vars}
    attempts[""] = list(on_stage(stage)) if not isinstance(stage.op, PlaceholderOp) else []
    shape = stage.origin.output(0).shape
    return StageReport(
        stage.name,
        " ".join([", ".join(map(repr, stage.origin.outputs)), *([f" {stage.op.loc}"] if stage.op.loc else [])]),
        _computed(stage, placement),
        _region(found, shape) if found is not None else problem,
        _memory(stage, found),
        ", ".join(_loop(stage, axis, found) for axis in stage.leaf_iter_vars),
        ", ".join(_places(schedule, stage, placement)),
        {loop: [name for name, because in tried if not because] for loop, tried in attempts.items() if tried},
        {loop: [one for one in tried if one.because] for loop, tried in attempts.items() if tried},
    )


def _computed(stage: Stage, placement: Placement) -> str:
    if isinstance(stage.op, PlaceholderOp):
        return "by the caller"
    if stage.state.attach is INLINE:
        return "nowhere: its formula stands where it is read"
    path = placement.path(stage.origin)
    if not path:
        return "at the root"
    around = [f"{place.axis.name} of {place.op.name}" for place in path]
    return f"in each iteration of {around[-1]}" + (f", inside {', '.join(around[:-1])}" if around[:-1] else "")


def _region(found: StageBounds, shape: tuple[Expr, ...]) -> str:
    """Say what is computed of each dimension in one iteration of the loops around."""
    return (
        ", ".join(f"{_span(held)} of {show(extent)}" for held, extent in zip(found.region, shape, strict=True)) or "all"
    )


def _span(held: Range) -> str:
    start = "" if isinstance(held.min, E.Const) and held.min.value == 0 else f"{held.min!r} + "
    return f"{start}[0, {show(held.extent)})"


def _memory(stage: Stage, found: StageBounds | None) -> str:
    if found is None or stage.state.attach is INLINE:
        return ""
    extents = [held.extent for held in found.region]
    dtype = stage.origin.output(0).dtype
    held = f"{dtype.short}[{', '.join(map(show, extents))}] in {found.scope}"
    if not all(isinstance(extent, E.Const) for extent in extents):
        return held
    size = math.prod(int(extent.value) for extent in extents if isinstance(extent, E.Const)) * dtype.bytes
    return f"{held}, {size} bytes"


def _loop(stage: Stage, axis: IterVar, found: StageBounds | None) -> str:
    facts = [show(found.domains[axis].extent)] if found is not None and axis in found.domains else []
    facts += ["reduce"] if axis.kind is AxisKind.REDUCE else []
    mark = stage.state.mark(axis)
    facts += [describe(mark)] if mark != UNMARKED else []
    return f"{axis.name} ({', '.join(facts)})" if facts else axis.name


def _places(schedule: Schedule, stage: Stage, placement: Placement) -> Iterator[str]:
    """Yield the loops around all readers, innermost first: where the stage may be computed."""
    readers: list[Operation] = list(schedule.readers[stage.origin])
    if isinstance(stage.op, PlaceholderOp) or stage.state.is_output or stage.state.feeds is not None or not readers:
        return
    yield from (f"s[{place.op.name}] at {place.axis.name}" for place in placement.around_all(readers))
    yield "root"
