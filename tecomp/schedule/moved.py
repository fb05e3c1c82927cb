"""The outer loops of one stage as the outer loops of another that reads it.

P: i -> i.outer, i.inner; i.outer moves to C      P: i -> i.outer of one iteration, i.inner
                                                  C: i -> i.outer, i.inner
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ..ir import expr as E
from ..ir import make
from ..ir.axis import AxisKind, IterVar
from .loops import derived, fused_axis
from .relation import Fuse, Relation, Singleton, Split, carrying
from .stage import At, StageState


class Moved:
    """`loops`, the outermost leaves of the stage `state`."""

    def __init__(self, state: StageState, loops: tuple[IterVar, ...]) -> None:
        self.state, self.loops = state, loops

    def no_box(self) -> IterVar | None:
        """Return an axis of which one iteration of the loops covers no range; None where it covers a box."""
        for relation in self.state.relations:
            if isinstance(relation, Split) and self._some(relation.inner) and not self._all(relation.outer):
                return relation.parent
            if isinstance(relation, Fuse) and self._some(relation.fused) and not self._all(relation.fused):
                return relation.outer
        return None

    def inside(self, place: At) -> StageState:
        """Return the record of the stage computed in one iteration of the loops: of them one iteration is left."""
        marks = {axis: mark for axis, mark in self.state.loops.items() if axis not in self.loops}
        relations = tuple(map(self._once, self.state.relations))
        return self.state.replace(attach=place, relations=relations, loops=MappingProxyType(marks))

    def outside(self, state: StageState, axes: Mapping[IterVar, IterVar]) -> tuple[StageState, tuple[IterVar, ...]]:
        """Return the record of another stage with the loops outside of its own, and which of its loops are new.

        Those that take the place of the loops come first, then the pieces of its own axes that stay inside.
        `axes` gives that stage's axis for each axis that the loops are made of.
        """
        copy = dict(axes)
        relations = [_copied(relation, copy) for relation in self.state.relations if self._some(*relation.children)]
        below = {parent: relation.children for relation in relations for parent in relation.parents}
        loops = tuple(copy[loop] for loop in self.loops)
        inner = dict.fromkeys(part for leaf in state.leaves for part in _parts(leaf, below) if part not in loops)
        marks = {copy[loop]: self.state.mark(loop) for loop in self.loops if loop in self.state.loops}
        changed = state.replace(
            axes=(*state.axes, *(child for relation in relations for child in relation.children)),
            leaves=(*loops, *inner),
            relations=(*state.relations, *relations),
            loops=MappingProxyType({**state.loops, **marks}),
        )
        return changed, (*loops, *(axis for axis in inner if axis not in state.leaves))

    def _leaves(self, *axes: IterVar) -> set[IterVar]:
        return carrying(axes, self.state.relations).intersection(self.state.leaves)

    def _some(self, *axes: IterVar) -> bool:
        """Return whether one of the loops is made of one of the axes."""
        return not self._leaves(*axes).isdisjoint(self.loops)

    def _all(self, axis: IterVar) -> bool:
        """Return whether all that was made of the axis moves."""
        return self._leaves(axis) <= set(self.loops)

    def _once(self, relation: Relation) -> Relation:
        if isinstance(relation, Split) and self._all(relation.outer):
            return replace(relation, factor=None, nparts=make.const(1), whole=False)
        return relation


def _copied(relation: Relation, copy: dict[IterVar, IterVar]) -> Relation:
    """Return the relation over the axes of the other stage, and note what its children are there."""
    if isinstance(relation, Split):
        parent = copy[relation.parent]
        outer, inner = derived(parent, f"{parent.name}.outer"), derived(parent, f"{parent.name}.inner")
        made: Relation = Split(parent, outer, inner, relation.factor, relation.nparts, relation.whole)
    elif isinstance(relation, Fuse):
        outer, inner = copy[relation.outer], copy[relation.inner]
        made = Fuse(outer, inner, fused_axis(outer, inner))
    else:
        axis = relation.axis
        made = Singleton(IterVar(axis.dom, E.Var(axis.name, axis.dtype, axis.var.min, axis.var.extent), AxisKind.DATA))
    copy.update(zip(relation.children, made.children, strict=True))
    return made


def _parts(leaf: IterVar, below: Mapping[IterVar, tuple[IterVar, ...]]) -> Iterator[IterVar]:
    """Yield the loops that an axis has become, outermost first."""
    stack = [leaf]
    while stack:
        axis = stack.pop()
        if axis in below:
            stack += reversed(below[axis])
        else:
            yield axis
