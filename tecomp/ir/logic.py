"""Building comparisons, what is true of several conditions, and choices; constants are folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import UserError
from . import expr as E
from .constant import FALSE, TRUE
from .node import Expr
from .promote import broadcast, convert, pair


def _comparison(node: type[E.Compare], fold: Callable[[Any, Any], bool], symbol: str) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = pair(a, b)
        if isinstance(x, E.Const) and isinstance(y, E.Const):
            return TRUE if fold(x.value, y.value) else FALSE
        return node(x, y)

    build.__doc__ = f"Return a {symbol} b as a bool."
    return build


lt = _comparison(E.Lt, lambda p, q: p < q, "<")
le = _comparison(E.Le, lambda p, q: p <= q, "<=")
_eq = _comparison(E.Eq, lambda p, q: p == q, "==")
_ne = _comparison(E.Ne, lambda p, q: p != q, "!=")


def eq(a: Any, b: Any) -> Any:
    """Return a == b as a bool expression; Python's own == also asks this, of values that are no expressions."""
    return _eq(a, b) if _comparable(a) and _comparable(b) else NotImplemented


def ne(a: Any, b: Any) -> Any:
    """Return a != b as a bool expression."""
    return _ne(a, b) if _comparable(a) and _comparable(b) else NotImplemented


def _comparable(value: Any) -> bool:
    return isinstance(value, (Expr, bool, int, float, np.generic)) or hasattr(value, "as_expr")


def _bools(name: str, values: Iterable[Any]) -> list[Expr]:
    operands = [convert(value) for value in values]
    for operand in operands:
        if not operand.dtype.is_bool:
            legal = "a comparison, or .astype('bool')"
            raise UserError(f"te.{name} of {operand.dtype}", because="it takes bools", legal=legal)
    return operands


def logical_and(*values: Any) -> Expr:
    """Return whether all hold; constants are folded."""
    result: Expr = TRUE
    for operand in _bools("all", values):
        if result is FALSE or operand is TRUE:
            continue
        result = operand if result is TRUE or operand is FALSE else E.And(result, operand)
    return result


def logical_or(*values: Any) -> Expr:
    """Return whether any holds; constants are folded."""
    result: Expr = FALSE
    for operand in _bools("any", values):
        if result is TRUE or operand is FALSE:
            continue
        result = operand if result is FALSE or operand is TRUE else E.Or(result, operand)
    return result


def logical_not(value: Any) -> Expr:
    """Return the other bool; comparisons of integers are turned round."""
    (operand,) = _bools("not", [value])
    if isinstance(operand, E.Const):
        return FALSE if operand.value else TRUE
    if isinstance(operand, E.Not):
        return operand.a
    if isinstance(operand, (E.Lt, E.Le)) and operand.a.dtype.is_integer:
        return E.Le(operand.b, operand.a) if isinstance(operand, E.Lt) else E.Lt(operand.b, operand.a)
    if isinstance(operand, (E.Eq, E.Ne)):
        return E.Ne(operand.a, operand.b) if isinstance(operand, E.Eq) else E.Eq(operand.a, operand.b)
    return E.Not(operand)


def _choice(node: type[E.Select] | type[E.IfElse], name: str) -> Callable[[Any, Any, Any], Expr]:
    def build(condition: Any, yes: Any, no: Any) -> Expr:
        (test,) = _bools(name, [condition])
        x, y = pair(yes, no)
        if isinstance(test, E.Const):
            return x if test.value else y
        if x is y:
            return x
        if test.dtype.lanes > 1:
            x, y = broadcast(x, test.dtype.lanes), broadcast(y, test.dtype.lanes)
        return node(test, x, y)

    return build


select = _choice(E.Select, "select")
select.__doc__ = "Return yes where condition holds, else no; both are evaluated."
if_then_else = _choice(E.IfElse, "if_then_else")
if_then_else.__doc__ = "Return yes if condition holds, else no; the side not taken is never evaluated."
