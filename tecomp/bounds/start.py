"""Where a reduction starts: its loops over the elements, without those over the values that are reduced.

C(i) = sum over k, leaves i, k.outer, k.inner        the start runs over i
leaves i.outer, k, i.inner                           over i.outer (the same loop) and, inside it, i.inner
leaf i.k.fused                                       over i, which no leaf is: it has a loop of its own
"""

from __future__ import annotations

from collections.abc import Sequence

from ..arith import simplify
from ..ir import make
from ..ir.axis import IterVar
from ..schedule.relation import Relation, carrying, is_whole
from .program import data_axes
from .run_over import ZERO, StageBounds, loop_of


def start_of(stage: StageBounds) -> StageBounds:
    """Return the bounds of a reduction's start. The leaves before the first that reduces are the stage's own loops."""
    relations, leaves = stage.state.relations, stage.state.leaves
    first = outside_reduction(stage)
    inner = elements(stage, leaves[first:])
    state = stage.state.replace(leaves=(*leaves[:first], *inner))
    start = StageBounds(stage.op, state, stage.scope, stage.region, stage.domains)
    start.loops = {leaf: stage.loops[leaf] for leaf in leaves[:first]} | {leaf: loop_of(leaf, stage) for leaf in inner}
    start.values = {leaf: ZERO if var is None else var for leaf, var in start.loops.items()}
    for relation in reversed(relations):
        if relation.children and all(child in start.values for child in relation.children):
            relation.index_up(start.values, start.domains)
            start.guards += [] if is_whole(relation) else relation.guards(start.values, start.domains)
    for axis, held in zip(data_axes(stage.op), stage.region, strict=True):
        start.values[axis] = simplify(make.add(held.min, start.values[axis]))
    return start


def elements(stage: StageBounds, leaves: Sequence[IterVar]) -> list[IterVar]:
    """Return the loops of a reduction's start that stand for `leaves`, loops of the stage."""
    relations = stage.state.relations
    data, reduced = carrying(data_axes(stage.op), relations), carrying(stage.reduce_axis, relations)
    return _elements(leaves, data, reduced, relations)


def outside_reduction(stage: StageBounds) -> int:
    """Return how many leaves stand outside the outermost one that a reduce axis went into.

    Where updates are atomic none does: all of them come after the whole of the start.
    """
    if any(mark.atomic for mark in stage.state.loops.values()):
        return 0
    reduced = carrying(stage.reduce_axis, stage.state.relations)
    leaves = stage.state.leaves
    return next((number for number, leaf in enumerate(leaves) if leaf in reduced), len(leaves))


def _elements(
    leaves: Sequence[IterVar], data: set[IterVar], reduced: set[IterVar], relations: Sequence[Relation]
) -> list[IterVar]:
    """Return `leaves` without what reduces; for a leaf that fuses both, the data axes that went into it."""
    made_of = {child: relation.parents for relation in relations for child in relation.children}
    found: dict[IterVar, None] = {}
    stack = list(reversed(leaves))
    while stack:
        axis = stack.pop()
        if axis in data and axis in reduced:
            stack.extend(reversed(made_of[axis]))
        elif axis in data:
            found[axis] = None
    return list(found)
