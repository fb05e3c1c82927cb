"""Parallel loops: the body becomes a function, which an OpenMP runtime runs on its threads.

    for i in parallel(n): body   ->   te.f.i:      body for i = begin ... end - 1, private memory on its own stack
                                      te.f.i.team: takes captured values from memory, its share of n by thread number
                                      GOMP_parallel(te.f.i.team, captured)

Shares are contiguous and differ by one iteration at most. A parallel loop inside another runs serially.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.expr import Load, Var
from ..ir.stmt import Buffer, For, Stmt, Store
from ..ir.visit import walk
from .llvm_code import Code
from .llvm_types import Value

Statement = Callable[[Code, Stmt], None]
Captured = list[tuple[Var | Buffer, Value]]


def parallel(code: Code, stmt: For, low: Value, extent: Value, statement: Statement, count: Callable[..., None]) -> None:
    """Emit a parallel loop over low, low + 1, ... of `extent`."""
    captured = _captured(code, stmt)
    symbol = code.module.symbols.fresh(f"{code.symbol}.{stmt.var.name}")
    fails = _body(code, symbol, stmt, captured, low.type, statement, count)
    _team(code, symbol, captured, low.type, fails)
    _start(code, symbol, captured, low, extent, fails)


def _captured(code: Code, stmt: For) -> Captured:
    """Return the variables and buffers of the body that are defined outside it, with their values."""
    found: dict[Var | Buffer, Value] = {}
    for node in walk(stmt.body):
        if isinstance(node, Var) and node in code.values:
            found[node] = code.values[node]
        elif isinstance(node, (Load, Store)) and node.buffer in code.pointers:
            found[node.buffer] = code.pointers[node.buffer]
    return list(found.items())


def _parameters(captured: Captured, inner: Code) -> str:
    """Return the parameters of the body function, and tell `inner` their names."""
    texts: list[str] = []
    for thing, outer in captured:
        name = f"%{inner.names.fresh(thing.name)}"
        if isinstance(thing, Buffer):
            inner.pointers[thing] = Value("ptr", name)
            texts.append(f"ptr noalias {name}")
        else:
            inner.values[thing] = Value(outer.type, name)
            texts.append(f"{outer.type} {name}")
    return ", ".join(texts)
