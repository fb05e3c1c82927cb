"""What a store predicate asks, in the loops of a nest: of its stage's axes, of threads around, of other threads.

A thread axis that only other stages bind loops to (those whose threads the kernel has) becomes a loop around the store:

    s[B].set_store_predicate(tx.var == 0)        for tx in thread("threadIdx.x", 16):
                                             ->      if tx == 0:
                                                         B[i] = S[0] + 2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..arith import can_prove, simplify
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.stmt import LoopKind
from ..ir.visit import walk
from ..schedule.extent import constant, declared_domains
from ..schedule.stage import StageState
from ..te.shape import plain
from .attach import Place
from .program import Program, data_axes
from .run_over import ONE, ZERO, Bounds, StageBounds
from .scope import relaxes


def ask(stage: StageBounds, path: Sequence[Place], bounds: Bounds, program: Program) -> None:
    """Fill the predicate of a stage whose schedule has one, and the threads for each of which it is asked."""
    condition = stage.state.store_predicate
    if condition is None:
        return
    known, by_tag = _around(stage, path, bounds)
    known |= {axis.var: value for axis, value in stage.values.items()}
    named = set(walk(condition))
    for thread, state, leaf in _bound(program):
        if thread.var in named and thread.var not in known:
            tag = thread.thread_tag
            if tag not in by_tag:
                by_tag[tag] = var = _loop(thread, state, leaf, stage, program)
                stage.asked_of[var] = tag
            known[thread.var] = by_tag[tag]
    stage.predicate = program.indexer.data(condition, known)
    read = stage.state.feeds is not None or bool(program.readers_of(stage.op))
    if read and not program.is_argument(stage.op):
        _check_stored(stage, {var: tag for tag, var in by_tag.items()}, program)


def _check_stored(stage: StageBounds, threads: Mapping[Expr, str], program: Program) -> None:
    """Raise ScheduleError where elements that other stages read may be stored by no thread.

    Which of the threads that share the memory and compute the same elements stores them, a predicate may say.
    """
    predicate = stage.predicate
    assert predicate is not None
    elements = {node for axis in data_axes(stage.op) for node in walk(stage.values[axis])}
    asked = {node for node in walk(predicate) if isinstance(node, E.Var)}
    chosen = all(var in threads and relaxes(stage.scope, threads[var]) and var not in elements for var in asked)
    if can_prove(predicate) or (chosen and asked and not can_prove(make.logical_not(predicate))):
        return
    reader = next((reader.name for reader, _ in program.readers_of(stage.op)), "the scan")
    raise ScheduleError(
        f"set_store_predicate: {plain(predicate)} on '{stage.op.name}'",
        because=f"'{reader}' reads elements that are stored nowhere, in memory that held nothing before",
        legal="a condition on threads that compute the same elements; te.if_then_else in the formula",
        location=program.schedule.location_of(stage.op, "set_store_predicate"),
    )


def _around(stage: StageBounds, path: Sequence[Place], bounds: Bounds) -> tuple[dict[E.Var, Expr], dict[str, Expr]]:
    """Return the value of each thread axis that a loop of the stage or around it is bound to, and by its tag."""
    known: dict[E.Var, Expr] = {}
    by_tag: dict[str, Expr] = {**stage.living}
    for owner, axis in [*path, *((stage.op, leaf) for leaf in stage.state.leaves)]:
        at = stage if owner is stage.op else bounds[owner]
        thread = at.state.mark(axis).thread
        if thread is not None:
            known[thread.var] = by_tag[thread.thread_tag] = at.values[axis]
    return known, by_tag


def _bound(program: Program) -> Iterator[tuple[IterVar, StageState, IterVar]]:
    """Yield each thread axis with the stage, and the loop of it, that is bound to it."""
    for state in program.placement.states.values():
        for leaf, mark in state.loops.items():
            if mark.thread is not None and mark.kind is LoopKind.THREAD:
                yield mark.thread, state, leaf


def _loop(thread: IterVar, state: StageState, leaf: IterVar, stage: StageBounds, program: Program) -> E.Var:
    """Return a loop variable over the threads that a loop of another stage, or one that reduces, is bound to.

    Threads that reduce are one at least.
    """
    name = thread.thread_tag.replace(".", "_")
    if state.op is stage.op:
        return E.Var(name, INDEX, ZERO, simplify(make.maximum(stage.domains[leaf].extent, ONE)))
    extent = thread.dom.extent if thread.dom is not None else declared_domains(state)[leaf].extent
    count = constant(extent)
    if count is None:
        long = f"how many '{leaf.name}' of '{state.op.name}' is differs"
        raise ScheduleError(
            f"set_store_predicate: {thread.thread_tag} on '{stage.op.name}'",
            because=f"no loop of '{stage.op.name}' is bound to it, and {long}",
            legal=f'te.thread_axis((0, 32), "{thread.thread_tag}"), which says how many there are',
            location=program.schedule.location_of(stage.op, "set_store_predicate"),
        )
    return E.Var(name, INDEX, ZERO, make.index(max(count, 1)))
