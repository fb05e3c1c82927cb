"""The nodes of a lowered program by the names that TVM gives them, for programs that look into one.

    isinstance(stmt, tir.For)          stmt.kind, stmt.min, stmt.extent, stmt.loop_var, stmt.body
    isinstance(stmt, tir.IfThenElse)   stmt.condition, stmt.then_case, stmt.else_case, here also then, otherwise

Where a name stands for a value that an expression makes (tir.Cast, tir.IntImm), it is a function of TVM's arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir import stmt as S
from ..ir.axis import IterVar, Range
from ..ir.dtype_name import dtype_of
from ..ir.func import Func
from ..ir.node import Expr

For, IfThenElse, BufferStore, Allocate, SeqStmt, LetStmt, Evaluate, Stmt = (
    S.For,
    S.If,
    S.Store,
    S.Alloc,
    S.Seq,
    S.Let,
    S.Evaluate,
    S.Stmt,
)
ForKind = S.LoopKind
BufferLoad, ProducerLoad, Call, Reduce, PrimExpr, PrimFunc = E.Load, E.TensorRead, E.Call, E.Reduce, Expr, Func


def Cast(dtype: str, value: Any) -> Expr:  # noqa: N802
    """Return `value` converted to a type."""
    return make.cast(dtype_of("tir.Cast", dtype), value)


def IntImm(dtype: str, value: int) -> E.Const:  # noqa: N802
    """Return a typed integer."""
    return make.const(value, dtype_of("tir.IntImm", dtype))


def FloatImm(dtype: str, value: float) -> E.Const:  # noqa: N802
    """Return a typed float."""
    return make.const(float(value), dtype_of("tir.FloatImm", dtype))


def Ramp(base: Any, stride: Any, lanes: int) -> Expr:  # noqa: N802
    """Return the vector base, base + stride, ... of that many lanes."""
    first, step = make.pair(base, stride)
    return E.Ramp(first, step, _lanes("tir.Ramp", first, lanes))


def Broadcast(value: Any, lanes: int) -> Expr:  # noqa: N802
    """Return the vector that holds `value` in each of that many lanes."""
    held = make.convert(value)
    return E.Broadcast(held, _lanes("tir.Broadcast", held, lanes))


def _lanes(asked: str, value: Expr, lanes: Any) -> int:
    if isinstance(lanes, int) and lanes > 1 and value.dtype.lanes == 1:
        return lanes
    because = f"it is {value.dtype}" if value.dtype.lanes > 1 else "a vector has two lanes at least"
    raise UserTypeError(f"{asked} of {lanes!r} lanes", because, "a number, and 2 lanes or more")


Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max = (
    make.add,
    make.sub,
    make.mul,
    make.div,
    make.truncmod,
    make.floordiv,
    make.floormod,
    make.minimum,
    make.maximum,
)
EQ, NE, LT, LE, And, Or, Not = make.eq, make.ne, make.lt, make.le, make.logical_and, make.logical_or, make.logical_not


def GT(a: Any, b: Any) -> Expr:  # noqa: N802
    """Return a > b."""
    return make.lt(b, a)


def GE(a: Any, b: Any) -> Expr:  # noqa: N802
    """Return a >= b."""
    return make.le(b, a)


def post_order_visit(root: Any, visit: Callable[[Any], Any]) -> None:
    """Call `visit` with each statement and expression below `root`, a node after its parts, `root` last."""
    stack: list[tuple[Any, bool]] = [(root.body if isinstance(root, Func) else root, False)]
    seen: set[Expr] = set()
    while stack:
        node, done = stack.pop()
        if done:
            visit(node)
        elif not isinstance(node, Expr) or node not in seen:
            seen |= {node} if isinstance(node, Expr) else set()
            parts = [*node.expressions(), *node.substatements()] if isinstance(node, S.Stmt) else node.operands()
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(parts))


__all__ = [
    "EQ", "GE", "GT", "LE", "LT", "NE", "Add", "Allocate", "And", "Broadcast", "BufferLoad", "BufferStore", "Call",
    "Cast", "Div", "Evaluate", "FloatImm", "FloorDiv", "FloorMod", "For", "ForKind", "IfThenElse", "IntImm", "IterVar",
    "LetStmt", "Max", "Min", "Mod", "Mul", "Not", "Or", "PrimExpr", "PrimFunc", "ProducerLoad", "Ramp", "Range",
    "Reduce", "SeqStmt", "Stmt", "Sub", "post_order_visit",
]  # fmt: skip
