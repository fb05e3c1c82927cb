"""pad: a stage runs further along an axis than it is long, so that its loops divide evenly."""

from __future__ import annotations

import operator
from types import MappingProxyType
from typing import Any, SupportsIndex

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import AxisKind, IterVar
from ..ir.expr import TensorRead, Var
from ..ir.visit import walk
from ..te.tensor import ComputeOp, domain
from .axis import as_axis, check_has_loops, names
from .primitive import Change, primitive
from .storage import reading_code, why_no_memory
from .view import StageView


@primitive
def pad(stage: StageView, axis: IterVar | int, multiple: int) -> Change[None]:
    """Let the stage run along one of its axes up to a multiple, where splits leave no rest; `axis` may be a number.

    Along an axis of the result its memory grows too, and holds 0 beyond the end (a reduction: what it starts from),
    which no reader sees. Along a reduce axis, what lies beyond contributes nothing: it is left out, unless all that is
    read there is padded too, and gives what changes nothing, as 0 * 0 for a sum. Then no loop has a condition.

        for ko in range((m + 7) // 8):                  for ko in range((m + 7) // 8):            # s[C].pad(k, 8)
            for ki in range(8):                             S[:] = [A[k] if k < m else 0 ...]     # s[S].pad(0, 8)
                if ko * 8 + ki < m:            ->           for ki in range(8):
                    C += S[ki] * T[ki]                          C += S[ki] * T[ki]                # s[T].pad(0, 8)
    """
    check_has_loops(stage, "pad")
    if not isinstance(stage.op, ComputeOp):
        raise ScheduleError(f"pad: '{stage.name}'", "it is no compute", "a compute")
    found = _axis(stage, axis)
    asked = f"pad: '{found.name}' of '{stage.name}' to a multiple of {multiple!r}"
    if not isinstance(multiple, SupportsIndex) or isinstance(multiple, bool):
        raise UserTypeError(asked, f"it is of type {type(multiple).__name__}", "a positive integer")
    if operator.index(multiple) <= 0:
        raise ScheduleError(asked, "nothing is a multiple of that", "a positive integer")
    reason = _reason(stage, found)
    if reason:
        raise ScheduleError(asked, reason, "an axis of a compute whose memory is a temporary, or one that it reduces")
    padding = MappingProxyType({**stage.state.padding, found: operator.index(multiple)})
    return stage.state.replace(padding=padding), None


def _axis(stage: StageView, axis: Any) -> IterVar:
    """Return an axis of the operation, named by itself or by its number."""
    made = stage.op
    own = (*made.axis, *made.reduce_axis) if isinstance(made, ComputeOp) else ()
    if isinstance(axis, SupportsIndex) and not isinstance(axis, bool):
        number = operator.index(axis)
        if not 0 <= number < len(own):
            asked = f"pad: axis {axis!r} of '{stage.name}'"
            raise ScheduleError(asked, f"it has {len(own)} axes: {names(own)}", f"0 to {len(own) - 1}")
        return own[number]
    found = as_axis(stage, "pad", axis)
    if found not in own:
        because = f"'{found.name}' is no axis that '{stage.name}' was declared with"
        raise ScheduleError(f"pad: '{found.name}' of '{stage.name}'", because, f"one of {names(own)}")
    return found


def _reason(stage: StageView, axis: IterVar) -> str:
    """Say why a stage cannot run further along an axis."""
    if axis.kind is AxisKind.DATA:
        if stage.state.layout is not None:
            return "transform_layout said where its elements lie, and beyond the end is no place"
        scan, extern = stage.state.group, reading_code(stage)
        if scan is not None:
            return f"it is computed at each step of scan '{scan.name}', and what lies beyond may be of later ones"
        return f"'{extern}' has the address of its memory" if extern else why_no_memory(stage.state)
    named = [node for end in domain(axis) for node in walk(end)]
    other = next((node.name for node in named if isinstance(node, Var) and node in stage.plan.owner), None)
    other = other or next((node.tensor.name for node in named if isinstance(node, TensorRead)), None)
    return f"how long it is depends on '{other}'" if other else ""
