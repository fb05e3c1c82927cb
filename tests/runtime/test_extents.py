"""Extents of signatures: evaluated, solved, and nothing else than arithmetic."""

import pytest

from tecomp_runtime import LaunchError
from tecomp_runtime.extents import Equation, Extent, Linear, evaluated, solve


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (7, 7), ("n", 10), ("n + 1", 11), ("(n - 1) * 2", 18), ("-n", -10), ("n // 3", 3), ("-n // 3", -4),
        ("n % 3", 1),        ("min(n, 4)", 4), ("max(n, m)", 20), ("n < m", 1), ("n == m", 0),
    ],
)  # fmt: skip
def test_values(text, expected):
    assert Extent(text).value({"n": 10, "m": 20}) == expected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("n", Linear("n", 1, 0)), ("2 * n + 1", Linear("n", 2, 1)), ("n * 3 - (n - 4)", Linear("n", 2, 4)),
        ("-(n - 5)", Linear("n", -1, 5)), ("n * m", None), ("n // 2", None), ("n + m", None), ("max(n, 1)", None),
        (5, None),        ("n * n", None), ("n - n", Linear("n", 0, 0)),
    ],
)  # fmt: skip
def test_linear_forms(text, form):
    assert Extent(text).linear == form


def equation(text, given, what="extent of dimension 0"):
    return Equation(Extent(text), given, what, "x")


def test_sizes_are_found_whatever_the_order():
    known = {}
    assert solve([equation("n + 4", 10), equation("2 * m - 1", 7), equation("n * m", 24)], known) is None
    assert known == {"n": 6, "m": 4}


def test_the_equation_without_a_solution_is_told():
    odd, negative = equation("2 * n", 7), equation("n + 9", 3)
    assert solve([odd], {}) is odd
    assert solve([negative], {}) is negative
    known = {}
    assert solve([equation("s", -3, "stride of dimension 0")], known) is None
    assert known == {"s": -3}


def test_values_that_are_not_known():
    assert evaluated(Extent("n * m"), {"n": 3}) is None
    assert evaluated(Extent("8 // n"), {"n": 0}) is None
    assert evaluated(Extent("n * m"), {"n": 3, "m": 4}) == 12


@pytest.mark.parametrize(
    "text", ["__import__('os')", "n.real", "[n]", "n if n else 1", "lambda: n", "abs(n)", "(n)(1)"]
)
def test_code_is_no_extent(text):
    with pytest.raises(LaunchError) as error:
        Extent(text)
    assert error.value.asked == f"the signature has the extent {text!r}"
    assert error.value.because == "it is no arithmetic over sizes"
