"""What is proved of integers, with facts and without, and what must not be."""

from __future__ import annotations

import pytest

from tecomp.arith import NO_FACTS, Facts, can_prove, constant_lower, constant_upper
from tecomp.ir import expr as E
from tecomp.ir import make
from tests.arith.scope import expr, x

PROVED = """
to * 64 + ti < n
i * m + j < n * m
(i * m + j) // m < n
io * 256 < n
tail + io * 256 < n
n <= (n + 255) // 256 * 256
(n + 255) // 256 * 256 <= n + 255
i // 4 * 4 <= i
i - i // 4 * 4 < 4
i // 4 <= i
(i * 10 + 9) // 6 - i * 10 // 6 <= 2
min(256, n - io * 256) <= 256
max(x, y) - x <= max(x, y) - min(x, y)
min(x, y) <= max(x, y)
select(p, k, l) < 4
(k if x < 3 else 7) <= 7
x % n < n or n == 0
(x if x < n else n - 1) < n
x * 2 != y * 2 + 1
x < y or y <= x
k < 4 and 0 <= k
ramp(k, 1, 4) < broadcast(7, 4)
ramp(io * 4, 1, 4) < broadcast(io * 4 + 4, 4)
s + 1 <= 4
"""

NOT_PROVED = """
io * 256 + ii < n
ramp(k, 1, 4) < broadcast(6, 4)
(i * 10 + 9) // 6 - i * 10 // 6 <= 1
u < u + 1
x // y * y <= x
x % n < n
i < m
A[i] < 1.0
p
"""

WITH_FACTS = [
    (["io * 256 + ii < n"], "io * 256 + ii < n"),
    (["io * 256 + ii < n"], "io * 256 + ii + 1 <= n and 0 <= io * 256 + ii"),
    (["io * 256 + ii < n"], "(io * 256 + ii) * m + j < n * m"),
    (["x < y", "y < z"], "x + 2 <= z"),
    (["x < y", "y <= n"], "x < n"),
    (["x == y"], "x * 3 - y * 3 == 0"),
    (["not (n <= x)"], "x < n"),
    (["not (n <= x or y < 3)"], "x < n and 3 <= y"),
    (["n != 0"], "0 < n"),
    (["0 < m"], "n <= (n + m - 1) // m * m"),
    (["0 < n"], "x % n < n and 0 <= x % n"),
    (["1 <= n", "1 <= m"], "1 <= n * m"),
    (["x % 4 == 0"], "x % 2 == 0"),
    (["x % 4 == 1"], "x != y * 4"),
    (["n % 4 == 0"], "n // 4 * 4 == n"),
    (["p"], "p or q"),
    (["p", "q"], "p and q"),
    (["x + y < 10", "0 <= y"], "x < 10"),
    (["x * 2 <= 7"], "x <= 3"),
    (["u < v"], "u < v"),
]


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def assume(conditions: list[str]) -> Facts:
    facts = NO_FACTS
    for condition in conditions:
        facts = facts.assume(expr(condition))
    return facts


@pytest.mark.parametrize("condition", lines(PROVED))
def test_proved(condition: str) -> None:
    assert can_prove(expr(condition))


@pytest.mark.parametrize("condition", lines(NOT_PROVED))
def test_not_proved(condition: str) -> None:
    assert not can_prove(expr(condition))
    assert not can_prove(make.logical_not(expr(condition)))


@pytest.mark.parametrize(("facts", "condition"), WITH_FACTS)
def test_proved_under_facts(facts: list[str], condition: str) -> None:
    assert can_prove(expr(condition), assume(facts))
    assert not can_prove(expr(condition))


@pytest.mark.parametrize(
    ("text", "lo", "hi"),
    [
        ("(i * 10 + 9) // 6 - i * 10 // 6", 1, 2),
        ("min(64, n - to * 64)", 64, 64),
        ("min(256, n - io * 256)", 1, 256),
        ("n", 0, None),
        ("0 - n", None, 0),
        ("k % 3 + l // 2", -2, 3),
        ("i - i // 4 * 4", 0, 3),
        ("max(i * 4 + 3, i * 4) - i * 4", 3, 3),
        ("(i + 1) * m - i * m - m", 0, 0),
        ("ramp(i * 4, 1, 4) - broadcast(i * 4, 4)", 0, 3),
    ],
)
def test_constant_bounds(text: str, lo: int | None, hi: int | None) -> None:
    assert (constant_lower(expr(text)), constant_upper(expr(text))) == (lo, hi)


def test_constant_bounds_under_facts() -> None:
    facts = assume(["x < 10", "3 <= x + y", "y <= 1"])
    assert constant_upper(expr("x * 2"), facts) == 18
    assert constant_lower(expr("x"), facts) == 2


def test_facts_remember_and_grow() -> None:
    condition = expr("x < 10")
    facts = NO_FACTS.assume(condition)
    assert facts is NO_FACTS.assume(condition)
    assert facts.assume(condition) is facts
    assert facts.assume(make.TRUE) is facts
    assert not NO_FACTS.truths


def test_memory_of_answers_is_bounded() -> None:
    facts = NO_FACTS.assume(expr("y < 10"))
    for step in range((1 << 14) + 10):
        facts.simplified[E.Add(x, make.index(step))] = x
    facts.forget_if_large()
    assert not facts.simplified


def test_a_search_ends() -> None:
    facts = NO_FACTS
    for step in range(12):
        facts = facts.assume(expr(f"x * {step + 1} + y * {13 - step} + z < n + {step}"))
    assert not can_prove(expr("z * 5 + y < m"), facts)
