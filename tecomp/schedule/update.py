"""How iterations that combine into one element may run at once: by updates that nothing can come between."""

from __future__ import annotations

from typing import Final

from ..errors import ScheduleError
from ..ir import expr as E
from ..ir.atomic import ATOMICS, atomic_of
from ..ir.axis import AxisKind, IterVar
from ..te.tensor import ComputeOp
from .axis import cannot
from .relation import carrying
from .stage import ROOT, SCAN
from .view import StageView

ATOMIC: Final = "atomic"
LEAST_BITS: Final = 16
"""The smallest elements that machines update indivisibly."""


def is_atomic(stage: StageView, verb: str, axis: IterVar, reduce_update: str, to: str = "") -> bool:
    """Return whether a loop's iterations are to update their element atomically; raise where they cannot."""
    if not reduce_update:
        return False
    if reduce_update != ATOMIC:
        asked = f"{verb}: '{axis.name}' of '{stage.name}' with reduce_update={reduce_update!r}"
        raise ScheduleError(asked, "nothing updates in that way", f"reduce_update={ATOMIC!r}")
    made, state = stage.op, stage.state
    if axis.kind is not AxisKind.REDUCE or not isinstance(made, ComputeOp):
        because = "its iterations are different elements, so none updates another's"
        raise cannot(verb, axis, stage, because, f"no reduce_update, or a reduce axis of '{stage.name}'", to=to)
    first = made.body[0]
    assert isinstance(first, E.Reduce)
    if atomic_of(first.combiner) is None:
        because = f"'{first.combiner.name}' is no operation that a machine does to memory in one step"
        legal = f"te.sum, te.prod, te.min, te.max of one value ({', '.join(ATOMICS)}); or s.rfactor"
        raise cannot(verb, axis, stage, because, legal, to=to)
    dtype = first.source[0].dtype
    if dtype.bits < LEAST_BITS or dtype.lanes > 1:
        because = f"its elements are {dtype}, and {LEAST_BITS} bits are the least that are updated in one step"
        raise cannot(verb, axis, stage, because, ".astype('int32') in the formula; or s.rfactor", to=to)
    if state.attach not in (ROOT, SCAN):
        because = f"'{stage.name}' is computed inside other loops, and each iteration of these would start it again"
        raise cannot(verb, axis, stage, because, "compute_root", to=to)
    shared = next((leaf for leaf in _reduce_loops(stage, made) if _shared_out(stage, leaf)), None)
    if shared is not None:
        because = f"threads share the reduction out along '{shared.name}', and each would update the element"
        legal = f"s.rfactor(T, loop) for '{axis.name}', with the partial results computed at that loop"
        raise cannot(verb, axis, stage, because, legal, to=to)
    return True


def _reduce_loops(stage: StageView, made: ComputeOp) -> list[IterVar]:
    reduced = carrying(made.reduce_axis, stage.state.relations)
    return [leaf for leaf in stage.state.leaves if leaf in reduced]


def _shared_out(stage: StageView, leaf: IterVar) -> bool:
    mark = stage.state.mark(leaf)
    return mark.thread is not None and not mark.atomic
