"""Truncating division, which becomes floor division where both sides are known not to be negative."""

from __future__ import annotations

from ...ir import expr as E
from ..pattern import EXACT, FLOAT, RING, Rule, Table

TRUNCDIV = Table(E.TruncDiv, [
    Rule("truncdiv(x, 1)", "x", kind=RING),
    Rule("truncdiv(0, x)", "0", kind=RING),
    Rule("truncdiv(x, y)", "x // y", when="proved(0 <= x) and proved(0 < y)", kind=RING),
    Rule("truncdiv(x * c0, c0)", "x", when="c0 != 0", kind=EXACT),
    Rule("truncdiv(truncdiv(x, c0), c1)", "truncdiv(x, c0 * c1)", when="c0 > 0 and c1 > 0", kind=EXACT),
    Rule("truncdiv(broadcast(x, L), broadcast(y, L))", "broadcast(truncdiv(x, y), L)"),
])  # fmt: skip

TRUNCMOD = Table(E.TruncMod, [
    Rule("truncmod(x, 1)", "0", kind=RING),
    Rule("truncmod(0, x)", "0", kind=RING),
    Rule("truncmod(x, y)", "x % y", when="proved(0 <= x) and proved(0 < y)", kind=RING),
    Rule("truncmod(x * c0, c1)", "0", when="c1 != 0 and c0 % c1 == 0", kind=EXACT),
    Rule("truncmod(truncmod(x, c0), c1)", "truncmod(x, c1)", when="c1 != 0 and c0 % c1 == 0", kind=RING),
    Rule("truncmod(broadcast(x, L), broadcast(y, L))", "broadcast(truncmod(x, y), L)"),
])  # fmt: skip

FLOORDIV = Table(E.FloorDiv, [
    Rule("x // 1", "x", kind=RING),
    Rule("broadcast(x, L) // broadcast(y, L)", "broadcast(x // y, L)"),
])  # fmt: skip

FLOORMOD = Table(E.FloorMod, [
    Rule("x % 1", "0", kind=RING),
    Rule("broadcast(x, L) % broadcast(y, L)", "broadcast(x % y, L)"),
])  # fmt: skip

DIV = Table(E.Div, [
    Rule("x / 1.0", "x", kind=FLOAT),
    Rule("broadcast(x, L) / broadcast(y, L)", "broadcast(x / y, L)"),
])  # fmt: skip
