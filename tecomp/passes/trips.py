"""How often a loop runs."""

from __future__ import annotations

from ..arith import can_prove
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import For


def trip_count(loop: For) -> Expr:
    """Return the number of iterations, never negative: an extent may be, and means none."""
    zero = make.const(0, loop.extent.dtype)
    return loop.extent if can_prove(make.le(zero, loop.extent)) else make.maximum(loop.extent, zero)
