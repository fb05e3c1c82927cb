"""The notation of rules, and the functions it compiles to."""

from __future__ import annotations

from tecomp.arith import NO_FACTS
from tecomp.arith.pattern import EXACT, RING, Rule, Table
from tecomp.ir import expr as E
from tests.arith.scope import expr


def test_a_rule_is_a_condition_and_a_construction() -> None:
    table = Table(E.Min, [Rule("min(min(x, c0), c1)", "min(x, min(c0, c1))", when="c0 != c1", kind=RING)])
    assert table.source() == (
        "def min_rules(node, facts):\n"
        "    like = node.a.dtype\n"
        "    if like.is_integer and type(t1 := node.a) is Min and (x := t1.a) is not None and "
        "(c0 := constant(t1.b)) is not None and (c1 := constant(node.b)) is not None and (c0 != c1) and "
        "(new := Min(x, number(min(c0, c1), like))) is not node:\n"
        "        fired[0] += 1\n"
        "        return new\n"
        "    return None\n"
    )


def test_the_first_rule_that_matches_is_used_and_counted() -> None:
    table = Table(E.Add, [Rule("x + x", "x * 2", kind=RING), Rule("x + y", "y + x", kind=RING)])
    assert repr(table(expr("x + x"), NO_FACTS)) == "x * 2"
    assert repr(table(expr("x + y"), NO_FACTS)) == "y + x"
    assert table(expr("f + g"), NO_FACTS) is None
    assert table.fired == [1, 1]


def test_a_proof_as_side_condition() -> None:
    table = Table(E.FloorMod, [Rule("x % y", "x", when="proved(0 <= x and x < y)", kind=RING)])
    assert table(expr("i % n"), NO_FACTS) is expr("i")
    assert table(expr("x % n"), NO_FACTS) is None
    assert table(expr("x % n"), NO_FACTS.assume(expr("0 <= x and x < n"))) is expr("x")


def test_exact_rules_refuse_what_may_wrap() -> None:
    table = Table(E.FloorDiv, [Rule("(x * c0) // c0", "x", when="c0 != 0", kind=EXACT)])
    assert table(expr("s * 4 // 4"), NO_FACTS) is expr("s")
    assert table(expr("u * 4 // 4"), NO_FACTS) is None


def test_a_computed_constant_that_does_not_fit_stops_an_exact_rule() -> None:
    table = Table(E.FloorDiv, [Rule("x // c0 // c1", "x // (c0 * c1)", when="c0 > 0 and c1 > 0", kind=EXACT)])
    assert repr(table(expr("u // 4 // 4"), NO_FACTS)) == "u // 16"
    assert table(expr("u // 16 // 16"), NO_FACTS) is None


def test_numbers_and_lanes() -> None:
    table = Table(E.Mul, [Rule("broadcast(x, L) * 2", "broadcast(x + x, L)", kind=RING), Rule("x * 1.0", "x")])
    assert repr(table(expr("broadcast(x, 4) * broadcast(2, 4)"), NO_FACTS)) == "broadcast(x + x, 4)"
    assert table(expr("f * 1.0"), NO_FACTS) is expr("f")
    assert table(expr("x * 1"), NO_FACTS) is None
