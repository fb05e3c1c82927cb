"""A thread's serial loop asks for its next rows before it needs the first of them.

    for t in range(1, m):                    for block in range((m - 1) // 16):
        carry = carry + X[t, i]                  for u in unrolled(16):
        S[t, i] = carry                              ahead[u] = X[1 + block * 16 + u, i]
                                       ->        for u in unrolled(16):
                                                     carry = carry + ahead[u]
                                                     S[1 + block * 16 + u, i] = carry
                                             for t in range(1 + (m - 1) // 16 * 16, m): ...   # as before

The iterations of such a loop depend on each other through registers (`carry`), so without this a thread waits for each
load in turn. Only loads of buffers that the kernel does not write are moved, and only such as every iteration makes.
"""

from __future__ import annotations

from ..arith import simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, LoopKind, Seq, Stmt, Store, in_order
from ..ir.subst import fresh_loops, substitute_stmt
from ..ir.visit import rewrite, walk
from ..target import Target
from .accesses import stored, uses
from .one_launch import in_threads
from .trips import trip_count

ROWS = 16
"""Rows asked for at once. Few columns need many: with 16384 of them, 2.2 TB/s on an H200 where 8 rows give 1.7."""
MOST_BYTES = 128
"""What a thread's rows ahead may take of its registers."""


def run(func: Func, target: Target) -> Func:
    """Return `func` with the loads of loops that carry values in registers moved ahead."""
    written = stored(func.body)

    def on_loop(loop: For) -> Stmt:
        if loop.kind is not LoopKind.SERIAL or not _carries(loop):
            return loop
        loads = _loads_ahead(loop, written)
        return _blocked(loop, loads) if loads else loop

    return func.with_body(in_threads(func.body, lambda body: rewrite(body, stmts={For: on_loop})))


def _carries(loop: For) -> bool:
    """Return whether an iteration stores a scalar that the next one reads."""
    registers = {step.buffer for step in in_order(loop.body) if isinstance(step, Store) and _register(step.buffer)}
    return any(isinstance(node, E.Load) and node.buffer in registers for node in walk(loop.body))


def _register(buffer: Buffer) -> bool:
    return buffer.scope == "local" and not buffer.shape


def _loads_ahead(loop: For, written: set[Buffer]) -> list[E.Load]:
    """Return the loads of each iteration that no store can change, as many as registers may hold."""
    found: dict[E.Load, None] = {}
    for step in in_order(loop.body):
        if isinstance(step, Store):
            found.update((load, None) for load in _unconditional(step.value))
    loads = [load for load in found if load.buffer not in written and uses(load, {loop.var}) and not _nested(load)]
    size = sum(load.dtype.bytes for load in loads)
    return loads if size and _rows(size) > 1 else []


def _unconditional(value: Expr) -> list[E.Load]:
    """Return the loads that evaluating `value` always makes: none on the sides of an IfElse, an And, an Or."""
    found: list[E.Load] = []
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, E.Load):
            found.append(node)
        stack += node.operands()[:1] if isinstance(node, (E.IfElse, E.And, E.Or)) else node.operands()
    return found


def _nested(load: E.Load) -> bool:
    """Return whether the element it reads depends on another load."""
    return any(isinstance(node, E.Load) for index in load.indices for node in walk(index))


def _rows(size: int) -> int:
    return min(ROWS, MOST_BYTES // size)


def _blocked(loop: For, loads: list[E.Load]) -> Stmt:
    rows = make.const(_rows(sum(load.dtype.bytes for load in loads)), INDEX)
    zero = make.const(0, INDEX)
    blocks = simplify(make.floordiv(trip_count(loop), rows))
    block = E.Var(f"{loop.var.name}_block", INDEX, zero, blocks)
    ahead = [Buffer(f"{load.buffer.name}_ahead", (rows,), load.dtype, "local", loc=loop.loc) for load in loads]

    def row(var: E.Var) -> Expr:
        return simplify(make.add(make.add(loop.min, make.mul(block, rows)), var))

    fill, use = E.Var("row", INDEX, zero, rows), E.Var("row", INDEX, zero, rows)
    asked: Stmt = Seq(
        tuple(
            substitute_stmt(Store(buffer, (fill,), load, make.TRUE, loc=loop.loc), {loop.var: row(fill)})
            for buffer, load in zip(ahead, loads, strict=True)
        )
    )
    held = {load: make.load(buffer, (use,)) for buffer, load in zip(ahead, loads, strict=True)}

    def held_value(load: E.Load) -> Expr:
        return held.get(load, load)

    body = rewrite(loop.body, exprs={E.Load: held_value})
    used = substitute_stmt(fresh_loops(body), {loop.var: row(use)})
    main: Stmt = For(
        block,
        LoopKind.SERIAL,
        Seq((For(fill, LoopKind.UNROLLED, asked, loc=loop.loc), For(use, LoopKind.UNROLLED, used, loc=loop.loc))),
        loc=loop.loc,
    )
    for buffer in reversed(ahead):
        main = Alloc(buffer, main, loc=loop.loc)
    left = simplify(make.floormod(trip_count(loop), rows))
    rest = E.Var(loop.var.name, INDEX, simplify(make.sub(make.add(loop.min, trip_count(loop)), left)), left)
    return Seq((main, loop.copy(var=rest, body=substitute_stmt(fresh_loops(loop.body), {loop.var: rest}))))
