"""Hoist: what every iteration of a loop repeats moves in front of it; equal guards and values in a row become one.

    for i in range(n):                    if j < m:
        if j < m:                             t = alloc(f32[16])
            t = alloc(f32[16])       ->       for i in range(n):
            ...                                   ...

Conditions, values and allocations move. What reads memory stays: the loop might not run, and its body might change what
is read. Allocations stay inside loops whose iterations run at once, each with its own.
"""

from __future__ import annotations

from typing import Final

from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, If, Let, LoopKind, Seq, Stmt, in_order
from ..ir.subst import substitute_stmt
from ..ir.visit import conjuncts, rewrite
from ..target import Target
from .accesses import repeatable, uses

ONE_AFTER_THE_OTHER: Final = (LoopKind.SERIAL, LoopKind.UNROLLED)


def run(func: Func, target: Target) -> Func:
    """Return `func` with invariant conditions, values and allocations in front of their loops."""
    return func.with_body(hoisted(func.body))


def hoisted(root: Stmt) -> Stmt:
    """Return `root` with what its loops repeat in front of them."""
    return rewrite(root, stmts={For: in_front, Seq: one_guard, Alloc: _guard_first})


def _guard_first(alloc: Alloc) -> Stmt:
    """t = alloc; if c: a  ->  if c: (t = alloc; a), where c reads no memory."""
    guard = alloc.body
    if not isinstance(guard, If) or guard.otherwise is not None or not repeatable(guard.condition):
        return alloc
    return guard.copy(then=alloc.copy(body=guard.then))


def in_front(loop: For) -> Stmt:
    """Return a loop with what all its iterations begin with in front of it."""
    body = _alloc_first(loop.body)
    if isinstance(body, Alloc) and loop.kind in ONE_AFTER_THE_OTHER and not _sized_by(body.buffer, loop.var):
        return body.copy(body=in_front(loop.copy(body=body.body)))
    if isinstance(body, Let) and not uses(body.value, {loop.var}) and repeatable(body.value):
        return body.copy(body=in_front(loop.copy(body=body.body)))
    if isinstance(body, If) and body.otherwise is None:
        return _guarded(loop, body)
    return loop


def _alloc_first(body: Stmt) -> Stmt:
    """a; t = alloc; b  ->  t = alloc; a; b"""
    alloc = body.stmts[-1] if isinstance(body, Seq) and body.stmts else None
    if not (isinstance(body, Seq) and isinstance(alloc, Alloc)):
        return body
    return alloc.copy(body=Seq((*body.stmts[:-1], *in_order(alloc.body))))


def one_guard(seq: Seq) -> Stmt:
    """if c: a; if c: b  ->  if c: (a; b), where c reads no memory; and so with a value that has a name in both."""
    steps: list[Stmt] = []
    for step in seq.stmts:
        last = steps[-1] if steps else None
        if isinstance(last, If) and isinstance(step, If) and _same_guard(last, step):
            steps[-1] = last.copy(then=one_guard(Seq((*in_order(last.then), *in_order(step.then)))))
        elif isinstance(last, Let) and isinstance(step, Let) and _same_value(last, step):
            again = substitute_stmt(step.body, {step.var: last.var})
            steps[-1] = last.copy(body=one_guard(Seq((*in_order(last.body), *in_order(again)))))
        else:
            steps.append(step)
    if len(steps) == len(seq.stmts):
        return seq
    return steps[0] if len(steps) == 1 else seq.copy(stmts=tuple(steps))


def _same_guard(a: If, b: If) -> bool:
    alike = a.condition is b.condition and a.otherwise is None and b.otherwise is None
    return alike and repeatable(a.condition)


def _same_value(a: Let, b: Let) -> bool:
    return a.value is b.value and repeatable(a.value)


def _sized_by(buffer: Buffer, var: E.Var) -> bool:
    return any(uses(extent, {var}) for extent in (*buffer.shape, *(buffer.strides or ())))


def _guarded(loop: For, guard: If) -> Stmt:
    """Return the loop with the parts of its guard that name neither its variable nor memory around it."""
    outside: list[Expr] = []
    inside: list[Expr] = []
    for part in conjuncts(guard.condition):
        invariant = not uses(part, {loop.var}) and repeatable(part)
        (outside if invariant and not inside else inside).append(part)
    if not outside:
        return loop
    rest = guard.copy(condition=make.logical_and(*inside)) if inside else guard.then
    return If(make.logical_and(*outside), in_front(loop.copy(body=rest)), loc=guard.loc)
