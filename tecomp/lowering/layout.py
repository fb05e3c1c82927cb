"""How the memory of a temporary is laid out: strides where rows are padded, copies where it is double buffered."""

from __future__ import annotations

from collections.abc import Sequence

from ..arith import simplify
from ..bounds.program import Program
from ..bounds.run_over import Bounds
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import make
from ..ir.axis import AxisKind
from ..ir.node import Expr
from ..schedule.opaque import has_own_loops
from ..schedule.stage import IN_ORDER, StageState
from ..te.tensor import Operation


def strides_of(state: StageState, shape: Sequence[Expr]) -> tuple[Expr, ...] | None:
    """Return the distance of neighbours along each dimension, at least what lies further in takes; None: no padding.

    f32[32, 32], dimension 0 by factor 32, offset 1  ->  33, 1
    """
    if not state.alignments:
        return None
    aligned = {number: (factor, offset) for number, factor, offset in state.alignments}
    strides: list[Expr] = []
    least: Expr = make.const(1, INDEX)
    for number in reversed(range(len(shape))):
        factor, offset = aligned.get(number, (1, 0))
        whole = make.mul(make.ceildiv(make.sub(least, offset), make.index(factor)), factor)
        stride = simplify(make.add(whole, offset))
        strides.insert(0, stride)
        least = simplify(make.mul(stride, shape[number]))
    return tuple(strides)


def copies_of(program: Program, bounds: Bounds, op: Operation) -> int:
    """Return in how many copies the results of `op` are held; ScheduleError where there is no next iteration to fill
    one for."""
    if not program.placement.states[op].double_buffered:
        return 1
    point = program.placement.point(op)
    if point is None:
        raise _no_next(program, op, "it is computed at the root, in no loop")
    reader = bounds[point.op]
    if reader.state.mark(point.axis).kind not in IN_ORDER:
        because = f"the iterations of '{point.axis.name}', in which it is computed, run at once: none comes next"
        raise _no_next(program, op, because)
    return 1 if reader.loops[point.axis] is None else 2


def _no_next(program: Program, op: Operation, because: str) -> ScheduleError:
    return ScheduleError(
        f"double_buffer: '{op.name}'",
        because=because,
        legal="compute_at a serial loop of a stage that reads it",
        location=program.schedule.location_of(op, "double_buffer"),
    )


def check_own_memory(program: Program) -> None:
    """Raise ScheduleError where the caller, or code that has its address, knows memory otherwise than the schedule."""
    for op in program.ops:
        state = program.placement.states[op]
        asked = {
            "set_scope": state.scope not in ("", "global"),
            "storage_align": bool(state.alignments),
            "transform_layout": state.layout is not None and bool(state.layout.gaps),
            "double_buffer": state.double_buffered,
            "rolling_buffer": state.rolling,
            "pad": any(axis.kind is AxisKind.DATA for axis in state.padding),
        }
        verb = next((verb for verb, holds in asked.items() if holds), None)
        if verb is not None and program.is_argument(op):
            because = "it is an argument of the function, whose memory is the caller's"
            raise _not_own(program, op, verb, because, f"'{op.name}' left out of the arguments")
        reader = next(filter(has_own_loops, program.schedule.readers[op]), None) if state.alignments else None
        if reader is not None:
            because = f"'{reader.name}' has its address, and expects its rows next to each other"
            raise _not_own(program, op, "storage_align", because, "readers that are computes")


def _not_own(program: Program, op: Operation, verb: str, because: str, legal: str) -> ScheduleError:
    return ScheduleError(f"{verb}: '{op.name}'", because, legal, location=program.schedule.location_of(op, verb))
