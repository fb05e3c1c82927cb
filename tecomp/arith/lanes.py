"""Vectors: operations on ramps and broadcasts that stay ramps and broadcasts."""

from __future__ import annotations

from math import gcd

from ..ir import expr as E
from ..ir.node import Expr
from .affine import number
from .canonical import is_exact
from .facts import Facts
from .modular import Modular, modular
from .prove import proves
from .sums import constant


def ramp_divided(node: E.FloorDiv | E.FloorMod, facts: Facts) -> Expr:
    """Return Ramp(b, s) // c or % c as a ramp or a broadcast where c divides s, or no lane crosses a multiple of c."""
    ramp, divisor, quotient = node.a, constant(node.b), isinstance(node, E.FloorDiv)
    if not isinstance(ramp, E.Ramp) or divisor is None or divisor <= 0 or not is_exact(ramp):
        return node
    small = number(divisor, ramp.base.dtype)
    step = constant(ramp.stride)
    if step is not None and step % divisor == 0:
        if quotient:
            return E.Ramp(E.FloorDiv(ramp.base, small), number(step // divisor, small.dtype), ramp.lanes)
        return E.Broadcast(E.FloorMod(ramp.base, small), ramp.lanes)
    if step is None or step < 0 or not _stays_below(ramp.base, divisor, step * (ramp.lanes - 1), facts):
        return node
    if quotient:
        return E.Broadcast(E.FloorDiv(ramp.base, small), ramp.lanes)
    return E.Ramp(E.FloorMod(ramp.base, small), ramp.stride, ramp.lanes)


def _stays_below(base: Expr, divisor: int, reach: int, facts: Facts) -> bool:
    """Return whether base % divisor + reach < divisor."""
    if _greatest_remainder(modular(base, facts), divisor) + reach < divisor:
        return True
    remainder = E.FloorMod(base, number(divisor, base.dtype))
    return proves(E.Lt(remainder, number(divisor - reach, base.dtype)), facts)


def _greatest_remainder(known: Modular, divisor: int) -> int:
    step = gcd(known.coefficient, divisor)
    return divisor - step + known.base % step
