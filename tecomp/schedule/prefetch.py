"""The primitive that asks for memory before it is needed."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..location import Location
from ..te.tensor import Tensor
from .axis import describe, leaf
from .extent import computes_all, constant, declared_domains
from .primitive import Change, primitive
from .stage import IN_ORDER, INLINE, Prefetch
from .view import StageView


@primitive
def prefetch(stage: StageView, tensor: Tensor, axis: IterVar, offset: int) -> Change[None]:
    """In each iteration of a loop, ask for what the iteration `offset` later reads of a tensor in global memory.

    One request for each 64 bytes of each row, and none for what lies outside of the tensor. It changes no value: a CPU
    takes it into its caches, a GPU into its second level (prefetch.global.L2).

        for i in range(n):            for i in range(n):
            C[i] = A[i, 0] * 2  ->        if i + 4 < n: prefetch(A[i + 4, 0])              # prefetch(A, i, 4)
                                          C[i] = A[i, 0] * 2
    """
    if not isinstance(tensor, Tensor):
        because = f"it is of type {type(tensor).__name__}"
        raise UserTypeError(f"prefetch: {tensor!r} is no tensor", because, f"a tensor that '{stage.name}' reads")
    found = leaf(stage, "prefetch", axis)
    asked = _asked(stage, tensor, found)
    if not isinstance(offset, SupportsIndex) or isinstance(offset, bool):
        because = f"the offset {offset!r} is of type {type(offset).__name__}"
        raise UserTypeError(asked, because, "how many iterations ahead, an integer")
    if operator.index(offset) < 1:
        raise ScheduleError(asked, f"an offset of {offset} is not ahead of the iteration that reads", "1 or more")
    if tensor.op not in stage.plan.position or not stage.plan.reads(stage.origin, tensor.op):
        raise not_read(stage, tensor, found)
    mark = stage.state.mark(found)
    if mark.kind not in IN_ORDER:
        raise ScheduleError(asked, f"it is {describe(mark)}: no iteration is ahead of another", "a serial loop")
    if computes_all(stage.state):
        check_trivial(stage, tensor, found, declared_domains(stage.state)[found].extent)
    new = Prefetch(tensor, operator.index(offset))
    return stage.state.with_mark(found, mark._replace(prefetches=(*mark.prefetches, new))), None


def check_trivial(
    stage: StageView, tensor: Tensor, axis: IterVar, extent: Expr, location: Location | None = None
) -> None:
    """Raise ScheduleError where a loop has one iteration; asked again when every extent is known."""
    if constant(extent) == 1:
        because = "that loop has one iteration, and none is ahead of it"
        raise ScheduleError(_asked(stage, tensor, axis), because, "a loop of more iterations", location=location)


def not_read(stage: StageView, tensor: Tensor, axis: IterVar, location: Location | None = None) -> ScheduleError:
    """Return the refusal of a tensor that the stage does not read from memory."""
    state = stage.plan.states.get(tensor.op)
    because, legal = f"'{stage.name}' does not read '{tensor.name}'", _read_by(stage)
    if state is not None and state.attach is INLINE:
        because, legal = f"'{tensor.name}' is inlined, and lies in no memory", f"a tensor that '{tensor.name}' reads"
    return ScheduleError(_asked(stage, tensor, axis), because, legal, location=location)


def _asked(stage: StageView, tensor: Tensor, axis: IterVar) -> str:
    return f"prefetch: '{tensor.name}' along '{axis.name}' of '{stage.name}'"


def _read_by(stage: StageView) -> Any:
    read = dict.fromkeys(tensor.name for tensor in stage.state.definition.input_tensors)
    return f"a tensor that it reads: {', '.join(read) or 'none'}"
