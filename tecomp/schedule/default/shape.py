"""What a default schedule asks of a stage: its axes, how long they are, along which of them memory is contiguous."""

from __future__ import annotations

from ...ir import expr as E
from ...ir.axis import IterVar
from ...ir.visit import walk
from ...te.tensor import ComputeOp, domain
from ...te.tensor_compute import TensorComputeOp
from ..extent import constant
from ..schedule import Stage


def data_loops(stage: Stage) -> list[IterVar]:
    """Return the axes over elements, outermost first, without the time of a scan and what an intrinsic runs over."""
    assert isinstance(stage.op, ComputeOp)
    taken = (stage.state.time_axis, *(stage.op.within if isinstance(stage.op, TensorComputeOp) else ()))
    return [axis for axis in stage.op.axis if axis not in taken]


def joined(stage: Stage, axes: list[IterVar]) -> IterVar:
    """Return one loop over all of `axes`, of one iteration where there is none."""
    return axes[0] if len(axes) == 1 else stage.fuse(*axes)


def length(axis: IterVar) -> int | None:
    """Return the constant extent of an axis, if it has one."""
    return constant(domain(axis).extent)


def product(axes: list[IterVar]) -> int | None:
    """Return how many iterations the loops over all of `axes` have, where that is constant."""
    total = 1
    for axis in axes:
        extent = length(axis)
        if extent is None:
            return None
        total *= extent
    return total


def is_contiguous(stage: Stage, axis: IterVar) -> bool:
    """Return whether neighbours along an axis read neighbours in memory, and nothing read is further apart."""
    assert isinstance(stage.op, ComputeOp)
    lasts = 0
    for part in stage.op.body:
        for node in walk(part):
            if not isinstance(node, E.TensorRead) or not node.indices:
                continue
            if any(_names(index, axis) for index in node.indices[:-1]):
                return False
            lasts += _names(node.indices[-1], axis)
    return lasts > 0


def is_ragged(stage: Stage) -> bool:
    """Return whether the range of a reduce axis depends on other axes, or on data."""
    assert isinstance(stage.op, ComputeOp)
    own = {axis.var for axis in (*stage.op.axis, *stage.op.reduce_axis)}
    ends = (end for axis in stage.op.reduce_axis for end in domain(axis))
    return any(node in own or isinstance(node, E.TensorRead) for end in ends for node in walk(end))


def _names(index: E.Expr, axis: IterVar) -> bool:
    return any(node is axis.var for node in walk(index))
