"""Simplify expressions under what the loops and guards around them tell, and drop what can never run.

for i in range(8):                          for i in range(8):
    if i < 8:                         ->        B[i] = A[i]
        B[i] = A[(i * 4 + 3) // 4]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arith import NO_FACTS, Facts, simplify
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import has_effect
from ..ir.func import Func
from ..ir.stmt import Alloc, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store, in_order
from ..ir.subst import substitute_stmt
from ..target import Target
from .unread import without_unread

NOTHING = Seq(())


def run(func: Func, target: Target) -> Func:
    """Return `func` with every statement simplified."""
    facts = NO_FACTS
    for condition, _ in func.requires:
        facts = facts.assume(condition)
    return func.with_body(simplified(without_unread(func.body), facts))


def simplified(stmt: Stmt, facts: Facts = NO_FACTS) -> Stmt:
    """Return `stmt` simplified under `facts`; itself when nothing changes."""
    verb = _VERBS.get(type(stmt))
    return _leaf(stmt, facts) if verb is None else verb(stmt, facts)


def _leaf(stmt: Stmt, facts: Facts) -> Stmt:
    return stmt.map(lambda body: simplified(body, facts), lambda expr: simplify(expr, facts))


def _store(stmt: Store, facts: Facts) -> Stmt:
    new = _leaf(stmt, facts)
    assert isinstance(new, Store)
    itself = isinstance(new.value, E.Load) and new.value.buffer is new.buffer and new.value.indices == new.indices
    return NOTHING if new.mask is make.FALSE or (itself and new.mask is make.TRUE) else new


def _for(stmt: For, facts: Facts) -> Stmt:
    low, extent = simplify(stmt.min, facts), simplify(stmt.extent, facts)
    if isinstance(extent, E.Const):
        if extent.value <= 0:
            return NOTHING
        if extent.value == 1 and stmt.kind is not LoopKind.THREAD:
            return simplified(substitute_stmt(stmt.body, {stmt.var: low}), facts)
    var, body = stmt.var, stmt.body
    if low is not stmt.min or extent is not stmt.extent:
        var = E.Var(var.name, var.dtype, low, extent)
        body = substitute_stmt(body, {stmt.var: var})
    body = simplified(body, facts)
    if _empty(body):
        return NOTHING
    return stmt if var is stmt.var and body is stmt.body else stmt.copy(var=var, body=body)


def _launch(stmt: Launch, facts: Facts) -> Stmt:
    body = simplified(stmt.body, facts)
    return NOTHING if _empty(body) else stmt if body is stmt.body else stmt.copy(body=body)


def _if(stmt: If, facts: Facts) -> Stmt:
    condition = simplify(stmt.condition, facts)
    if isinstance(condition, E.Const):
        taken = stmt.then if condition.value else stmt.otherwise or NOTHING
        return simplified(taken, facts)
    then = simplified(stmt.then, facts.assume(condition))
    otherwise = None
    if stmt.otherwise is not None:
        otherwise = simplified(stmt.otherwise, facts.assume(make.logical_not(condition)))
        otherwise = None if _empty(otherwise) else otherwise
    if _empty(then) and otherwise is None:
        return Evaluate(condition, loc=stmt.loc) if has_effect(condition) else NOTHING
    if _empty(then) and otherwise is not None:
        return If(make.logical_not(condition), otherwise, loc=stmt.loc)
    same = condition is stmt.condition and then is stmt.then and otherwise is stmt.otherwise
    return stmt if same else stmt.copy(condition=condition, then=then, otherwise=otherwise)


def _let(stmt: Let, facts: Facts) -> Stmt:
    value = simplify(stmt.value, facts)
    if isinstance(value, (E.Var, E.Const)):
        return simplified(substitute_stmt(stmt.body, {stmt.var: value}), facts)
    body = simplified(stmt.body, facts)
    if _empty(body):
        return Evaluate(value, loc=stmt.loc) if has_effect(value) else NOTHING
    return stmt if value is stmt.value and body is stmt.body else stmt.copy(value=value, body=body)


def _alloc(stmt: Alloc, facts: Facts) -> Stmt:
    body = simplified(stmt.body, facts)
    return NOTHING if _empty(body) else stmt if body is stmt.body else stmt.copy(body=body)


def _seq(stmt: Seq, facts: Facts) -> Stmt:
    steps: list[Stmt] = []
    for step in stmt.stmts:
        steps += in_order(simplified(step, facts))
    if len(steps) == 1:
        return steps[0]
    same = len(steps) == len(stmt.stmts) and all(x is y for x, y in zip(steps, stmt.stmts, strict=True))
    return stmt if same else Seq(tuple(steps), loc=stmt.loc)


def _empty(stmt: Stmt) -> bool:
    return isinstance(stmt, Seq) and not stmt.stmts


_VERBS: dict[type[Stmt], Callable[[Any, Facts], Stmt]] = {
    Store: _store,
    For: _for,
    Launch: _launch,
    If: _if,
    Let: _let,
    Alloc: _alloc,
    Seq: _seq,
}
