"""Vector arithmetic: a node over operands some of which are vectors, kept as Ramp and Broadcast where it can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ..arith import interval, modular
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr

SCALAR: Final[dict[type[Expr], Callable[..., Expr]]] = {
    E.Add: make.add,
    E.Sub: make.sub,
    E.Mul: make.mul,
    E.Min: make.minimum,
    E.Max: make.maximum,
    E.FloorDiv: make.floordiv,
    E.FloorMod: make.floormod,
    E.Lt: make.lt,
    E.Le: make.le,
    E.And: make.logical_and,
    E.Or: make.logical_or,
    E.Not: make.logical_not,
}
"""What folds constants, for the nodes that indices and guards are made of."""


def build(node: Expr, operands: list[Expr]) -> Expr:
    """Return `node` over `operands`; where one is a vector, the others are broadcast to its lanes.

    x + Ramp(b, s, n) -> Ramp(x + b, s, n) and its kin keep affine indices as ramps.
    """
    if all(x is y for x, y in zip(operands, node.operands(), strict=True)):
        return node
    lanes = max((operand.dtype.lanes for operand in operands), default=1)
    if lanes == 1:
        return SCALAR[type(node)](*operands) if type(node) in SCALAR else node.with_operands(operands)
    folded = _RAMPS[type(node)](*operands) if type(node) in _RAMPS else None
    if folded is not None:
        return folded
    if all(isinstance(operand, E.Broadcast) or operand.dtype.lanes == 1 for operand in operands):
        return E.Broadcast(build(node, [spread_value(operand) for operand in operands]), lanes)
    wide = [make.broadcast(operand, lanes) for operand in operands]
    if isinstance(node, (E.Select, E.IfElse)) and operands[0].dtype.lanes == 1:
        wide[0] = operands[0]
    if isinstance(node, E.Cast):
        return E.Cast(node.dtype.element.with_lanes(lanes), wide[0])
    if isinstance(node, E.Call):
        return E.Call(node.dtype.element.with_lanes(lanes), node.name, tuple(wide))
    return node.with_operands(wide)


def spread_value(operand: Expr) -> Expr:
    """Return what a Broadcast holds in every lane; a scalar as it is."""
    return operand.value if isinstance(operand, E.Broadcast) else operand


def step(vector: Expr) -> tuple[Expr, Expr] | None:
    """Return (first lane, difference of neighbouring lanes) of a Ramp, a Broadcast or a scalar; None for others."""
    if isinstance(vector, E.Ramp):
        return vector.base, vector.stride
    value = spread_value(vector)
    return (value, make.const(0, value.dtype)) if value.dtype.lanes == 1 and value.dtype.is_integer else None


def ramp(base: Expr, stride: Expr, lanes: int) -> Expr:
    """Return base, base + stride, ...: a Broadcast when the stride is 0."""
    if isinstance(stride, E.Const) and stride.value == 0:
        return E.Broadcast(base, lanes)
    return E.Ramp(base, stride, lanes)


def _lanes(a: Expr, b: Expr) -> int:
    return max(a.dtype.lanes, b.dtype.lanes)


def _linear(scalar: Callable[[Any, Any], Expr]) -> Callable[[Expr, Expr], Expr | None]:
    def fold(a: Expr, b: Expr) -> Expr | None:
        x, y = step(a), step(b)
        if x is None or y is None:
            return None
        return ramp(scalar(x[0], y[0]), scalar(x[1], y[1]), _lanes(a, b))

    return fold


def _scaled(a: Expr, b: Expr) -> Expr | None:
    vector, factor = (a, spread_value(b)) if isinstance(a, E.Ramp) else (b, spread_value(a))
    if not isinstance(vector, E.Ramp) or factor.dtype.lanes > 1:
        return None
    return ramp(make.mul(vector.base, factor), make.mul(vector.stride, factor), vector.lanes)


def _within_one_bucket(a: Expr, divisor: Expr) -> bool:
    """Whether all lanes of the ramp `a` have the same quotient by the constant `divisor`.

    With a.base = base (mod c), buckets of gcd(c, divisor) numbers are those of `divisor`, only finer.
    """
    if not (isinstance(a, E.Ramp) and isinstance(divisor, E.Const) and isinstance(a.stride, E.Const)):
        return False
    span, size = int(a.stride.value) * (a.lanes - 1), int(divisor.value)
    if size <= 0 or a.dtype.element is not INDEX:
        return False
    low, high = min(span, 0), max(span, 0)
    coefficient, base = modular(a.base)
    bucket = math.gcd(coefficient, size)
    if base % bucket + low >= 0 and base % bucket + high < bucket:
        return True
    rest = interval(make.floormod(a.base, divisor))
    return rest.lo is not None and rest.hi is not None and rest.lo + low >= 0 and rest.hi + high < size


def _quotient(a: Expr, b: Expr) -> Expr | None:
    divisor = spread_value(b)
    if not _within_one_bucket(a, divisor):
        return None
    assert isinstance(a, E.Ramp)
    return E.Broadcast(make.floordiv(a.base, divisor), a.lanes)


def _remainder(a: Expr, b: Expr) -> Expr | None:
    divisor = spread_value(b)
    if not _within_one_bucket(a, divisor):
        return None
    assert isinstance(a, E.Ramp)
    return E.Ramp(make.floormod(a.base, divisor), a.stride, a.lanes)


_RAMPS: Final[dict[type[Expr], Callable[[Expr, Expr], Expr | None]]] = {
    E.Add: _linear(make.add),
    E.Sub: _linear(make.sub),
    E.Mul: _scaled,
    E.FloorDiv: _quotient,
    E.FloorMod: _remainder,
}
