"""How many iterations a loop has when its stage computes all of its result; bound inference may find that fewer do."""

from __future__ import annotations

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.node import Expr
from ..ir.text_expr import ExprText
from ..ir.visit import rewrite_expr
from .relation import ZERO, Domains, Split
from .stage import StageState, own_axes


def declared_domains(state: StageState, sizes: Exact | None = None) -> Domains:
    """Return the domain of every axis from the shape the operation was declared with, each starting at 0."""
    exact = sizes or Exact()
    domains: Domains = {}
    for axis in own_axes(state.definition):
        assert axis.dom is not None
        domains[axis] = Range(ZERO, exact(axis.dom.extent))
    for axis in state.env:
        assert axis.dom is not None
        domains[axis] = Range(ZERO, exact(axis.dom.extent))
    kept = kept_lengths(state)
    for relation in state.relations:
        relation.domain_down(domains, kept, exact)
    return domains


def kept_lengths(state: StageState) -> set[IterVar]:
    """Return the axes that are as long as was asked even where fewer iterations do.

    They are loops bound to threads, and the parts that a loop of declared extent is measured by:

        rest = split(i, factor=32)[1]; outer = split(rest, factor=8)[0]     outer is 4 long where i is 9 too,
        bind(outer, te.thread_axis((0, 4), "threadIdx.y"))                  so rest is 32 long, not 9
    """
    marks = state.loops.items()
    measured = {axis for axis, mark in marks if mark.thread is not None and mark.thread.dom is not None}
    for relation in reversed(state.relations):
        if not measured.isdisjoint(relation.measured):
            measured.update(relation.parents)
    return measured | {axis for axis, mark in marks if mark.keeps_length}


def computes_all(state: StageState) -> bool:
    """Return whether the stage computes all of its result, so that its loops have the extents declared."""
    return state.is_output or state.feeds is not None


def thread_extent(state: StageState, axis: IterVar) -> int | None:
    """Return how many threads the loop `axis` would be when bound, where that is constant and can no longer change."""
    for relation in state.relations:
        if isinstance(relation, Split) and axis in relation.children:
            wanted = relation.factor if axis is relation.inner else relation.nparts
            if wanted is not None:
                return constant(wanted)
    return constant(declared_domains(state)[axis].extent) if computes_all(state) else None


def show(value: Expr) -> str:
    """Return an extent as text, each size by its name."""
    return ExprText(lambda var: var.name, value.dtype)(value)


def constant(value: Expr) -> int | None:
    """Return the number that `value` is, None where it is no constant."""
    return int(value.value) if isinstance(value, E.Const) else None


class Exact:
    """Index arithmetic from int32 extents; a size is one variable, at least 0, wherever it occurs."""

    def __init__(self) -> None:
        self.sizes: dict[E.Var, E.Var] = {}
        self.memo: dict[Expr, Expr] = {}

    def __call__(self, extent: Expr) -> Expr:
        """Return `extent` as an exact integer."""
        table = {
            E.Var: self.size,
            E.Const: lambda node: make.index(node.value) if node.dtype.is_integer else node,
            E.Cast: lambda node: node.value if node.value.dtype is INDEX else make.index(node),
            E.TensorRead: make.index,
            E.Call: make.index,
        }
        return make.index(rewrite_expr(extent, table, self.memo))

    def size(self, var: E.Var) -> Expr:
        """Return the exact variable of a size."""
        return self.sizes.setdefault(var, E.Var(var.name, INDEX, ZERO))
