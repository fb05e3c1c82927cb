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

from collections.abc import Callable, Iterable, Iterator

from ..arith import bounds_of, simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.foreign import is_opaque
from ..ir.node import Expr
from ..ir.stmt import Buffer, For, If, Let, LoopKind, Stmt, Store
from ..ir.visit import walk
from .accesses import loaded, stored, uses


def sink_guards(stmt: Stmt, threads: frozenset[E.Var] = frozenset(), lanes: frozenset[E.Var] = frozenset()) -> Stmt:
    """Return `stmt`, inside loops over `threads`, with the guards that name them below what they share.

    `lanes` are those of them along threadIdx.x, which share warp memory too.
    """
    match stmt:
        case For():
            inner, along = threads, lanes
            if stmt.kind is LoopKind.THREAD and "threadIdx" in stmt.thread:
                inner = threads | {stmt.var}
                along = lanes | {stmt.var} if stmt.thread == "threadIdx.x" else lanes
            return stmt.map(lambda body: sink_guards(body, inner, along), lambda expr: expr)
        case If(otherwise=None) if uses(stmt.condition, threads):
            return Guard(stmt, threads, lanes).over(sink_guards(stmt.then, threads, lanes))
        case _:
            return stmt.map(lambda part: sink_guards(part, threads, lanes), lambda expr: expr)


class Guard:
    """A guard that names some of `threads`, on its way down to the work that it was meant for."""

    def __init__(self, guard: If, threads: frozenset[E.Var], lanes: frozenset[E.Var] = frozenset()) -> None:
        self.guard = guard
        named = {node for node in walk(guard.condition) if isinstance(node, E.Var)}
        self.named, self.lanes = frozenset(named & threads), frozenset(named & lanes)
        self.common: dict[Store, frozenset[E.Var]] = {}
        """The stores that serve all iterations of loops, and which loops' variables those are."""

    def over(self, stmt: Stmt) -> Stmt:
        """Return `stmt` under the guard, as far down as the common work in it needs."""
        by_warp = _common(stmt, self.lanes, lambda buffer: buffer.scope == "warp")
        self.common = by_warp | _common(stmt, self.named, lambda buffer: buffer.is_shared)
        if not self.common or loaded(self.guard.condition) & stored(stmt):
            return self._under(stmt, self.guard.condition)
        return self._down(stmt)

    def _down(self, stmt: Stmt) -> Stmt:
        served = {self.common.get(node) for node in walk(stmt) if isinstance(node, Store)}
        served |= {None for node in walk(stmt) if is_opaque(node)}
        if len(served) > 1:
            return stmt.map(self._down, lambda expr: expr)
        everyone = served.pop() if served else None
        condition = self.guard.condition
        return self._under(stmt, condition if everyone is None else anywhere(condition, everyone))

    def _under(self, stmt: Stmt, condition: Expr) -> Stmt:
        return stmt if condition is make.TRUE else If(condition, stmt, loc=self.guard.loc)


def _common(stmt: Stmt, named: frozenset[E.Var], is_common: Callable[[Buffer], bool]) -> dict[Store, frozenset[E.Var]]:
    """Return the stores that serve all iterations of the loops over `named`: to common memory, and what those need."""
    stores = [node for node in walk(stmt) if isinstance(node, Store)] if named else []
    found = {
        store for store in stores if is_common(store.buffer) and not any(uses(index, named) for index in store.indices)
    }
    needed = _made_of(stmt, {store.buffer for store in found}) if len(found) < len(stores) else set[Buffer]()
    return dict.fromkeys(
        (store for store in stores if store in found or (store.buffer.scope == "local" and store.buffer in needed)),
        named,
    )


def _made_of(stmt: Stmt, wanted: Iterable[Buffer]) -> set[Buffer]:
    """Return the buffers that stores below `stmt` to those wanted depend on, themselves or through others.

    Global memory holds what guarded threads left there: nothing is done for its sake.
    """
    parts: dict[Buffer | E.Var, set[Buffer | E.Var]] = {}
    for node in walk(stmt):
        if isinstance(node, Stmt):
            read = {part for expr in node.expressions() for part in _things(expr) if not _is_global(part)}
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


def _is_global(thing: Buffer | E.Var) -> bool:
    return isinstance(thing, Buffer) and thing.scope == "global"


def anywhere(condition: Expr, variables: frozenset[E.Var]) -> Expr:
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
