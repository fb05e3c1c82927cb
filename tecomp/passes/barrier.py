"""Barrier: order what the threads of a block do to memory that they share, with as few barriers as that takes.

    for ko in range(8):                              for ko in range(8):
        S[threadIdx_x] = A[ko*64 + threadIdx_x]          barrier_block()      # the last iteration's reads are done
        C[0] = C[0] + S[63 - threadIdx_x]       ->       S[threadIdx_x] = A[ko*64 + threadIdx_x]
                                                         barrier_block()
                                                         C[0] = C[0] + S[63 - threadIdx_x]

A barrier stands just before the first statement that must wait for another thread, so that one serves as many accesses
as it can. Where accesses meet in one element only within one thread, none is needed.
"""

from __future__ import annotations

from ..errors import UserError
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import has_effect
from ..ir.func import Func
from ..ir.stmt import Alloc, Evaluate, For, If, Launch, Let, Seq, Stmt
from ..target import Target
from .accesses import loaded, stored
from .conflicts import Conflicts, check_blocks
from .events import BARRIER, Event, Events, Scope, is_barrier, passed_between_threads


def run(func: Func, target: Target) -> Func:
    """Return `func` with barriers in its kernels."""
    return func.with_body(_launches(func.body))


def _launches(node: Stmt) -> Stmt:
    if not isinstance(node, Launch):
        return node.map(_launches, lambda expr: expr)
    events = Events(passed_between_threads(node))
    if not events.watched:
        return node
    check_blocks(node, events)
    scope = Scope(varying=frozenset(var for tag, var in node.threads if tag.startswith("threadIdx")))
    body = _Sync(events, Conflicts(node)).stmt(node.body, scope)
    return node if body is node.body else node.copy(body=body)


class _DivergentError(Exception):
    """A barrier is needed where only some threads of a block come."""


class _Sync:
    """Walks a kernel in order. `pending` are the accesses since the last barrier.

    A loop's body is walked twice: alone, and with what an iteration leaves pending for the next. In the second walk
    `carrier` is the loop's variable, and only conflicts with that are looked for.
    """

    def __init__(self, events: Events, conflicts: Conflicts) -> None:
        self.events, self.conflicts = events, conflicts
        self.pending: dict[Event, None] = {}
        self.carrier: E.Var | None = None

    def stmt(self, node: Stmt, scope: Scope) -> Stmt:
        """Return `node` with the barriers it needs, inside and before it."""
        if self.carrier is not None and not self.pending:
            return node
        match node:
            case Seq() | Alloc():
                return node.map(lambda part: self.stmt(part, scope), lambda expr: expr)
            case For():
                return self.loop(node, scope)
            case If():
                return self.branch(node, scope)
            case Let():
                return self.let(node, scope)
            case _:
                return self.leaf(node, scope)

    def leaf(self, node: Stmt, scope: Scope) -> Stmt:
        if is_barrier(node):
            self.pending = {}
            return node
        events = self.events.of(node, scope)
        barrier = self.barrier(events, node, scope)
        self.remember(events)
        return _sequence(barrier, node)

    def let(self, node: Let, scope: Scope) -> Stmt:
        events = self.events.of(node.value, scope)
        barrier = self.barrier(events, node, scope)
        self.remember(events)
        inner = scope.inside(node.var, scope.varies(node.value))
        return _sequence(barrier, node.map(lambda part: self.stmt(part, inner), lambda expr: expr))

    def barrier(self, events: list[Event], node: Stmt, scope: Scope) -> list[Stmt]:
        """Return the barrier, if any, that must stand before `node`, where `events` come first."""
        if not self.conflicts.any(self.pending, events, self.carrier):
            return []
        if scope.divergent:
            raise _DivergentError
        self.pending = {}
        return [Evaluate(BARRIER, loc=node.loc)]

    def remember(self, events: list[Event]) -> None:
        if self.carrier is None:
            self.pending = self.pending | dict.fromkeys(events)

    def loop(self, node: For, scope: Scope) -> Stmt:
        """A conflict with what comes before the loop is settled before it, one between iterations inside."""
        varies = scope.varies(node.min, node.extent)
        inner = scope.inside(node.var, varies).under(make.TRUE, varies)
        if self.carrier is not None:
            return _sequence(self.barrier(self.events.first(node, scope), node, scope), node)
        outside, self.pending = self.pending, {}
        try:
            new = node.map(lambda body: self.iteration(body, node.var, inner), lambda expr: expr)
        except _DivergentError:
            if scope.divergent or not varies:
                raise
            raise _refusal(node, f"the range of {node.var.name}") from None
        self.pending = outside
        barrier = self.barrier(self.events.first(new, scope), node, scope)
        if self.events.closes(new, scope):
            self.pending = {}
        self.remember(self.events.last(new, scope))
        return _sequence(barrier, new)

    def iteration(self, body: Stmt, var: E.Var, scope: Scope) -> Stmt:
        body = self.stmt(body, scope)
        self.pending, self.carrier = dict.fromkeys(self.events.last(body, scope)), var
        try:
            return self.stmt(body, scope)
        finally:
            self.carrier = None

    def branch(self, node: If, scope: Scope) -> Stmt:
        """A barrier that either side needs first stands before both; where threads part, guards go below others."""
        barrier = self.barrier(self.events.first(node, scope), node, scope)
        if self.carrier is not None:
            return _sequence(barrier, node)
        held = self.pending
        try:
            return _sequence(barrier, self.sides(node, scope))
        except _DivergentError:
            if scope.divergent:
                raise
            self.pending = held
            return _sequence(barrier, self.stmt(_guard_below(node), scope))

    def sides(self, node: If, scope: Scope) -> Stmt:
        self.remember(self.events.of(node.condition, scope))
        varies, start = scope.varies(node.condition), self.pending
        then = self.stmt(node.then, scope.under(node.condition, varies))
        after, self.pending = self.pending, start
        otherwise = node.otherwise
        if otherwise is not None:
            otherwise = self.stmt(otherwise, scope.under(make.logical_not(node.condition), varies))
        self.pending = self.pending | after
        same = then is node.then and otherwise is node.otherwise
        return node if same else node.copy(then=then, otherwise=otherwise)


def _sequence(barrier: list[Stmt], node: Stmt) -> Stmt:
    return Seq((*barrier, node)) if barrier else node


def _guard_below(node: If) -> Stmt:
    """Return the same with the guard one level further down; UserError where that changes the meaning.

    if c: (a; b)  ->  if c: a; if c: b
    """
    if loaded(node.condition) & stored(node):
        raise _refusal(node, f"the condition {node.condition!r}, which reads what is written under it")
    if has_effect(node.condition):
        raise _refusal(node, f"the condition {node.condition!r}, which is asked once")
    if node.otherwise is not None:
        return Seq((node.copy(otherwise=None), If(make.logical_not(node.condition), node.otherwise, loc=node.loc)))
    if isinstance(node.then, (Seq, For, Alloc)):
        return node.then.map(lambda part: node.copy(then=part), lambda expr: expr)
    raise _refusal(node, f"the condition {node.condition!r}")


def _refusal(node: Stmt, where: str) -> UserError:
    names = sorted({buffer.name for buffer in stored(node) if buffer.scope != "local"})
    return UserError(
        f"barrier needed in divergent code, for {', '.join(names)}",
        because=f"threads of a block pass values to each other under {where}, which differs between them",
        legal="compute the shared stage outside it, or make it the same for all threads of a block",
        location=node.loc,
    )
