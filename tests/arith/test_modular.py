"""Remainders that are known of an integer."""

from __future__ import annotations

import pytest

from tecomp.arith import NO_FACTS, Modular, modular
from tests.arith.scope import expr


@pytest.mark.parametrize(
    ("text", "step", "base"),
    [
        ("5", 0, 5),
        ("x", 1, 0),
        ("x * 4 + 3", 4, 3),
        ("x * 4 + y * 6", 2, 0),
        ("x * 4 - 1", 4, 3),
        ("(x * 4 + 2) * (y * 6)", 12, 0),
        ("(x * 2 + 1) * (y * 2 + 1)", 2, 1),
        ("x * 8 % 12", 4, 0),
        ("(x * 8 + 5) // 4", 2, 1),
        ("(x * 6) // 4", 1, 0),
        ("select(p, x * 8 + 1, y * 4 + 1)", 4, 1),
        ("x * 8 if p else y * 8 + 4", 4, 0),
        ("min(x * 4, 6)", 2, 0),
        ("max(x * 9, y * 6 + 3)", 3, 0),
        ("index(s * 2)", 2, 0),
        ("s * 12", 12, 0),
        ("a * 12", 4, 0),
        ("a * 12 + 7 - a * 2", 2, 1),
        ("(a * 4 + 1) * (a * 8 + 3)", 4, 3),
        ("i8(a * 512 + 3)", 256, 3),
        ("i64(a * 12)", 4, 0),
        ("i64(a * 3)", 1, 0),
        ("u8(x * 6)", 2, 0),
    ],
)
def test_modular(text: str, step: int, base: int) -> None:
    assert modular(expr(text)) == Modular(step, base)


def test_modular_under_facts() -> None:
    facts = NO_FACTS.assume(expr("n % 8 == 0")).assume(expr("(x + y) % 4 == 3"))
    assert modular(expr("n * 3 + 2"), facts) == Modular(24, 2)
    assert modular(expr("n // 4"), facts) == Modular(2, 0)
    assert modular(expr("x + y + 2"), facts) == Modular(4, 1)
