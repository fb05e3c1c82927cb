"""Sink guards of single threads below the work that the threads of a block share.

    for tx in thread("threadIdx.x", 64):            for tx in thread("threadIdx.x", 64):
        if bx*64 + tx < n:                              if bx*64 < n:
            for t in thread("threadIdx.x", 64):             for t in thread("threadIdx.x", 64):
                S[t] = A[bx*64 + t]             ->              S[t] = A[bx*64 + t]
            C[bx*64 + tx] = S[tx] + S[63 - tx]          if bx*64 + tx < n:
                                                            C[bx*64 + tx] = S[tx] + S[63 - tx]

A store to shared memory whose indices do not name a thread loop's variable serves all iterations of that loop: it
happens where the guard holds for any of them. So does what it needs in the threads' own memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..arith import bounds_of, simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from ..ir.stmt import Buffer, For, If, Let, LoopKind, Stmt, Store
from ..ir.visit import walk
from .accesses import loaded, stored, uses


def sink_guards(stmt: Stmt, threads: frozenset[E.Var] = frozenset()) -> Stmt:
    """Return `stmt`, inside loops over `threads`, with the guards that name them below what they share."""
    match stmt:
        case For():
            inner = threads | {stmt.var} if stmt.kind is LoopKind.THREAD and "threadIdx" in stmt.thread else threads
            return stmt.map(lambda body: sink_guards(body, inner), lambda expr: expr)
        case If(otherwise=None) if uses(stmt.condition, threads):
            return Guard(stmt, threads).over(sink_guards(stmt.then, threads))
        case _:
            return stmt.map(lambda part: sink_guards(part, threads), lambda expr: expr)


class Guard:
    """A guard that names some of `threads`, on its way down to the work that it was meant for."""

    def __init__(self, guard: If, threads: frozenset[E.Var]) -> None:
        self.guard = guard
        self.named = {node for node in walk(guard.condition) if isinstance(node, E.Var) and node in threads}
        self.common: set[Store] = set()

    def over(self, stmt: Stmt) -> Stmt:
        """Return `stmt` under the guard, as far down as the common work in it needs."""
        self.common = _common(stmt, self.named)
        if not self.common or loaded(self.guard.condition) & stored(stmt):
            return self._under(stmt, self.guard.condition)
        return self._down(stmt)

    def _down(self, stmt: Stmt) -> Stmt:
        common = [node in self.common for node in walk(stmt) if isinstance(node, Store)]
        if not any(common):
            return self._under(stmt, self.guard.condition)
        if all(common):
            return self._under(stmt, anywhere(self.guard.condition, self.named))
        return stmt.map(self._down, lambda expr: expr)

    def _under(self, stmt: Stmt, condition: Expr) -> Stmt:
        return stmt if condition is make.TRUE else If(condition, stmt, loc=self.guard.loc)


def _common(stmt: Stmt, named: set[E.Var]) -> set[Store]:
    """Return the stores that serve all iterations of the loops over `named`: to shared memory, and what those need."""
    stores = [node for node in walk(stmt) if isinstance(node, Store)]
    found = {
        store
        for store in stores
        if store.buffer.is_shared and not any(uses(index, named) for index in store.indices)
    }
    needed = _made_of(stmt, {store.buffer for store in found}) if len(found) < len(stores) else set[Buffer]()
    return found | {store for store in stores if store.buffer.scope == "local" and store.buffer in needed}


def _made_of(stmt: Stmt, wanted: Iterable[Buffer]) -> set[Buffer]:
    """Return the buffers that stores below `stmt` to those wanted depend on, themselves or through others."""
    parts: dict[Buffer | E.Var, set[Buffer | E.Var]] = {}
    for node in walk(stmt):
        if isinstance(node, Stmt):
            read = {part for expr in node.expressions() for part in _things(expr)}
            for made in [node.var] if isinstance(node, Let) else stored(node):
                parts.setdefault(made, set()).update(read)
    found: set[Buffer | E.Var] = set()
    pending: list[Buffer | E.Var] = list(wanted)
    while pending:
        more = parts.get(pending.pop(), set()) - found
        found |= more
        pending += more
    return {thing for thing in found if isinstance(thing, Buffer)}


def _things(expr: Expr) -> Iterator[Buffer | E.Var]:
    for node in walk(expr):
        if isinstance(node, (E.Load, E.Address)):
            yield node.buffer
        elif isinstance(node, E.Var):
            yield node


def anywhere(condition: Expr, variables: set[E.Var]) -> Expr:
    """Return what holds wherever `condition` does for some values of the variables; TRUE where nothing is known."""
    if isinstance(condition, E.And):
        return make.logical_and(anywhere(condition.a, variables), anywhere(condition.b, variables))
    if not uses(condition, variables):
        return condition
    if not isinstance(condition, (E.Lt, E.Le)) or condition.a.dtype is not INDEX:
        return make.TRUE
    ranges = {var: Range(var.min, var.extent) for var in variables if var.min is not None and var.extent is not None}
    low, _ = bounds_of(make.sub(condition.a, condition.b), ranges)
    if low is None or uses(low, variables):
        return make.TRUE
    zero = make.const(0, INDEX)
    return simplify(make.lt(low, zero) if isinstance(condition, E.Lt) else make.le(low, zero))
