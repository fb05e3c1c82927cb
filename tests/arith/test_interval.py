"""Intervals of expressions, and of each operation against every pair of values."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable

import pytest

from tecomp.arith import Interval, interval, span
from tecomp.arith.interval import may_wrap, type_range
from tecomp.dtype import INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tests.arith.scope import expr

ENDS = (-5, -2, -1, 0, 1, 3, 4)
SPANS = [(lo, hi) for lo in ENDS for hi in ENDS if lo <= hi]
HALF_SPANS = [(None, None), *((None, end) for end in ENDS), *((end, None) for end in ENDS)]
WIDE = 40

OPERATIONS: dict[str, tuple[Callable[..., span.Span], Callable[[int, int], int]]] = {
    "+": (span.add, operator.add),
    "-": (span.sub, operator.sub),
    "*": (span.mul, operator.mul),
    "min": (span.minimum, min),
    "max": (span.maximum, max),
    "//": (span.floordiv, operator.floordiv),
    "%": (span.floormod, operator.mod),
    "truncdiv": (span.truncdiv, make.trunc_quotient),
    "truncmod": (span.truncmod, lambda p, q: p - q * make.trunc_quotient(p, q)),
}
DIVISIONS = {"//", "%", "truncdiv", "truncmod"}
EXACT = {"+", "-", "*", "min", "max", "//", "truncdiv"}


def numbers(ends: span.Span) -> range:
    lo, hi = ends
    return range(-WIDE if lo is None else lo, (WIDE if hi is None else hi) + 1)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_on_bounded_spans(name: str) -> None:
    on_spans, on_numbers = OPERATIONS[name]
    for a, b in itertools.product(SPANS, SPANS):
        results = [on_numbers(x, y) for x in numbers(a) for y in numbers(b) if y or name not in DIVISIONS]
        lo, hi = on_spans(a, b)
        if results:
            assert lo is not None and hi is not None
            assert lo <= min(results) and max(results) <= hi, (a, b)
            assert name not in EXACT or (lo, hi) == (min(results), max(results)), (a, b)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_on_half_bounded_spans(name: str) -> None:
    on_spans, on_numbers = OPERATIONS[name]
    for a, b in (*itertools.product(HALF_SPANS, SPANS[::3]), *itertools.product(SPANS[::3], HALF_SPANS)):
        lo, hi = on_spans(a, b)
        for x, y in itertools.product(numbers(a)[::3], numbers(b)[::3]):
            if y or name not in DIVISIONS:
                result = on_numbers(x, y)
                assert lo is None or lo <= result, (a, b, x, y)
                assert hi is None or result <= hi, (a, b, x, y)


@pytest.mark.parametrize("name", ("abs", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right"))
def test_calls(name: str) -> None:
    verb = {
        "abs": lambda x, _: abs(x),
        "bitwise_and": operator.and_,
        "bitwise_or": operator.or_,
        "bitwise_xor": operator.xor,
        "shift_left": operator.lshift,
        "shift_right": operator.rshift,
    }[name]
    counts = SPANS if "bitwise" in name else [(lo, hi) for lo, hi in SPANS if lo >= 0]
    for a, b in itertools.product(SPANS, counts):
        lo, hi = span.CALLS[name](8, a) if name == "abs" else span.CALLS[name](8, a, b)
        for x, y in itertools.product(numbers(a), numbers(b)):
            assert (lo is None or lo <= verb(x, y)) and (hi is None or verb(x, y) <= hi), (a, b, x, y)


@pytest.mark.parametrize(
    ("text", "lo", "hi"),
    [
        ("ii", 0, 255),
        ("io", 0, None),
        ("tail", 0, 255),
        ("n - 1", -1, None),
        ("x", None, None),
        ("k * l", -9, 9),
        ("k - l", -3, 6),
        ("ii // 16", 0, 15),
        ("ii % 16", 0, 15),
        ("k % 16", 0, 3),
        ("x % 8", 0, 7),
        ("x % -8", -7, 0),
        ("truncmod(x, 8)", -7, 7),
        ("x % n", 0, None),
        ("ii // n", 0, 255),
        ("s + t", -2, 6),
        ("s * 100", -128, 127),
        ("b", 0, 255),
        ("b + b", 0, 255),
        ("index(b) + index(b)", 0, 510),
        ("u8(s)", 0, 3),
        ("u8(t)", 0, 255),
        ("i8(ii)", -128, 127),
        ("k if p else l", -3, 3),
        ("select(p, k, l * 2)", -6, 6),
        ("k if True else x", 0, 3),
        ("min(ii, k)", 0, 3),
        ("max(x, 3)", 3, None),
        ("ramp(k, 2, 4)", 0, 9),
        ("broadcast(l, 4)", -3, 3),
        ("B[i]", -(2**31), 2**31 - 1),
        ("k < 4", 1, 1),
        ("k < l", 0, 1),
        ("4 <= k", 0, 0),
        ("k == 7", 0, 0),
        ("k != 7", 1, 1),
        ("k < 4 and p", 0, 1),
        ("k < 4 or p", 1, 1),
        ("not k < 4", 0, 0),
        ("f < g", 0, 1),
        ("ii & x", 0, 255),
        ("ii | k", 0, 255),
        ("ii << 2", 0, 1020),
        ("l >> 1", -2, 1),
    ],
)
def test_interval_of_an_expression(text: str, lo: int | None, hi: int | None) -> None:
    assert interval(expr(text)) == Interval(lo, hi)


def test_interval_of_floats_is_everything() -> None:
    assert interval(expr("f + 1.0")) == Interval(None, None)


def test_least_integer_over_minus_one_wraps() -> None:
    quotient = expr("u // -1")
    assert may_wrap(quotient)
    assert interval(quotient) == type_range(DType("int8"))
    assert not may_wrap(expr("s // -1"))
    assert not may_wrap(expr("x // -1"))


def test_interval_is_kept_on_the_node() -> None:
    e = E.Add(E.Var("x", INDEX), make.index(1))
    assert e.bounds is None
    assert interval(e) is e.bounds


def test_deep_expressions() -> None:
    e = expr("k")
    for _ in range(5000):
        e = E.Add(e, make.index(1))
    assert interval(e) == Interval(5000, 5003)


def test_intervals_join_meet_and_contain() -> None:
    assert Interval(0, 4).join(Interval(2, None)) == Interval(0, None)
    assert Interval(0, 4).meet(Interval(2, None)) == Interval(2, 4)
    assert Interval(2, 4).within(Interval(None, 4))
    assert not Interval(None, 4).within(Interval(0, 4))
    assert Interval(3, 3).value == 3
    assert Interval(None, None).value is None


@pytest.mark.parametrize("other", [(None, None), (None, 3), (2, None), (None, -1)])
def test_products_of_no_value(other: span.Span) -> None:
    """Facts that contradict each other give a span that ends before it begins: its products say something, and end."""
    assert len(span.mul((1, 0), other)) == len(span.mul(other, (1, 0))) == 2
