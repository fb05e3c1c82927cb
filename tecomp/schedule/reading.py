"""Formulas over other tensors and axes: what a primitive makes of a stage when it moves work to a new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..ir import expr as E
from ..ir import make
from ..ir.axis import AxisKind, IterVar, Range
from ..ir.node import Expr
from ..ir.subst import substitute
from ..ir.visit import rewrite_expr, walk
from ..te.axis import make_axis
from ..te.tensor import ComputeOp, Tensor, domain

Values = Mapping[E.Var, Expr]
"""What each variable of a formula is in another one."""


def reading(definition: ComputeOp, tensor: Tensor, other: Tensor) -> ComputeOp:
    """Return the definition with `other` read wherever its formulas read `tensor`, at the same indices.

    C(i) = A[i] + 1    ->    C(i) = A_shared[i] + 1
    """

    def read(node: E.TensorRead) -> Expr:
        return E.TensorRead(other, node.indices) if node.tensor is tensor else node

    return definition.redefined(tuple(rewrite_expr(body, {E.TensorRead: read}) for body in definition.body))


def element(tensor: Tensor, at: Iterable[Expr]) -> Expr:
    """Return the element of `tensor` at these indices."""
    return E.TensorRead(tensor, tuple(at))


def data_axis(name: str, extent: Expr) -> IterVar:
    """Return a new axis of a result, over [0, extent)."""
    return make_axis(name, Range(make.const(0, extent.dtype), extent), AxisKind.DATA)


def moved_body(
    body: Sequence[Expr], values: Values, reduce_axes: Sequence[IterVar], exists: Expr, *, starts: bool
) -> tuple[Expr, ...]:
    """Return formulas over other axes: `values` say what each variable is, `reduce_axes` what a reduction folds over.

    Where `exists` does not hold there is no such element: a reduction folds nothing there, another formula gives 0.
    A reduction takes its start values along if `starts` says so.
    """
    first = body[0]
    if not isinstance(first, E.Reduce):
        moved = (substitute(part, values) for part in body)
        return tuple(make.if_then_else(exists, part, make.const(0, part.dtype)) for part in moved)
    source = tuple(substitute(part, values) for part in first.source)
    condition = make.logical_and(exists, substitute(first.condition, values))
    init = tuple(substitute(part, values) for part in first.init) if starts else ()
    axes = tuple(reduce_axes)
    return tuple(E.Reduce(first.combiner, source, axes, condition, init, number) for number in range(len(body)))


def moved_axis(axis: IterVar, values: Values) -> IterVar:
    """Return a reduce axis as it is where variables have other names: itself unless its range names one of them."""
    begin, extent = domain(axis)
    if not any(node in values for end in (begin, extent) for node in walk(end)):
        return axis
    return make_axis(axis.name, Range(substitute(begin, values), substitute(extent, values)), AxisKind.REDUCE)
