"""min and max. The order of integers is decided by proof first; of floats 0.0 and -0.0 may not change places."""

from __future__ import annotations

from ...ir import expr as E
from ..pattern import EXACT, RING, Rule, Table

MIN = Table(E.Min, [
    Rule("min(x, x)", "x"),
    Rule("min(min(x, y), x)", "min(x, y)", kind=RING),
    Rule("min(min(x, y), y)", "min(x, y)", kind=RING),
    Rule("min(x, min(x, y))", "min(x, y)", kind=RING),
    Rule("min(y, min(x, y))", "min(x, y)", kind=RING),
    Rule("min(min(x, c0), c1)", "min(x, min(c0, c1))", kind=RING),
    Rule("min(c0, x)", "min(x, c0)", kind=RING),
    Rule("min(min(x, c0), y)", "min(min(x, y), c0)", kind=RING),
    Rule("min(x, min(y, c0))", "min(min(x, y), c0)", kind=RING),
    Rule("min(max(x, y), x)", "x", kind=RING),
    Rule("min(max(x, y), y)", "y", kind=RING),
    Rule("min(max(x, y), min(x, z))", "min(x, z)", kind=RING),
    Rule("min(max(x, z), max(y, z))", "max(min(x, y), z)", kind=RING),
    Rule("min(x + z, y + z)", "min(x, y) + z", kind=EXACT),
    Rule("min(broadcast(x, L), broadcast(y, L))", "broadcast(min(x, y), L)"),
])  # fmt: skip

MAX = Table(E.Max, [
    Rule("max(x, x)", "x"),
    Rule("max(max(x, y), x)", "max(x, y)", kind=RING),
    Rule("max(max(x, y), y)", "max(x, y)", kind=RING),
    Rule("max(x, max(x, y))", "max(x, y)", kind=RING),
    Rule("max(y, max(x, y))", "max(x, y)", kind=RING),
    Rule("max(max(x, c0), c1)", "max(x, max(c0, c1))", kind=RING),
    Rule("max(c0, x)", "max(x, c0)", kind=RING),
    Rule("max(max(x, c0), y)", "max(max(x, y), c0)", kind=RING),
    Rule("max(x, max(y, c0))", "max(max(x, y), c0)", kind=RING),
    Rule("max(min(x, y), x)", "x", kind=RING),
    Rule("max(min(x, y), y)", "y", kind=RING),
    Rule("max(min(x, y), max(x, z))", "max(x, z)", kind=RING),
    Rule("max(min(x, z), min(y, z))", "min(max(x, y), z)", kind=RING),
    Rule("max(x + z, y + z)", "max(x, y) + z", kind=EXACT),
    Rule("max(broadcast(x, L), broadcast(y, L))", "broadcast(max(x, y), L)"),
])  # fmt: skip
