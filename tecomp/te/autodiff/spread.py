"""One operation in reverse: from what flows into its results to what flows into the elements that it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.visit import rewrite_expr
from ..index import Indexer
from ..tensor import ComputeOp, Operation, Tensor, domain
from .adjoint import Scatter
from .forward import Frame
from .partials import Flow, partials
from .reductions import Folded, Roots, into_reduction


class Elements(NamedTuple):
    """Elements of the results of `op`: `at`, for all values of `axes` where `guard` holds; `seeds` flow into them."""

    op: ComputeOp
    axes: tuple[E.Var, ...]
    at: tuple[Expr, ...]
    guard: Expr
    seeds: tuple[Expr | None, ...]


class Spread:
    """Differentiates the formula of some elements by the elements of `active` tensors."""

    def __init__(
        self, elements: Elements, indexer: Indexer, frame: Frame, active: Collection[Tensor], asked: str
    ) -> None:
        self.elements, self.op, self.indexer, self.frame, self.active = elements, elements.op, indexer, frame, active
        self.names: dict[E.Var, Expr] = dict(zip((axis.var for axis in self.op.axis), elements.at, strict=True))
        self.asked = through(asked, self.op)

    def scatters(self) -> Iterator[tuple[Tensor, Scatter]]:
        """Yield what is added to the adjoint of each tensor that is read."""
        reduce = self.op.body[0]
        return self._of_reduction(reduce) if isinstance(reduce, E.Reduce) else self._of_formulas()

    def _of_formulas(self) -> Iterator[tuple[Tensor, Scatter]]:
        _, axes, at, guard, seeds = self.elements
        bodies = [self.indexer.data(body, self.names) for body in self.op.body]
        roots = [(body, Flow(guard, seed)) for body, seed in zip(bodies, seeds, strict=True) if seed is not None]
        computed: dict[Expr, Expr] = {
            body: E.TensorRead(self.op.output(number), at)
            for number, body in enumerate(bodies)
            if isinstance(body, (E.Call, E.Div))
        }
        return self._into_reads(axes, roots, computed)

    def _of_reduction(self, reduce: E.Reduce) -> Iterator[tuple[Tensor, Scatter]]:
        folded_axes: list[E.Var] = []
        for axis in reduce.axes:
            first, extent = (make.index(self.indexer.lower(end, self.names)) for end in domain(axis))
            folded_axes.append(E.Var(axis.name, INDEX, first, extent))
            self.names[axis.var] = folded_axes[-1]
        _, axes, at, guard, seeds = self.elements
        lowered, over = self._lowered(reduce), tuple(folded_axes)
        folded = Folded(self.op, lowered, at, over, seeds, guard, self.frame, self.asked)
        into_values, into_start = into_reduction(folded)
        yield from self._into_reads((*axes, *over), into_values, {})
        yield from self._into_reads(axes, into_start, {})

    def _lowered(self, reduce: E.Reduce) -> E.Reduce:
        """Return the reduction in index arithmetic."""
        source, init, (condition,) = (
            tuple(self.indexer.data(part, self.names) for part in parts)
            for parts in (reduce.source, reduce.init, [reduce.condition])
        )
        return E.Reduce(reduce.combiner, source, reduce.axes, condition, init, 0)

    def _into_reads(
        self, axes: tuple[E.Var, ...], roots: Roots, computed: Mapping[Expr, Expr]
    ) -> Iterator[tuple[Tensor, Scatter]]:
        """Yield what flows into each element that the roots read, by values that exist where it is computed."""
        for read, flow in partials(roots, self._is_active, computed, self.asked).items():
            assert isinstance(read, E.TensorRead)
            index, (guard, weight) = map(self._value, read.indices), map(self._value, flow)
            yield read.tensor, Scatter(self.op.name, axes, tuple(index), guard, weight)

    def _is_active(self, node: Expr) -> bool:
        return isinstance(node, E.TensorRead) and node.tensor in self.active

    def _value(self, expr: Expr) -> Expr:
        read = self.frame.value
        return rewrite_expr(expr, {E.TensorRead: lambda node: E.TensorRead(read(node.tensor), node.indices)})


def through(asked: str, op: Operation) -> str:
    """Return how the refusal begins that an operation cannot be differentiated."""
    return f"{asked}: through '{op.name}'" + (f" ({op.loc})" if op.loc else "")
