"""The loops of a hybrid function: those of its perfect nest are loops of its stage, the others its own.

Each axis of kind DATA is independent of all others: whatever the others are, iterations that touch one element agree in
it. So it may run at once, and stand anywhere. Axes of kind CARRIED keep their order among each other.

    for i: for k: c[i] = c[i] + a[i, k]     ->     for k: for i: ...      # reorder(k, i): i is DATA, k CARRIED
"""

from __future__ import annotations

from typing import Final

from ..errors import ScheduleError
from ..ir.axis import AxisKind, IterVar
from ..te.hybrid import HybridOp
from ..te.tensor import Operation
from .relation import carrying
from .stage import StageState

LOOP_PRIMITIVES: Final = ("split", "fuse", "reorder", "bind", "vectorize", "unroll", "parallel", "pragma")
"""What can be done to the loops of a hybrid function."""
_AT_ONCE: Final = ("bind", "vectorize", "parallel")


def why_in_order(state: StageState, verb: str, axis: IterVar) -> str:
    """Say why the iterations of a loop cannot run at once, where `verb` would have them; nothing where they can."""
    op = state.op
    if verb not in _AT_ONCE or axis.kind is not AxisKind.CARRIED or not isinstance(op, HybridOp):
        return ""
    made = (root for root in op.spine if root in op.fixed and axis in carrying([root], state.relations))
    return op.fixed[next(made)]


def why_fixed(op: Operation, axis: IterVar) -> str:
    """Say why a loop of a hybrid function is none of its stage; nothing of other axes."""
    return op.fixed.get(axis, "") if isinstance(op, HybridOp) and axis.kind is AxisKind.OPAQUE else ""


def check_order(before: StageState, after: StageState) -> None:
    """Raise ScheduleError where loops that carry dependences stand in another order."""
    old, new = ([axis for axis in state.leaves if axis.kind is AxisKind.CARRIED] for state in (before, after))
    for was, now in zip(old, new, strict=True):
        if was is not now:
            carried = why_in_order(before, "bind", now)
            raise ScheduleError(
                f"reorder: '{now.name}' of '{before.op.name}' outside '{was.name}'",
                because=f"{carried}; '{was.name}' carries values too, and their order decides which",
                legal="loops that carry nothing in any order, the others as they are",
            )
