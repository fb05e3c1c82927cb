"""Unswitch: what a thread decides alike in every iteration is decided once, before its loops.

    if c: a                            if c:
    else: b                                a
    for t in range(m):                     for t in range(m): d
        if c: d                ->      else:
        else: e                            b
                                           for t in range(m): e

So it is where each thread keeps to its own elements. Elsewhere the threads on the two ways meet, and barriers for all
of them must find their places between the statements; once they have, what lies between two of them may do the same.
"""

from __future__ import annotations

from ..ir import expr as E
from ..ir.func import Func
from ..ir.stmt import For, If, Launch, Seq, Stmt, in_order
from ..ir.subst import substitute_stmt
from ..ir.visit import rewrite, walk
from ..target import Target
from .accesses import bound_vars, repeatable, uses
from .events import is_barrier
from .hoist import ONE_AFTER_THE_OTHER, one_guard
from .one_launch import meeting, thread_nest


def run(func: Func, target: Target) -> Func:
    """Return `func` with the choices of each thread in front of its loops."""
    return func.with_body(_host(func.body))


def _host(stmt: Stmt) -> Stmt:
    if isinstance(stmt, Launch):
        return stmt.map(_thread, lambda expr: expr)
    nest = thread_nest(stmt)
    if nest is None:
        return stmt.map(_host, lambda expr: expr)
    body = _thread(nest.body)
    if body is nest.body or meeting(nest.loops, body, body, bound_vars(body)) is not None:
        return stmt
    return nest.around(body)


def _thread(body: Stmt) -> Stmt:
    """Return what a thread does with its choices in front."""
    return rewrite(body, stmts={For: _before, Seq: _one_choice})


def _before(loop: For) -> Stmt:
    """for t: (if c: a; else: b)  ->  if c: for t: a; else: for t: b"""
    choice = loop.body
    if not isinstance(choice, If) or choice.otherwise is None or loop.kind not in ONE_AFTER_THE_OTHER:
        return loop
    if uses(choice.condition, {loop.var}) or not _free(choice):
        return loop
    var = E.Var(loop.var.name, loop.var.dtype, loop.var.min, loop.var.extent)
    otherwise = loop.copy(var=var, body=substitute_stmt(choice.otherwise, {loop.var: var}))
    return choice.copy(then=_before(loop.copy(body=choice.then)), otherwise=_before(otherwise))


def _one_choice(seq: Seq) -> Stmt:
    """if c: a; else: b; if c: d; else: e  ->  if c: (a; d); else: (b; e), where c reads no memory."""
    steps: list[Stmt] = []
    for step in seq.stmts:
        last = steps[-1] if steps else None
        if isinstance(last, If) and isinstance(step, If) and _alike(last, step):
            steps[-1] = last.copy(then=_both(last.then, step.then), otherwise=_both(last.otherwise, step.otherwise))
        else:
            steps.append(step)
    if len(steps) == len(seq.stmts):
        return seq
    return steps[0] if len(steps) == 1 else seq.copy(stmts=tuple(steps))


def _alike(a: If, b: If) -> bool:
    return a.condition is b.condition and a.otherwise is not None and _free(a) and _free(b)


def _free(choice: If) -> bool:
    """Return whether a choice may be made earlier: it reads no memory, and no thread waits in it."""
    return repeatable(choice.condition) and not any(is_barrier(node) for node in walk(choice))


def _both(first: Stmt | None, second: Stmt | None) -> Stmt:
    """Return two statements in a row, the guards they begin with as one."""
    parts = [part for stmt in (first, second) if stmt is not None for part in in_order(stmt)]
    joined = one_guard(Seq(tuple(parts)))
    return _one_choice(joined) if isinstance(joined, Seq) else joined
