"""Loops whose length another loop decides: they stay inside it.

C(i) = sum over k in [0, i + 1)       for i in range(n):
                                          for k in range(i + 1): ...     # reorder(k, i) would ask for i too early
"""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.axis import IterVar
from ..ir.expr import Var
from ..ir.visit import walk
from ..te.tensor import ComputeOp
from .relation import carrying
from .stage import StageState


def check_inside(verb: str, state: StageState) -> None:
    """Raise ScheduleError where a loop of a reduce axis stands outside of one of an axis that its extent depends on."""
    op = state.definition
    if not isinstance(op, ComputeOp):
        return
    axes = {axis.var: axis for axis in (*op.axis, *op.reduce_axis)}
    for axis in op.reduce_axis:
        for other in _named(axis, axes):
            inner = carrying([axis], state.relations)
            outer = carrying([other], state.relations) - inner
            first = next(leaf for leaf in state.leaves if leaf in inner)
            late = [leaf for leaf in state.leaves[state.positions()[first] :] if leaf in outer]
            if late:
                assert axis.dom is not None
                raise ScheduleError(
                    f"{verb}: '{first.name}' of '{op.name}' outside '{late[-1].name}'",
                    because=f"'{axis.name}' has the extent {axis.dom.extent!r}, which depends on '{other.name}'",
                    legal=f"the loops of '{other.name}' outside those of '{axis.name}'",
                )


def _named(axis: IterVar, axes: dict[Var, IterVar]) -> list[IterVar]:
    """Return those of `axes` that the ends of `axis` depend on."""
    assert axis.dom is not None
    found = dict.fromkeys(node for part in axis.dom for node in walk(part) if isinstance(node, Var))
    return [axes[var] for var in found if var in axes]
