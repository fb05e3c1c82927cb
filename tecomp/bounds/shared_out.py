"""Reductions that the threads of a block share out: which loops do, and where they stand."""

from __future__ import annotations

from collections.abc import Collection

from ..ir.axis import IterVar
from ..ir.stmt import LoopKind
from ..schedule.relation import carrying
from ..schedule.stage import StageState
from ..te.tensor import ComputeOp


def shared_out(state: StageState) -> tuple[IterVar, ...]:
    """Return the loops that reduce and are bound to threads."""
    reduced = _reduced(state)
    bound = (axis for axis in state.leaves if state.mark(axis).kind is LoopKind.THREAD)
    return tuple(axis for axis in bound if axis in reduced and not state.mark(axis).atomic)


def in_order(state: StageState, hosts: Collection[IterVar]) -> StageState:
    """Return a stage with its loops in the order in which threads can share its reduction out, where they do.

    All threads come together for each element and fold parts of one only, so loops over data stand outside, and those
    whose iterations update an element atomically. A thread folds its whole part by itself, unless stages are computed
    at a loop that reduces: at one of `hosts`.

        k.outer, k.inner (threadIdx.x), c    ->    c, k.inner (threadIdx.x), k.outer
    """
    threads = shared_out(state)
    if not threads or state.tensorized is not None:
        return state
    reduced = _reduced(state)
    alone = reduced.isdisjoint(hosts)

    def rank(leaf: IterVar) -> tuple[bool, bool, bool]:
        return leaf in reduced, not state.mark(leaf).atomic, alone and leaf not in threads

    return state.replace(leaves=tuple(sorted(state.leaves, key=rank)))


def outside_join(state: StageState) -> int:
    """Return how many loops stand outside the first whose iterations threads join."""
    reduced = _reduced(state)
    folds = (number for number, leaf in enumerate(state.leaves) if leaf in reduced and not state.mark(leaf).atomic)
    return next(folds, len(state.leaves))


def _reduced(state: StageState) -> set[IterVar]:
    """Return the axes that a reduce axis went into."""
    made = state.definition
    return carrying(made.reduce_axis, state.relations) if isinstance(made, ComputeOp) else set()
