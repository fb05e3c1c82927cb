"""+ - and * of what no sum collects: floats, only where exact for signed zeros and NaN too; products of vectors."""

from __future__ import annotations

from ...ir import expr as E
from ..pattern import FLOAT, RING, Rule, Table

ADD = Table(E.Add, [
    Rule("x + -0.0", "x", kind=FLOAT),
    Rule("-0.0 + x", "x", kind=FLOAT),
    Rule("broadcast(x, L) + broadcast(y, L)", "broadcast(x + y, L)"),
])  # fmt: skip

SUB = Table(E.Sub, [
    Rule("x - 0.0", "x", kind=FLOAT),
    Rule("broadcast(x, L) - broadcast(y, L)", "broadcast(x - y, L)"),
])  # fmt: skip

MUL = Table(E.Mul, [
    Rule("x * 1.0", "x", kind=FLOAT),
    Rule("1.0 * x", "x", kind=FLOAT),
    Rule("(x * -1.0) * -1.0", "x", kind=FLOAT),
    Rule("broadcast(x, L) * broadcast(y, L)", "broadcast(x * y, L)"),
    Rule("ramp(x, y, L) * broadcast(z, L)", "ramp(x * z, y * z, L)", kind=RING),
    Rule("broadcast(z, L) * ramp(x, y, L)", "ramp(x * z, y * z, L)", kind=RING),
])  # fmt: skip
