"""Sink guards of single threads below the work that the threads of a block share.

    for tx in thread("threadIdx.x", 64):            for tx in thread("threadIdx.x", 64):
        if bx*64 + tx < n:                              if bx*64 < n:
            for t in thread("threadIdx.x", 64):             for t in thread("threadIdx.x", 64):
                S[t] = A[bx*64 + t]             ->              S[t] = A[bx*64 + t]
            C[bx*64 + tx] = S[tx] + S[63 - tx]          if bx*64 + tx < n:
                                                            C[bx*64 + tx] = S[tx] + S[63 - tx]

A store to shared memory whose indices do not name a thread loop's variable serves all iterations of that loop: it
happens where the guard holds for any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..arith import bounds_of, simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, If, Let, LoopKind, Seq, Stmt, Store
from ..ir.visit import walk
from .accesses import loaded, stored, uses


def sink_guards(stmt: Stmt, threads: frozenset[E.Var] = frozenset()) -> Stmt:
    """Return `stmt`, inside loops over `threads`, with the guards that name them below what they share."""
    match stmt:
        case For():
            inner = threads | {stmt.var} if stmt.kind is LoopKind.THREAD and "threadIdx" in stmt.thread else threads
            return stmt.map(lambda body: sink_guards(body, inner), lambda expr: expr)
        case If(otherwise=None) if uses(stmt.condition, threads):
            return _sunk(sink_guards(stmt.then, threads), [stmt], threads)
        case _:
            return stmt.map(lambda part: sink_guards(part, threads), lambda expr: expr)


def _sunk(stmt: Stmt, guards: Sequence[If], threads: frozenset[E.Var]) -> Stmt:
    """Return `stmt` under the guards, each as far down as the shared work in `stmt` needs."""
    named = {node for guard in guards for node in walk(guard.condition) if node in threads}
    common = [
        _is_common(node, named) for node in walk(stmt) if isinstance(node, Store) and node.buffer.scope != "local"
    ]
    if not any(common) or _reads_what_is_written(guards, stmt):
        return _under(stmt, guards, [guard.condition for guard in guards])
    if all(common):
        return _under(stmt, guards, [anywhere(guard.condition, named) for guard in guards])
    if isinstance(stmt, (For, Alloc, Let, Seq, If)):
        return stmt.map(lambda part: _sunk(part, guards, threads), lambda expr: expr)
    return _under(stmt, guards, [guard.condition for guard in guards])


def _is_common(store: Store, named: set[E.Var]) -> bool:
    """Whether a store to shared memory serves all iterations of the loops over `named`."""
    return store.buffer.scope == "shared" and not any(uses(index, named) for index in store.indices)


def _reads_what_is_written(guards: Sequence[If], stmt: Stmt) -> bool:
    written: set[Buffer] = stored(stmt)
    return any(loaded(guard.condition) & written for guard in guards)


def _under(stmt: Stmt, guards: Sequence[If], conditions: Sequence[Expr]) -> Stmt:
    for guard, condition in zip(reversed(guards), reversed(conditions), strict=True):
        stmt = stmt if condition is make.TRUE else If(condition, stmt, loc=guard.loc)
    return stmt


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
