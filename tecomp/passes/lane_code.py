"""The body of one vectorized loop, for all lanes together: statements."""

from __future__ import annotations

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, Evaluate, For, If, Let, LoopKind, Seq, Stmt, Store
from ..ir.subst import fresh_loops, substitute_stmt
from .accesses import loaded, stored
from .lane_expr import LaneExprs, both, opposite, some_lane


class _PerLane(Exception):
    """This statement cannot run for all lanes at once."""


class LaneCode:
    """Statements for the lanes var = first, first + 1, ... of that many.

    `mask` is where the guards met so far hold, `guards` the same as scalar conditions on `var`; what cannot be a vector
    statement becomes a serial loop over `var` under those.
    """

    def __init__(self, var: E.Var, first: Expr, lanes: int) -> None:
        self.var, self.first, self.lanes = var, first, lanes
        self.exprs = LaneExprs(var, E.Ramp(first, make.const(1, INDEX), lanes))
        self.mask: Expr = make.TRUE
        self.guards: list[Expr] = []
        self.lets = 0

    def stmt(self, node: Stmt) -> Stmt:
        """Return `node` for all lanes."""
        verb = _VERBS[type(node)]
        try:
            return verb(self, node)
        except _PerLane:
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
        return self.exprs.under(node, self.mask)

    def uniform(self, node: Expr) -> Expr:
        value = self.expr(node)
        if value.dtype.lanes > 1:
            raise _PerLane
        return value

    def store(self, node: Store) -> Stmt:
        indices = [self.expr(index) for index in node.indices]
        own = self.expr(node.mask)
        value = self.expr(node.value)
        if node.buffer in self.exprs.wide:
            buffer, lane = self.exprs.wide[node.buffer], E.Ramp(make.const(0, INDEX), make.const(1, INDEX), self.lanes)
            return self.vector_store(node, buffer, (*indices, lane), value, own)
        if all(index.dtype.lanes == 1 for index in indices):
            raise _PerLane
        return self.vector_store(node, node.buffer, tuple(indices), value, own)

    def vector_store(self, node: Store, buffer: Buffer, indices: tuple[Expr, ...], value: Expr, own: Expr) -> Stmt:
        mask = both(self.mask, own)
        mask = mask if mask is make.TRUE else make.broadcast(mask, self.lanes)
        return Store(buffer, indices, make.broadcast(value, self.lanes), mask, loc=node.loc)

    def evaluate(self, node: Evaluate) -> Stmt:
        raise _PerLane

    def seq(self, node: Seq) -> Stmt:
        return node.map(self.stmt, self.expr)

    def loop(self, node: For) -> Stmt:
        low, extent = self.expr(node.min), self.expr(node.extent)
        if low.dtype.lanes > 1 or extent.dtype.lanes > 1 or (node.kind is LoopKind.THREAD):
            raise _PerLane
        return node.map(self.stmt, self.expr)

    def branch(self, node: If) -> Stmt:
        condition = self.expr(node.condition)
        if condition.dtype.lanes == 1:
            return node.map(self.stmt, self.expr)
        written = stored(node.then) | (stored(node.otherwise) if node.otherwise is not None else set())
        if loaded(node.condition) & written:
            raise _PerLane
        then = self.within(node.condition, condition, node.then)
        if node.otherwise is None:
            return then
        otherwise = self.within(make.logical_not(node.condition), opposite(condition), node.otherwise)
        return Seq((then, otherwise), loc=node.loc)

    def within(self, condition: Expr, lanes: Expr, body: Stmt) -> Stmt:
        """Return `body` masked, behind a test that some lane is left where one comparison tells."""
        mask, some = self.mask, some_lane(lanes) if self.mask is make.TRUE else None
        self.mask = both(mask, lanes)
        if some is not None:
            self.exprs.inhabited.add(self.mask)
        self.guards.append(condition)
        try:
            masked = self.stmt(body)
        finally:
            self.mask = mask
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
        if any(self.expr(extent).dtype.lanes > 1 for extent in old.shape):
            raise _PerLane
        lanes = make.const(self.lanes, INDEX)
        strides = None if old.strides is None else (*(s * lanes for s in old.strides), make.const(1, INDEX))
        align = max(old.align, old.dtype.bytes)
        new = Buffer(old.name, (*old.shape, lanes), old.dtype, old.scope, strides, align, old.loc)
        self.exprs.wide[old] = new
        return Alloc(new, self.stmt(node.body), loc=node.loc)


_VERBS = {
    Store: LaneCode.store,
    Evaluate: LaneCode.evaluate,
    Seq: LaneCode.seq,
    For: LaneCode.loop,
    If: LaneCode.branch,
    Let: LaneCode.let,
    Alloc: LaneCode.alloc,
}
