"""The loop nest of one stage: its leaves as loops, guards as far out as their variables allow, producers inside.

C(i) = sum over k of A[i, k], i split by 4      for i_outer in range((n + 3) // 4):
                                                    for i_inner in range(4):
                                                        if i_outer * 4 + i_inner < n:
                                                            C[...] = 0
                                                            for k in range(m):
                                                                C[...] = C[...] + A[..., k]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..bounds.attach import Place
from ..bounds.run_over import StageBounds
from ..bounds.start import outside_reduction
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.stmt import For, If, Let, LoopKind, Seq, Stmt
from ..ir.subst import substitute_stmt
from ..ir.visit import walk
from .body import Body
from .storage import Storage

Producers = Callable[[IterVar, Stmt], Stmt]
"""Puts the stages computed at that leaf, and the memory they need, in front of the rest of its loop's body."""


class Nest:
    """Builds the nest of one stage, from the inside out."""

    def __init__(self, stage: StageBounds, producers: Producers, storage: Storage) -> None:
        self.stage, self.producers, self.storage = stage, producers, storage
        self.leaves = tuple(leaf for leaf in stage.state.leaves if leaf not in stage.state.env)
        self.guards = _placed(stage)

    def around(self, inner: Stmt) -> Stmt:
        """Return `inner` in all loops of the stage."""
        return self._guarded(self._loops(inner, self.leaves), self.guards.get(None, ()))

    def compute(self, body: Body) -> Stmt:
        """Return the nest of a computation that is no reduction."""
        return self.around(self._stored(body.whole()))

    def reduce(self, body: Body, start: StageBounds, start_body: Body) -> Stmt:
        """Return the nest of a reduction: its start stands outside the outermost loop that reduces."""
        return self._guarded(self._reduction(body, start, start_body, self.leaves), self.guards.get(None, ()))

    def _reduction(self, body: Body, start: StageBounds, start_body: Body, leaves: Sequence[IterVar]) -> Stmt:
        """Return a reduction in its innermost loops `leaves`, all those that reduce among them."""
        count = outside_reduction(self.stage)
        outer, inner = leaves[: count - len(self.leaves) + len(leaves)], self.leaves[count:]
        update = self._loops(self._stored(body.step()), inner)
        return self._loops(Seq((Nest(start, alone, self.storage).inside(self, count, start_body), update)), outer)

    def inside(self, whole: Nest, count: int, body: Body) -> Stmt:
        """Return this reduction's start in its leaves from `count` on, under the guards that `whole` does not ask."""
        return self.unasked(whole, count, self._loops(self._stored(body.start()), self.leaves[count:]))

    def unasked(self, whole: Nest, count: int, start: Stmt) -> Stmt:
        """Return a start in the leaves from `count` on under the guards around them that `whole` does not ask."""
        asked = set(whole.stage.guards)
        around = [guard for leaf in (None, *self.leaves[:count]) for guard in self.guards.get(leaf, ())]
        return self._guarded(start, [guard for guard in around if guard not in asked])

    def _loops(self, inner: Stmt, leaves: Sequence[IterVar]) -> Stmt:
        for leaf in reversed(leaves):
            inner = self.producers(leaf, self._guarded(inner, self.guards.get(leaf, ())))
            inner = self._loop(leaf, inner)
            if self.producers is not alone:
                inner = self.storage.kept_around(Place(self.stage.op, leaf), inner)
        return inner

    def _loop(self, leaf: IterVar, body: Stmt) -> Stmt:
        var, mark = self.stage.loops[leaf], self.stage.state.mark(leaf)
        if var is None:
            return _with_pragmas(body, mark.pragmas) if mark.pragmas else body
        tag = mark.thread.thread_tag if mark.thread is not None and mark.kind is LoopKind.THREAD else ""
        return self._measured(For(var, mark.kind, body, tag, mark.pragmas, loc=self.stage.op.loc))

    def _measured(self, loop: For) -> Stmt:
        """Give the extent of a loop a name outside of it, where data decides how long it is."""
        extent = self.storage.loaded(loop.extent)
        if extent is loop.extent:
            return loop
        length = E.Var(f"{loop.var.name}_extent", INDEX)
        var = E.Var(loop.var.name, INDEX, loop.min, length)
        return Let(length, extent, loop.copy(var=var, body=substitute_stmt(loop.body, {loop.var: var})), loc=loop.loc)

    def _stored(self, stores: Stmt) -> Stmt:
        predicate = self.stage.predicate
        return stores if predicate is None else self._asked(If(predicate, stores, loc=stores.loc))

    def _asked(self, stores: Stmt) -> Stmt:
        """Return what is stored under the predicate for each of the threads that it names and no loop is."""
        for var, tag in self.stage.asked_of.items():
            stores = For(var, LoopKind.THREAD, stores, tag, loc=stores.loc)
        return stores

    def _guarded(self, stmt: Stmt, guards: Collection[Expr]) -> Stmt:
        return If(make.logical_and(*map(self.storage.loaded, guards)), stmt, loc=stmt.loc) if guards else stmt


def _with_pragmas(body: Stmt, pragmas: tuple[tuple[str, Any], ...]) -> Stmt:
    """Give the pragmas of a loop that is none, of one iteration, to those in it; their own are nearer and stay."""
    if not isinstance(body, For) or body.kind is LoopKind.THREAD:
        return body.map(lambda part: _with_pragmas(part, pragmas), lambda expr: expr)
    own = dict(body.pragmas)
    return body.copy(pragmas=(*body.pragmas, *(pragma for pragma in pragmas if pragma[0] not in own)))


def alone(leaf: IterVar, rest: Stmt) -> Stmt:
    """Put nothing in front: a reduction's start reads no stage."""
    return rest


def _placed(stage: StageBounds) -> dict[IterVar | None, list[Expr]]:
    """Put each guard at the innermost leaf whose variable it names; None when it names no leaf of this stage."""
    leaf_of = {var: number for number, leaf in enumerate(stage.state.leaves) if (var := stage.loops[leaf]) is not None}
    placed: dict[IterVar | None, list[Expr]] = {}
    for guard in dict.fromkeys(stage.guards):
        deepest = max((leaf_of[node] for node in walk(guard) if node in leaf_of), default=-1)
        placed.setdefault(stage.state.leaves[deepest] if deepest >= 0 else None, []).append(guard)
    return placed
