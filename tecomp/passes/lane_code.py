"""The body of one vectorized loop, for all lanes together: statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import foreign
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, Evaluate, For, If, Let, LoopKind, Seq, Stmt, Store
from ..ir.subst import fresh_loops, substitute_stmt
from ..ir.visit import walk
from .accesses import joined_across, loaded, stored, uses
from .lane_expr import LaneExprs, Wide, all_lanes, both, opposite, some_lane


class _PerLaneError(Exception):
    """This statement cannot run for all lanes at once."""


class LaneCode:
    """Statements for the lanes var = first, first + 1, ... of that many.

    `mask` is where the guards met so far hold, `guards` the same as scalar conditions on `var`; what cannot be a vector
    statement becomes a serial loop over `var` under those. A guard that names one of `threads` is asked once for all
    lanes, before it is asked lane by lane.
    """

    def __init__(self, var: E.Var, first: Expr, lanes: int, threads: frozenset[E.Var] = frozenset()) -> None:
        self.var, self.first, self.lanes, self.threads = var, first, lanes, threads
        self.exprs = LaneExprs(var, E.Ramp(first, make.const(1, INDEX), lanes))
        self.mask: Expr = make.TRUE
        self.guards: list[Expr] = []
        self.lets = 0

    def stmt(self, node: Stmt) -> Stmt:
        """Return `node` for all lanes."""
        verb = _VERBS.get(type(node), LaneCode.evaluate)
        try:
            return verb(self, node)
        except _PerLaneError:
            if self.lets:
                raise
            return self.lane_by_lane(node)

    def guarded(self, condition: Expr, body: Stmt) -> Stmt:
        """Return `body` for the lanes where `condition` holds."""
        return self.stmt(If(condition, body))

    def lane_by_lane(self, node: Stmt) -> Stmt:
        """Return the serial loop that runs `node` once for each lane."""
        var = E.Var(self.var.name, INDEX, self.first, make.const(self.lanes, INDEX))
        body = fresh_loops(self.exprs.one_lane(node, make.sub(self.var, self.first)))
        for guard in reversed(self.guards):
            body = If(guard, body)
        return For(var, LoopKind.SERIAL, substitute_stmt(body, {self.var: var}), loc=node.loc)

    def expr(self, node: Expr) -> Expr:
        """Return a value of all lanes; a function outside the program is called for one lane at a time."""
        if any(isinstance(part, E.Call) and foreign(part.name) for part in walk(node)):
            raise _PerLaneError
        return self.exprs.under(node, self.mask)

    def uniform(self, node: Expr) -> Expr:
        value = self.expr(node)
        if value.dtype.lanes > 1:
            raise _PerLaneError
        return value

    def store(self, node: Store) -> Stmt:
        indices = [self.expr(index) for index in node.indices]
        value = make.broadcast(self.expr(node.value), self.lanes)
        own = self.expr(node.mask)
        wide = self.exprs.wide.get(node.buffer)
        if wide is not None:
            mask = self.exprs.spread_mask(wide.mask(self.mask), own)
            return Store(wide.buffer, (*indices, self.exprs.number), value, mask, loc=node.loc)
        if all(index.dtype.lanes == 1 for index in indices):
            raise _PerLaneError
        return Store(node.buffer, tuple(indices), value, self.exprs.spread_mask(self.mask, own), loc=node.loc)

    def evaluate(self, node: Evaluate) -> Stmt:
        raise _PerLaneError

    def seq(self, node: Seq) -> Stmt:
        return node.map(self.stmt, self.expr)

    def loop(self, node: For) -> Stmt:
        low, extent = self.expr(node.min), self.expr(node.extent)
        if low.dtype.lanes > 1 or extent.dtype.lanes > 1 or (node.kind is LoopKind.THREAD):
            raise _PerLaneError
        return node.map(self.stmt, self.expr)

    def branch(self, node: If) -> Stmt:
        condition = self.expr(node.condition)
        if condition.dtype.lanes == 1:
            return node.map(self.stmt, self.expr)
        written = stored(node.then) | (stored(node.otherwise) if node.otherwise is not None else set())
        if loaded(node.condition) & written:
            raise _PerLaneError
        if node.otherwise is None:
            return self.in_all_lanes(node, condition)
        then = self.within(node.condition, condition, node.then)
        otherwise = self.within(make.logical_not(node.condition), opposite(condition), node.otherwise)
        return Seq((then, otherwise), loc=node.loc)

    def in_all_lanes(self, node: If, lanes: Expr) -> Stmt:
        """if every lane: body, without masks; else: body, masked"""
        every = all_lanes(lanes) if self.mask is make.TRUE and uses(node.condition, self.threads) else None
        if every is None:
            return self.within(node.condition, lanes, node.then)
        return If(every, self.stmt(fresh_loops(node.then)), self.within(node.condition, lanes, node.then), loc=node.loc)

    def within(self, condition: Expr, lanes: Expr, body: Stmt) -> Stmt:
        """Return `body` masked, behind a test that some lane is left where one comparison tells."""
        outer, some = self.mask, some_lane(lanes) if self.mask is make.TRUE else None
        live = both(outer, lanes)
        self.mask = named = E.Var("live", live.dtype)
        if some is not None:
            self.exprs.inhabited.add(named)
        self.guards.append(condition)
        try:
            masked = self.stmt(body)
            if uses(masked, {named}):
                masked = Let(named, live, masked, loc=body.loc)
        finally:
            self.mask = outer
            self.guards.pop()
        return masked if some is None or some is make.TRUE else If(some, masked)

    def let(self, node: Let) -> Stmt:
        value = self.expr(node.value)
        if value.dtype.lanes == 1:
            return node.map(self.stmt, self.expr)
        var = E.Var(node.var.name, value.dtype)
        self.exprs.values[node.var] = var
        self.lets += 1
        try:
            return Let(var, value, self.stmt(node.body), loc=node.loc)
        finally:
            self.lets -= 1

    def alloc(self, node: Alloc) -> Stmt:
        """A buffer of its own for each lane: another, innermost dimension, along which lanes lie side by side."""
        old = node.buffer
        if joined_across(node) or any(self.expr(extent).dtype.lanes > 1 for extent in old.shape):
            raise _PerLaneError
        lanes = make.const(self.lanes, INDEX)
        strides = None if old.strides is None else (*(s * lanes for s in old.strides), make.const(1, INDEX))
        align = max(old.align, old.dtype.bytes)
        new = Buffer(old.name, (*old.shape, lanes), old.dtype, old.scope, strides, align, old.loc)
        self.exprs.wide[old] = Wide(new, self.mask)
        return Alloc(new, self.stmt(node.body), loc=node.loc)


_VERBS: Final[dict[type[Stmt], Callable[[LaneCode, Any], Stmt]]] = {
    Store: LaneCode.store,
    Evaluate: LaneCode.evaluate,
    Seq: LaneCode.seq,
    For: LaneCode.loop,
    If: LaneCode.branch,
    Let: LaneCode.let,
    Alloc: LaneCode.alloc,
}
