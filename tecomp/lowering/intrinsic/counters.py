"""What the innermost loops of a stage run over, as independent counters, whatever split and fuse made of them.

i split by 16, j split by 16; io, jo, then i.inner and j.inner fused     the loop       f in [0, 256)
                                                                         counters       i.inner, j.inner in [0, 16)
                                                                         values         f = i.inner * 16 + j.inner
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...arith import can_prove, simplify
from ...bounds.program import data_axes
from ...bounds.run_over import ZERO, StageBounds
from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.axis import IterVar
from ...ir.node import Expr
from ...ir.subst import substitute
from ...schedule.relation import Fuse, Split, carrying


@dataclass(frozen=True, slots=True)
class Counter:
    """A variable that takes `extent` values from 0 on, whatever the others are."""

    var: E.Var
    extent: Expr
    name: str
    reduces: bool
    """Whether a reduce axis goes into it."""


@dataclass(frozen=True, slots=True)
class Tile:
    """The iterations of some loops: their counters (those of one value left out), and each loop's value by them."""

    counters: tuple[Counter, ...]
    values: dict[E.Var, Expr]

    def over(self, expr: Expr) -> Expr:
        """Return an expression over the loops as one over the counters."""
        return simplify(substitute(expr, self.values))


def tiles(stage: StageBounds, inner: Sequence[IterVar]) -> Iterator[Tile]:
    """Yield the iterations of the loops `inner`: fused loops apart, and splits undone where both halves are there, then
    fewer of them; then the loops as they are.
    """
    whole = [relation for relation in stage.state.relations if isinstance(relation, Split) and _exact(relation, stage)]
    seen: set[tuple[IterVar, ...]] = set()
    for count in range(len(whole), -1, -1):
        for undone in combinations(whole, count):
            axes = _undo(stage, inner, undone)
            if axes not in seen:
                seen.add(axes)
                yield _tile(stage, inner, axes)
    if tuple(inner) not in seen:
        yield _tile(stage, inner, inner)


def _exact(split: Split, stage: StageBounds) -> bool:
    """Return whether the halves of a split run over the axis and no further."""
    outer, inner, parent = (stage.domains[axis].extent for axis in (split.outer, split.inner, split.parent))
    return can_prove(make.eq(make.mul(outer, inner), parent))


def _undo(stage: StageBounds, inner: Sequence[IterVar], undone: Sequence[Split]) -> tuple[IterVar, ...]:
    """Return the axes whose values together name the iteration, none of which another decides."""
    found = list(inner)
    for relation in reversed(stage.state.relations):
        if isinstance(relation, Fuse) and relation.fused in found:
            at = found.index(relation.fused)
            found[at : at + 1] = relation.parents
        elif relation in undone and all(child in found for child in relation.children):
            found[found.index(relation.children[0])] = relation.parents[0]
            found.remove(relation.children[1])
    return tuple(found)


def _tile(stage: StageBounds, inner: Sequence[IterVar], axes: Sequence[IterVar]) -> Tile:
    relations = stage.state.relations
    reduced, data = carrying(stage.reduce_axis, relations), carrying(data_axes(stage.op), relations)
    counters: list[Counter] = []
    values: dict[IterVar, Expr] = {}
    for axis in axes:
        extent = stage.domains[axis].extent
        if isinstance(extent, E.Const) and extent.value == 1:
            values[axis] = ZERO
            continue
        values[axis] = var = E.Var(axis.name, INDEX, ZERO, extent)
        counters.append(Counter(var, extent, axis.name, axis in reduced and axis not in data))
    for relation in relations:
        if relation.parents and all(parent in values for parent in relation.parents):
            relation.index_down(values, stage.domains)
    loops = {loop: values[leaf] for leaf in inner if (loop := stage.loops[leaf]) is not None}
    return Tile(tuple(counters), {loop: simplify(value) for loop, value in loops.items()})
