"""A stage's loops as axes of a computation: their extents, and what the stage's own axes are in terms of them.

i split by 4 of an extent n      extents  i.outer: (n + 3) // 4, i.inner: 4
                                 values   i = i.outer * 4 + i.inner
                                 exists   i.outer * 4 + i.inner < n

Relations speak of exact integers; what stands here is of the types that users write, so that a new stage is a compute
like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..arith import simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.visit import rewrite_expr
from ..te.tensor import ComputeOp
from .extent import Exact, declared_domains
from .relation import ZERO, Values
from .stage import StageState


class Leaves:
    """The loops of one stage where it computes all of its result."""

    def __init__(self, state: StageState) -> None:
        self.state = state
        self._exact = Exact()
        self._domains = declared_domains(state, self._exact)
        self._typed: dict[E.Var, Expr] = {}
        """What each exact variable is to the user."""

    def extent(self, axis: IterVar) -> Expr:
        """Return how many iterations a loop has, in the axis's type."""
        return self._written(self._domains[axis].extent, axis)

    def values_up(self, known: Mapping[IterVar, Expr]) -> tuple[dict[E.Var, Expr], Expr]:
        """Return the operation's own axes in terms of the loops in `known`, and the condition under which they exist.

        Axes that no loop in `known` goes into are left out. An axis begins where it was declared to.
        """
        values: Values = {axis: self._exactly(value) for axis, value in known.items()}
        guards: list[Expr] = []
        for relation in reversed(self.state.relations):
            if relation.children and all(child in values for child in relation.children):
                relation.index_up(values, self._domains)
                guards += relation.guards(values, self._domains)
        own = [axis for axis in _own(self.state) if axis in values]
        found = {axis.var: make.add(_begin(axis), self._written(values[axis], axis)) for axis in own}
        return found, make.logical_and(*(self._written(guard, own[0]) for guard in guards))

    def values_down(self, axes: Iterable[IterVar], leaves: Iterable[IterVar]) -> list[Expr]:
        """Return the loops `leaves` in terms of the operation's own data axes."""
        values: Values = {axis: self._exactly(axis.var) for axis in axes}
        for relation in self.state.relations:
            if all(parent in values for parent in relation.parents):
                relation.index_down(values, self._domains)
        return [self._written(values[leaf], leaf) for leaf in leaves]

    def _exactly(self, value: Expr) -> Expr:
        """Return an exact variable that stands for a value over the user's axes."""
        assert isinstance(value, E.Var)
        var = E.Var(value.name, INDEX, ZERO, None if value.extent is None else self._exact(value.extent))
        self._typed[var] = value
        return var

    def _written(self, value: Expr, axis: IterVar) -> Expr:
        """Return an exact value in the type of an axis, over the user's variables."""
        names: dict[E.Var, Expr] = {index: var for var, index in self._exact.sizes.items()} | self._typed
        table = {
            E.Var: lambda node: make.cast(axis.dtype, names[node]),
            E.Const: lambda node: make.const(node.value, axis.dtype) if node.dtype is INDEX else node,
            E.Cast: lambda node: make.cast(axis.dtype, node.value) if node.dtype is INDEX else node,
        }
        return rewrite_expr(simplify(value), table)


def _own(state: StageState) -> tuple[IterVar, ...]:
    made = state.definition
    assert isinstance(made, ComputeOp)
    return (*made.axis, *made.reduce_axis)


def _begin(axis: IterVar) -> Expr:
    """Return the first value of an axis."""
    assert axis.dom is not None
    return make.cast(axis.dtype, axis.dom.min)
