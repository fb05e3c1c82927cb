"""Stages that run further than their axes are long: how far, and what is computed beyond the end.

B(i), i in [0, n), padded to 8      i in [0, (n + 7) // 8 * 8), B(i) if i < n else 0
sum over k in [0, m), padded to 8   k in [0, (m + 7) // 8 * 8), joined where k < m; without that condition where all
                                    that is read beyond the end is 0 and a product of such changes no sum
"""

from __future__ import annotations

from collections.abc import Iterator

from ..arith import can_prove, simplify
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.visit import rewrite_expr, walk
from ..te.tensor import ComputeOp, Tensor, domain
from .program import Program, data_axes
from .run_over import StageBounds, rounded


def beyond(stage: StageBounds, program: Program) -> Iterator[Expr]:
    """Yield what must hold for an element, or a value that is reduced, to lie before the end of padded axes."""
    state = stage.state
    for axis, extent, window in zip(data_axes(stage.op), program.shape(stage.op), stage.region, strict=False):
        if axis in state.padding and not can_prove(make.le(make.add(window.min, window.extent), extent)):
            yield simplify(make.lt(stage.values[axis], extent))
    for axis in stage.reduce_axis:
        if axis in state.padding and axis in stage.values and not _adds_nothing(stage, axis, program):
            begin, extent = (make.index(program.indexer.lower(end, {})) for end in domain(axis))
            inside = simplify(make.lt(stage.values[axis], make.add(begin, extent)))
            if not can_prove(inside):
                yield inside


def filled(parts: tuple[Expr, ...], conditions: list[Expr]) -> tuple[Expr, ...]:
    """Return values that are 0 where the conditions do not hold."""
    inside = make.logical_and(*conditions)
    return tuple(make.if_then_else(inside, part, make.const(0, part.dtype)) for part in parts)


def _adds_nothing(stage: StageBounds, axis: IterVar, program: Program) -> bool:
    """Return whether what a reduction joins beyond the end of `axis` leaves its result as it is."""
    first = program.bodies[stage.op][0]  # pyright: ignore[reportArgumentType] (a stage that reduces is a compute)
    assert isinstance(first, E.Reduce)

    def read(node: E.TensorRead) -> Expr:
        at = [number for number, index in enumerate(node.indices) if axis.var in set(walk(index))]
        empty = len(at) == 1 and node.indices[at[0]] is axis.var and _is_zero(node.tensor, at[0], stage, axis, program)
        return make.const(0, node.dtype) if empty else node

    left = (simplify(rewrite_expr(part, {E.TensorRead: read})) for part in first.source)
    return all(part is identity for part, identity in zip(left, first.combiner.identity, strict=True))


def _is_zero(tensor: Tensor, number: int, stage: StageBounds, axis: IterVar, program: Program) -> bool:
    """Return whether a tensor is padded along a dimension as far as `axis` runs beyond its end, which is its own."""
    state, begin = program.placement.states[tensor.op], domain(axis).min
    made = state.definition
    if not isinstance(made, ComputeOp) or made.reduce_axis or made.axis[number] not in state.padding:
        return False
    extent, end = program.shape(tensor.op)[number], make.index(program.indexer.lower(domain(axis).extent, {}))
    reach = rounded(extent, state, made.axis[number])
    starts = isinstance(begin, E.Const) and begin.value == 0
    return starts and can_prove(make.eq(extent, end)) and can_prove(make.le(stage.domains[axis].extent, reach))
