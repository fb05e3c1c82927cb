"""Ranges and boxes: union, intersection, containment."""

from __future__ import annotations

import pytest

from tecomp.arith import (
    NO_FACTS,
    covers,
    intersect,
    intersect_regions,
    region_covers,
    union,
    union_regions,
)
from tecomp.arith.region import between, is_empty, point
from tecomp.ir.axis import Range
from tests.arith.scope import expr


def span(low: str, extent: str) -> Range:
    return Range(expr(low), expr(extent))


def text(found: Range) -> tuple[str, str]:
    return repr(found.min), repr(found.extent)


@pytest.mark.parametrize(
    ("a", "b", "joined", "met"),
    [
        (("0", "n"), ("1", "n"), ("0", "n + 1"), ("1", "max(n - 1, 0)")),
        (("x", "4"), ("x + 2", "4"), ("x", "6"), ("x + 2", "2")),
        (("x", "4"), ("x + 1", "2"), ("x", "4"), ("x + 1", "2")),
        (("0", "n"), ("i", "1"), ("0", "n"), ("i", "1")),
        (("x", "1"), ("y", "1"), ("min(x, y)", "max(x, y) - min(x, y) + 1"), None),
        (("x", "0"), ("y", "3"), ("y", "3"), ("x", "0")),
    ],
)
def test_union_and_intersection(a, b, joined, met) -> None:
    first, second = span(*a), span(*b)
    assert text(union(first, second)) == joined
    if met:
        assert text(intersect(first, second)) == met
        assert text(intersect(second, first)) == met


def test_covers() -> None:
    assert covers(span("0", "n"), span("io * 256", "min(256, n - io * 256)"))
    assert not covers(span("0", "n"), span("io * 256", "256"))
    assert covers(span("0", "n"), span("to * 64", "64"))
    assert covers(span("0", "n"), span("x", "y"), NO_FACTS.assume(expr("0 <= x and x + y <= n")))
    assert covers(span("x", "1"), span("y", "0"))
    assert is_empty(span("x", "0 - n"))


def test_boxes() -> None:
    outer, inner = (span("0", "n"), span("0", "m")), (span("i", "1"), span("j", "1"))
    assert region_covers(outer, inner)
    assert not region_covers(inner, outer)
    assert [text(part) for part in union_regions(outer, inner)] == [("0", "n"), ("0", "m")]
    assert [text(part) for part in intersect_regions(outer, inner)] == [("i", "1"), ("j", "1")]


def test_ends_of_ranges() -> None:
    assert text(between(expr("x"), expr("x + 3"))) == ("x", "4")
    assert text(point(expr("x"))) == ("x", "1")
