"""What a store predicate asks, in the loops of a nest: of its stage's axes, of threads around, of other threads.

A thread axis that only other stages bind loops to (those whose threads the kernel has) becomes a loop around the store:

    s[B].set_store_predicate(tx.var == 0)        for tx in thread("threadIdx.x", 16):
                                             ->      if tx == 0:
                                                         B[i] = S[0] + 2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.visit import walk
from ..schedule.extent import constant, declared_domains
from ..schedule.stage import StageState
from .attach import Place
from .program import Program
from .run_over import ZERO, Bounds, StageBounds


def ask(stage: StageBounds, path: Sequence[Place], bounds: Bounds, program: Program) -> None:
    """Fill the predicate of a stage whose schedule has one, and the threads for which it is asked."""
    condition = stage.state.store_predicate
    if condition is None:
        return
    known, tags = _around(stage, path, bounds)
    known |= {axis.var: value for axis, value in stage.values.items()}
    named = set(walk(condition))
    for thread, state, leaf in _bound(program.placement.states.values()):
        if thread.var in named and thread.var not in known:
            known[thread.var] = tags.get(thread.thread_tag) or _asked_of(thread, state, leaf, stage, program)
    stage.predicate = program.indexer.data(condition, known)


def _around(stage: StageBounds, path: Sequence[Place], bounds: Bounds) -> tuple[dict[E.Var, Expr], dict[str, Expr]]:
    """Return the value of each thread axis that a loop of the stage or around it is bound to, and by its tag."""
    known: dict[E.Var, Expr] = {}
    tags: dict[str, Expr] = {}
    for owner, axis in [*path, *((stage.op, leaf) for leaf in stage.state.leaves)]:
        at = stage if owner is stage.op else bounds[owner]
        thread = at.state.mark(axis).thread
        if thread is not None:
            known[thread.var] = tags[thread.thread_tag] = at.values[axis]
    return known, tags


def _bound(states: Iterator[StageState] | Sequence[StageState]) -> Iterator[tuple[IterVar, StageState, IterVar]]:
    for state in states:
        for leaf, mark in state.loops.items():
            if mark.thread is not None:
                yield mark.thread, state, leaf


def _asked_of(thread: IterVar, state: StageState, leaf: IterVar, stage: StageBounds, program: Program) -> E.Var:
    """Return the loop variable of the threads of an axis that a loop of another stage is bound to."""
    declared = thread.dom.extent if thread.dom is not None else declared_domains(state)[leaf].extent
    count = constant(declared)
    if count is None:
        raise ScheduleError(
            f"set_store_predicate: '{stage.op.name}' asks of {thread.thread_tag}",
            because=f"no loop of '{stage.op.name}' is bound to it, and '{leaf.name}' of '{state.op.name}' is of no constant extent",
            legal=f'te.thread_axis((0, n), "{thread.thread_tag}") with a number of threads',
            location=program.schedule.location_of(stage.op, "set_store_predicate"),
        )
    tag = thread.thread_tag
    found = next((var for var, other in stage.asked_of.items() if other == tag), None)
    var = found if found is not None else E.Var(thread.name or tag, INDEX, ZERO, make.index(count))
    stage.asked_of[var] = tag
    return var
