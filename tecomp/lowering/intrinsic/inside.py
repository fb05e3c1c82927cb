"""Whether an instruction reads what the loops do not: it reads whole regions, a formula may leave elements out.

C(i) = if_then_else(i < 3, A[i], 0)     x[i] by an intrinsic: all of A[0 : 16], of which only three need exist
"""

from __future__ import annotations

from collections.abc import Sequence

from ...arith import bounds_of, can_prove
from ...bounds.program import Program
from ...bounds.run_over import ONE, ZERO, StageBounds
from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.axis import Range
from ...ir.node import Expr
from ...ir.visit import walk
from ...te.index import Indexer
from ...te.tensor import Tensor, domain
from ...te.tensor_intrin import TensorIntrin
from .view import View


def outside(program: Program, stage: StageBounds, intrin: TensorIntrin, views: Sequence[View]) -> str:
    """Return the name of a tensor of which the intrinsic may read elements that do not exist; none is empty."""
    chosen = any(isinstance(node, (E.Select, E.IfElse)) for part in stage.body for node in walk(part))
    for tensor, view in zip(intrin.inputs, views, strict=False):
        if (chosen or not _reads_all(intrin, tensor)) and not _is_inside(program, tensor, view):
            return view.tensor.name
    return ""


def _reads_all(intrin: TensorIntrin, tensor: Tensor) -> bool:
    """Return whether one read of the formula runs over every element of `tensor`."""
    exact = Indexer()
    shape, own = list(map(exact.extent, tensor.shape)), (*intrin.op.axis, *intrin.op.reduce_axis)
    axes = {axis.var: E.Var(axis.name, INDEX, *map(exact.extent, domain(axis))) for axis in own}
    ranges = {axes[axis.var]: Range(*map(exact.extent, domain(axis))) for axis in own}
    reads = (node for part in intrin.op.body for node in walk(part) if isinstance(node, E.TensorRead))
    places = (exact.indices(read.indices, axes) for read in reads if read.tensor is tensor)
    return any(all(_spans(*pair, ranges) for pair in zip(at, shape, strict=True)) for at in places)


def _spans(index: Expr, extent: Expr, ranges: dict[E.Var, Range]) -> bool:
    low, high = bounds_of(index, ranges)
    if low is None or high is None:
        return False
    return can_prove(make.eq(low, ZERO)) and can_prove(make.eq(make.add(high, ONE), extent))


def _is_inside(program: Program, tensor: Tensor, view: View) -> bool:
    """Return whether all elements of a view are known to exist."""
    at = [E.Var(f"k{dim}", INDEX, ZERO, program.indexer.extent(extent)) for dim, extent in enumerate(tensor.shape)]
    shape = [program.indexer.extent(extent) for extent in view.tensor.shape]
    return all(
        can_prove(make.le(ZERO, index)) and can_prove(make.lt(index, extent))
        for index, extent in zip(view.at(at), shape, strict=True)
    )
