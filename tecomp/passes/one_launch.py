"""A loop over kernels becomes one kernel with the loop inside, where each thread reads only what it wrote itself.

    for t in range(1, m):                             for bx in thread("blockIdx.x", 4):
        for bx in thread("blockIdx.x", 4):                for tx in thread("threadIdx.x", 256):
            for tx in thread("threadIdx.x", 256):   ->        for t in range(1, m):
                S[t, bx * 256 + tx] =                             S[t, bx * 256 + tx] =
                    S[t - 1, bx * 256 + tx] + ...                     S[t - 1, bx * 256 + tx] + ...

Threads are not synchronised between the iterations any more: no two of them may touch one element that either writes.
Where that cannot be proved the loop stays on the host, one launch a step, and a pragma on it says why. The kernel just
before such a loop (the first rows of a scan) joins it under the same condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..arith.overlap import Overlap
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, If, LoopKind, Seq, Stmt, in_order
from ..ir.subst import substitute_stmt
from ..ir.visit import rewrite, walk
from ..lowering.living import ONE_KERNEL
from ..target import Target
from .accesses import allocated, bound_vars, repeatable, stored, uses
from .events import Event, Events, Scope

LAUNCHES = "launches_each_step"
"""The pragma of a loop that stays on the host; its value is the reason."""


class ThreadNest(NamedTuple):
    """Loops over threads around `body`, which has none."""

    loops: tuple[For, ...]
    body: Stmt

    def around(self, body: Stmt) -> Stmt:
        """Return other statements in the same loops."""
        for loop in reversed(self.loops):
            body = loop.copy(body=body)
        return body


def run(func: Func, target: Target) -> Func:
    """Return `func` with the loops over kernels that allow it inside their kernels."""
    return func.with_body(_host(func.body))


def _host(stmt: Stmt) -> Stmt:
    match stmt:
        case Seq():
            return _sequence(stmt)
        case Alloc():
            body = _host(stmt.body)
            return stmt if body is stmt.body else stmt.copy(body=body)
        case For(kind=LoopKind.SERIAL):
            return _loop(stmt)
        case _:
            return stmt


def _sequence(seq: Seq) -> Stmt:
    steps: list[Stmt] = []
    for old in seq.stmts:
        new = _host(old)
        if steps and isinstance(old, For) and old.kind is LoopKind.SERIAL and thread_nest(new) is not None:
            joined = _joined([steps[-1], new])
            if isinstance(joined, ThreadNest):
                steps[-1] = joined.around(joined.body)
                continue
        steps.append(new)
    same = len(steps) == len(seq.stmts) and all(x is y for x, y in zip(steps, seq.stmts, strict=True))
    return seq if same else steps[0] if len(steps) == 1 else Seq(tuple(steps))


def _loop(loop: For) -> Stmt:
    if ONE_KERNEL in dict(loop.pragmas):
        return loop
    body = _host(loop.body)
    held, inner = _temporaries(body, loop.var)
    nest = _joined(in_order(inner))
    if isinstance(nest, ThreadNest):
        meet = meeting(nest.loops, nest.body, nest.body, {*bound_vars(nest.body), loop.var})
        if any(uses(part, {loop.var}) for outer in nest.loops for part in (outer.min, outer.extent)):
            nest = "the number of threads changes from one to the next"
        elif meet is not None:
            nest = f"a thread needs what another one did to '{meet.name}'"
    if isinstance(nest, str):
        if not _has_thread_loop(body):
            return loop if body is loop.body else loop.copy(body=body)
        return loop.copy(body=body, pragmas=(*loop.pragmas, (LAUNCHES, nest)))
    result = nest.around(_invariant_guard(loop.copy(body=nest.body)))
    for buffer in reversed(held):
        result = Alloc(buffer, result, loc=loop.loc)
    return result


def _temporaries(stmt: Stmt, var: E.Var) -> tuple[list[Buffer], Stmt]:
    """Take the allocations off the top of a loop's body: they may as well be made once, before it."""
    held: list[Buffer] = []
    while isinstance(stmt, Alloc) and not any(uses(extent, {var}) for extent in stmt.buffer.shape):
        held.append(stmt.buffer)
        stmt = stmt.body
    return held, stmt


def _joined(steps: Sequence[Stmt]) -> ThreadNest | str:
    """Return several kernels as one; where their threads differ or do not keep to themselves, the reason why not."""
    nests = [thread_nest(step) for step in steps]
    first = nests[0] if nests else None
    if first is None or None in nests:
        return "a step is not one nest of thread loops"
    body = first.body
    for other in nests[1:]:
        if other is None or not _same_threads(first.loops, other.loops):
            return "its kernels run on different threads"
        names: dict[E.Var, Expr] = {b.var: a.var for a, b in zip(first.loops, other.loops, strict=True)}
        renamed = substitute_stmt(other.body, names)
        meet = meeting(first.loops, body, renamed, bound_vars(body) | bound_vars(renamed))
        if meet is not None:
            return f"a thread needs what another one did to '{meet.name}'"
        body = _under_one_guard(body, renamed)
    return ThreadNest(first.loops, body)


def thread_nest(stmt: Stmt) -> ThreadNest | None:
    """Return a statement as thread loops around a body without any, guards between them sunk below; else None."""
    loops: list[For] = []
    guards: list[Expr] = []
    while True:
        if isinstance(stmt, For) and stmt.kind is LoopKind.THREAD:
            loops.append(stmt)
            stmt = stmt.body
        elif isinstance(stmt, If) and stmt.otherwise is None and _thread_loop_below(stmt.then):
            guards.append(stmt.condition)
            stmt = stmt.then
        else:
            break
    if not loops or _has_thread_loop(stmt):
        return None
    return ThreadNest(tuple(loops), If(make.logical_and(*guards), stmt, loc=stmt.loc) if guards else stmt)


def in_threads(stmt: Stmt, change: Callable[[Stmt], Stmt]) -> Stmt:
    """Return `stmt` with what runs in each thread, the body of its innermost thread loop, changed."""

    def on_loop(loop: For) -> Stmt:
        if loop.kind is not LoopKind.THREAD or _has_thread_loop(loop.body):
            return loop
        body = change(loop.body)
        return loop if body is loop.body else loop.copy(body=body)

    return rewrite(stmt, stmts={For: on_loop})


def _has_thread_loop(stmt: Stmt) -> bool:
    return any(isinstance(node, For) and node.kind is LoopKind.THREAD for node in walk(stmt))


def _thread_loop_below(stmt: Stmt) -> bool:
    while isinstance(stmt, If) and stmt.otherwise is None:
        stmt = stmt.then
    return isinstance(stmt, For) and stmt.kind is LoopKind.THREAD


def _same_threads(a: Sequence[For], b: Sequence[For]) -> bool:
    return len(a) == len(b) and all(
        x.thread == y.thread and x.min is y.min and x.extent is y.extent for x, y in zip(a, b, strict=True)
    )


def meeting(loops: Sequence[For], a: Stmt, b: Stmt, private: set[E.Var]) -> Buffer | None:
    """Return a buffer of which a thread may touch by `b` an element that another touches by `a`, where either writes
    it; None where all threads keep to themselves."""
    owners = frozenset(loop.var for loop in loops)
    overlap = Overlap(owners, private.__contains__)
    events, scope = Events((stored(a) | stored(b)) - allocated(a) - allocated(b)), Scope(varying=owners)
    by_buffer: dict[Buffer, list[Event]] = {}
    for event in events.first(b, scope):
        by_buffer.setdefault(event.buffer, []).append(event)
    for x in events.first(a, scope):
        for y in by_buffer.get(x.buffer, ()):
            if x.minds(y) and not overlap.apart(x.place, y.place):
                return x.buffer
    return None


def _invariant_guard(loop: For) -> Stmt:
    """Return the loop with a guard that every iteration asks alike around it."""
    guard = loop.body
    if isinstance(guard, If) and guard.otherwise is None and not uses(guard.condition, {loop.var}) and _pure(guard):
        return guard.copy(then=_invariant_guard(loop.copy(body=guard.then)))
    return loop


def _under_one_guard(first: Stmt, second: Stmt) -> Stmt:
    """Return both in sequence, under one guard where both ask the same."""
    if isinstance(first, If) and isinstance(second, If) and _ask_alike(first, second):
        return first.copy(then=_under_one_guard(first.then, second.then))
    return Seq((*in_order(first), *in_order(second)))


def _ask_alike(first: If, second: If) -> bool:
    same = first.condition is second.condition and first.otherwise is None and second.otherwise is None
    return same and _pure(first)


def _pure(guard: If) -> bool:
    """Return whether nothing the program stores can change the guard's condition."""
    return repeatable(guard.condition)
