"""Hoist: conditions and allocations that every iteration of a loop repeats move in front of it.

    for i in range(n):                    if j < m:
        if j < m:                             t = alloc(f32[16])
            t = alloc(f32[16])       ->       for i in range(n):
            ...                                   ...

A condition that reads memory stays: the loop might not run, and its body might change what it reads. Allocations stay
inside loops whose iterations run at once, each with its own.
"""

from __future__ import annotations

from typing import Final

from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Alloc, For, If, LoopKind, Stmt
from ..ir.visit import rewrite
from ..target import Target
from .accesses import has, uses
from .guards import conjuncts

ONE_AFTER_THE_OTHER: Final = (LoopKind.SERIAL, LoopKind.UNROLLED)


def run(func: Func, target: Target) -> Func:
    """Return `func` with invariant conditions and allocations in front of their loops."""
    return func.with_body(rewrite(func.body, stmts={For: _loop}))


def _loop(loop: For) -> Stmt:
    body = loop.body
    if isinstance(body, Alloc) and loop.kind in ONE_AFTER_THE_OTHER:
        if not any(uses(extent, {loop.var}) for extent in (*body.buffer.shape, *(body.buffer.strides or ()))):
            return body.copy(body=_loop(loop.copy(body=body.body)))
    if isinstance(body, If) and body.otherwise is None:
        return _guarded(loop, body)
    return loop


def _guarded(loop: For, guard: If) -> Stmt:
    """Return the loop with the parts of its guard that name neither its variable nor memory around it."""
    outside: list[Expr] = []
    inside: list[Expr] = []
    for part in conjuncts(guard.condition):
        fixed = not uses(part, {loop.var}) and not has(part, E.Load)
        (outside if fixed and not inside else inside).append(part)
    if not outside:
        return loop
    rest = guard.copy(condition=make.logical_and(*inside)) if inside else guard.then
    return If(make.logical_and(*outside), _loop(loop.copy(body=rest)), loc=guard.loc)
