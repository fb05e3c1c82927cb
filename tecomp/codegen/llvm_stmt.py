"""Statements: each becomes blocks and instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..errors import InternalError, UnsupportedError
from ..ir.expr import Call
from ..ir.make import TRUE
from ..ir.stmt import Alloc, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store
from . import llvm_memory
from .llvm_alloc import allocate, release
from .llvm_code import Code
from .llvm_control import count, is_number, where
from .llvm_expr import value
from .llvm_parallel import parallel
from .llvm_types import Value, lanes_of
from .unrolling import is_unrolled, walks_columns

SHORT_LOOP: Final = 256
"""Iterations of a loop that is better unrolled than interleaved."""


def statement(code: Code, stmt: Stmt) -> None:
    """Emit `stmt`. A chain of Lets and Allocs is followed in a loop: programs of many stages nest them deeply."""
    depth = len(code.heap)
    while isinstance(stmt, (Let, Alloc)):
        if isinstance(stmt, Alloc):
            allocate(code, stmt.buffer)
        else:
            with code.scope():
                code.values[stmt.var] = value(code, stmt.value)
        stmt = stmt.body
    _STATEMENTS[type(stmt)](code, stmt)
    release(code, depth)


def _sequence(code: Code, stmt: Seq) -> None:
    for part in stmt.stmts:
        statement(code, part)


def _store(code: Code, stmt: Store) -> None:
    with code.scope():
        mask = None if stmt.mask is TRUE else value(code, stmt.mask)
        if mask is not None and lanes_of(mask.type) == 1:
            where(code, mask, lambda: _write(code, stmt, None))
        else:
            _write(code, stmt, mask)


def _write(code: Code, stmt: Store, mask: Value | None) -> None:
    with code.scope():
        written = value(code, stmt.value)
        llvm_memory.store(code, stmt, value(code, llvm_memory.stored_at(stmt)), written, mask)


def _branch(code: Code, stmt: If) -> None:
    with code.scope():
        condition = value(code, stmt.condition)
    no = stmt.otherwise
    where(code, condition, lambda: statement(code, stmt.then), None if no is None else lambda: statement(code, no))


def _evaluate(code: Code, stmt: Evaluate) -> None:
    """A prefetch takes the element that it names, which is not read."""
    call = stmt.value
    with code.scope():
        if isinstance(call, Call) and call.name == "prefetch":
            llvm_memory.prefetch(code, call, lambda node: value(code, node))
        else:
            value(code, call)


def _loop(code: Code, stmt: For) -> None:
    if stmt.kind in (LoopKind.THREAD, LoopKind.VECTORIZED):
        raise _unlowered(stmt)
    with code.scope():
        low, extent = value(code, stmt.min), value(code, stmt.extent)
    if stmt.kind is LoopKind.PARALLEL and not code.parallel:
        parallel(code, stmt, low, extent, statement)
        return
    high = extent if low.name == "0" else _sum(code, low, extent, f"{stmt.var.name}.stop")
    count(
        code,
        stmt.var,
        low,
        high,
        lambda: statement(code, stmt.body),
        lambda innermost: _hints(code, extent, stmt, innermost),
    )


def _sum(code: Code, low: Value, extent: Value, name: str) -> Value:
    if is_number(low) and is_number(extent):
        return Value(low.type, str(int(low.name) + int(extent.name)))
    return code.op(low.type, f"add nsw {low}, {extent.name}", name)


def _unlowered(stmt: For) -> Exception:
    name = stmt.var.name
    if stmt.kind is LoopKind.VECTORIZED:
        return InternalError(f"the vectorized loop {name!r} reached code generation", because="vectorize did not run")
    because = f"it is bound to {stmt.thread}, which a CPU does not have"
    return UnsupportedError(f"loop {name!r} on llvm", because, legal=['target "cuda"', "parallel in place of bind"])


def _hints(code: Code, extent: Value, stmt: For, innermost: bool) -> str:
    """Return metadata for LLVM: unroll in full what the user says and is short; do not interleave other short loops;
    leave those rolled that walk columns.

    Interleaving, LLVM would handle 64 of 80 elements in four vectors at a time and the rest one by one; unrolled, all
    80 are vectors.
    """
    wanted: list[str] = []
    if is_unrolled(stmt):
        wanted.append('!{!"llvm.loop.unroll.full"}')
    elif innermost and is_number(extent) and int(extent.name) <= SHORT_LOOP:
        wanted.append('!{!"llvm.loop.interleave.count", i32 1}')
    elif innermost and walks_columns(stmt):
        wanted.append('!{!"llvm.loop.unroll.disable"}')
    if not wanted:
        return ""
    nodes = ", ".join(map(code.module.metadata, wanted))
    return code.module.metadata(f"distinct !{{self, {nodes}}}")


def _launch(code: Code, stmt: Launch) -> None:
    raise UnsupportedError("a kernel launch on llvm", because="the program is one for a GPU", legal='target "cuda"')


_STATEMENTS: Final[dict[type[Any], Callable[[Code, Any], None]]] = {
    Seq: _sequence,
    Store: _store,
    If: _branch,
    For: _loop,
    Evaluate: _evaluate,
    Launch: _launch,
}
