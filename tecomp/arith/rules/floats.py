"""Floats: only what is exact for every value, signed zeros and NaN among them."""

from __future__ import annotations

from ...ir import expr as E
from ..pattern import FLOAT, Rule, Table

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
    Rule("ramp(x, y, L) * broadcast(z, L)", "ramp(x * z, y * z, L)"),
    Rule("broadcast(z, L) * ramp(x, y, L)", "ramp(x * z, y * z, L)"),
])  # fmt: skip
