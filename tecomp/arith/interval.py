"""Intervals: between which integers an expression's value lies, from the ranges of its variables alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..dtype import DType
from ..ir import expr as E
from ..ir.node import Expr
from . import span


class Interval(NamedTuple):
    """The integers lo <= x <= hi; None is no bound on that side. For bools 0 is false and 1 is true."""

    lo: int | None
    hi: int | None

    def join(self, other: Interval) -> Interval:
        """Return the least interval that holds both."""
        return Interval(span.low(self.lo, other.lo), span.high(self.hi, other.hi))

    def meet(self, other: Interval) -> Interval:
        """Return what lies in both."""
        lo = max((x for x in (self.lo, other.lo) if x is not None), default=None)
        hi = min((x for x in (self.hi, other.hi) if x is not None), default=None)
        return Interval(lo, hi)

    def within(self, other: Interval) -> bool:
        """Return whether every value of this one is in the other."""
        below = other.lo is None or (self.lo is not None and self.lo >= other.lo)
        return below and (other.hi is None or (self.hi is not None and self.hi <= other.hi))

    @property
    def value(self) -> int | None:
        """The only value, where there is only one."""
        return self.lo if self.lo == self.hi else None


EVERYTHING = Interval(None, None)
FALSEHOOD, TRUTH, EITHER = Interval(0, 0), Interval(1, 1), Interval(0, 1)
_LIMITS: dict[DType, Interval] = {}


def type_range(dtype: DType) -> Interval:
    """Return the values a type can hold: everything for index and for floats."""
    known = _LIMITS.get(dtype)
    if known is None:
        bounded = dtype.kind in ("int", "uint", "bool")
        known = _LIMITS[dtype] = Interval(*dtype.limits()) if bounded else EVERYTHING
    return known


def interval(root: Expr) -> Interval:
    """Return between which integers `root` lies in every lane, assuming each variable in its range.

    A result that may not fit a wrapping type is that type's whole range. A divisor is never zero: such a division has
    no value. The answer is kept in `root.bounds`; ranges of variables never change, so it stays true.
    """
    if root.bounds is None:
        _fill(root)
    return root.bounds  # pyright: ignore[reportReturnType]


def _fill(root: Expr) -> None:
    """Work out `bounds` of everything below `root` and of itself."""
    stack = [root]
    while stack:
        node = stack[-1]
        if node.bounds is None:
            waiting = [below for below in _below(node) if below.bounds is None]
            if waiting:
                stack.extend(waiting)
                continue
            node.bounds = _evaluate(node)
        stack.pop()


def may_wrap(node: Expr) -> bool:
    """Return whether this one operation, of a wrapping integer type, may leave its type's range."""
    if node.dtype.kind not in ("int", "uint"):
        return False
    verb = _EXACT.get(type(node))
    if verb is None:
        return False
    interval(node)
    return not verb(node).within(type_range(node.dtype))


def _below(node: Expr) -> list[Expr]:
    if isinstance(node, E.Var):
        return [bound for bound in (node.min, node.extent) if bound is not None]
    if isinstance(node, (E.Load, E.Address, E.TensorRead, E.Reduce)):
        return []
    return node.operands()


def _evaluate(node: Expr) -> Interval:
    whole = type_range(node.dtype)
    verb = _EXACT.get(type(node))
    if verb is None or node.dtype.is_float:
        return whole
    exact = verb(node)
    return exact if exact.within(whole) else whole


def _var(node: E.Var) -> Interval:
    if node.min is None:
        return type_range(node.dtype)
    first: Interval = node.min.bounds
    whole = type_range(node.dtype)
    if node.extent is None:
        return Interval(first.lo, None).meet(whole)
    count: Interval = node.extent.bounds
    last = None if first.hi is None or count.hi is None else first.hi + max(count.hi, 1) - 1
    return Interval(first.lo, last).meet(whole)


def _const(node: E.Const) -> Interval:
    return Interval(int(node.value), int(node.value))


def _binary(verb: Callable[[Any, Any], tuple[int | None, int | None]]) -> Callable[[Any], Interval]:
    return lambda node: Interval(*verb(node.a.bounds, node.b.bounds))


def _cast(node: E.Cast) -> Interval:
    if node.value.dtype.is_float:
        return type_range(node.dtype)
    if node.dtype.is_bool:
        return _truth(node.value.bounds, Interval(0, 0), span.differ)
    return node.value.bounds


def _truth(a: Interval, b: Interval, decide: Callable[[Any, Any], bool | None]) -> Interval:
    answer = decide(a, b)
    return EITHER if answer is None else TRUTH if answer else FALSEHOOD


def _compare(decide: Callable[[Any, Any], bool | None]) -> Callable[[Any], Interval]:
    def verb(node: E.Compare) -> Interval:
        return EITHER if node.a.dtype.is_float else _truth(node.a.bounds, node.b.bounds, decide)

    return verb


def _not(node: E.Not) -> Interval:
    return Interval(1 - node.a.bounds.hi, 1 - node.a.bounds.lo)


def _choice(node: E.Select | E.IfElse) -> Interval:
    known = node.condition.bounds.value
    if known is not None:
        return node.yes.bounds if known else node.no.bounds
    return node.yes.bounds.join(node.no.bounds)


def _ramp(node: E.Ramp) -> Interval:
    return Interval(*span.add(node.base.bounds, span.mul(node.stride.bounds, (0, node.lanes - 1))))


def _call(node: E.Call) -> Interval:
    verb = span.CALLS.get(node.name)
    if verb is None or any(arg.dtype.is_float for arg in node.args):
        return type_range(node.dtype)
    return Interval(*verb(node.dtype.bits, *(arg.bounds for arg in node.args)))


_EXACT: dict[type, Callable[[Any], Interval]] = {
    E.Var: _var,
    E.Const: _const,
    E.Add: _binary(span.add),
    E.Sub: _binary(span.sub),
    E.Mul: _binary(span.mul),
    E.FloorDiv: _binary(span.floordiv),
    E.FloorMod: _binary(span.floormod),
    E.TruncDiv: _binary(span.truncdiv),
    E.TruncMod: _binary(span.truncmod),
    E.Min: _binary(span.minimum),
    E.Max: _binary(span.maximum),
    E.And: _binary(span.minimum),
    E.Or: _binary(span.maximum),
    E.Not: _not,
    E.Lt: _compare(span.less),
    E.Le: _compare(span.at_most),
    E.Eq: _compare(span.equal),
    E.Ne: _compare(span.differ),
    E.Cast: _cast,
    E.Select: _choice,
    E.IfElse: _choice,
    E.Ramp: _ramp,
    E.Broadcast: lambda node: node.value.bounds,
    E.Call: _call,
}
"""The exact result, before it is wrapped. Operands have their bounds already."""
