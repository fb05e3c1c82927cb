"""Symbolic bounds while some variables run over ranges."""

from __future__ import annotations

import pytest

from tecomp.arith import NO_FACTS, bounds_of
from tecomp.dtype import INDEX
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.axis import Range
from tecomp.ir.parse_expr import parse_expr
from tests.arith import scope

r, q = E.Var("r", INDEX), E.Var("q", INDEX)


def over(text: str) -> E.Expr:
    return parse_expr(text, **scope.NAMES | {"r": r, "q": q})


def span(low: str, extent: str) -> Range:
    return Range(over(low), over(extent))


CASES = [
    ("io * 4 + r", ("0", "4"), None, "io * 4", "io * 4 + 3"),
    ("io * 4 - r", ("0", "4"), None, "io * 4 - 3", "io * 4"),
    ("r - io * 4", ("io * 4", "4"), None, "0", "3"),
    ("(r + 3) // 4", ("0", "n"), None, "0", "(n + 2) // 4"),
    ("r // -4", ("0", "8"), None, "-2", "0"),
    ("truncdiv(r, 4)", ("-8", "17"), None, "-2", "2"),
    ("r % 8", ("0", "n"), None, "0", "7"),
    ("r % 8", ("x * 8", "4"), None, "0", "3"),
    ("r % 8", ("x * 8 + 6", "4"), None, "0", "7"),
    ("r * m + q", ("0", "n"), ("0", "m"), "0", "n * m - 1"),
    ("r * q", ("0", "n"), ("0", "m"), "0", "n * m - n - m + 1"),
    ("r * x", ("0", "4"), None, "min(x * 3, 0)", "max(x * 3, 0)"),
    ("r + q", ("0", "n"), ("r * 4", "4"), "0", "n * 5 - 2"),
    ("r // q", ("0", "n"), ("1", "4"), "0", "n - 1"),
    ("min(r + 3, n - 1)", ("io * 4", "4"), None, "min(io * 4 + 3, n - 1)", "min(io * 4 + 6, n - 1)"),
    ("max(r - 1, 0)", ("0", "4"), None, "0", "2"),
    ("min(r, B[r])", ("0", "4"), None, None, "3"),
    ("r if p else r + 8", ("0", "4"), None, "select(p, 0, 8)", "select(p, 3, 11)"),
    ("r if q < 2 else x", ("0", "4"), ("0", "4"), "min(x, 0)", "max(x, 3)"),
    ("B[r]", ("0", "4"), None, None, None),
    ("index(B[r]) + r", ("0", "4"), None, None, None),
    ("index(B[r]) % 4 + r", ("0", "4"), None, "0", "6"),
    ("index(b) + r", ("0", "4"), None, "index(b)", "index(b) + 3"),
    ("index(i32(r)) * 2", ("0", "4"), None, "0", "6"),
    ("index(i32(r))", ("0", "n"), None, None, None),
    ("ramp(r * 4, 1, 4)", ("0", "n"), None, "0", "n * 4 - 1"),
    ("ramp(r * 4, 1, 4) // broadcast(8, 4)", ("0", "n"), None, "0", "(n + 1) // 2 - 1"),
    ("x + 1", ("0", "4"), None, "x + 1", "x + 1"),
]


@pytest.mark.parametrize(("text", "of_r", "of_q", "lo", "hi"), CASES)
def test_bounds(text: str, of_r: tuple[str, str], of_q: tuple[str, str] | None, lo: str | None, hi: str | None) -> None:
    ranges = {r: span(*of_r)} | ({q: span(*of_q)} if of_q else {})
    found = bounds_of(over(text), ranges)
    assert tuple(None if end is None else repr(end) for end in found) == (lo, hi)


def test_bounds_under_facts() -> None:
    facts = NO_FACTS.assume(over("n == 8"))
    assert [repr(end) for end in bounds_of(over("r + n"), {r: span("0", "n")}, facts)] == ["8", "15"]


def test_bounds_keep_the_type() -> None:
    a = E.Var("a", scope.c.dtype)
    lo, hi = bounds_of(E.Add(scope.c, make.const(1, "int32")), {scope.c: Range(a, make.const(4, "int32"))})
    assert lo is not None and hi is not None
    assert lo.dtype is hi.dtype is scope.c.dtype
