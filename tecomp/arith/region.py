"""Regions: a box of ranges, one a dimension; union, intersection and containment of symbolic ones."""

from __future__ import annotations

from ..dtype import INDEX
from ..ir import expr as E
from ..ir.axis import Range
from ..ir.node import Expr
from .affine import number
from .facts import NO_FACTS, Facts
from .simplify import can_prove, simplify

Region = tuple[Range, ...]
"""The indices of a tensor, a range for each dimension."""


def end(span: Range) -> Expr:
    """Return the first integer past a range."""
    return E.Add(span.min, span.extent)


def point(value: Expr) -> Range:
    """Return the range that holds `value` only."""
    return Range(value, number(1, value.dtype))


def between(lo: Expr, hi: Expr, facts: Facts = NO_FACTS) -> Range:
    """Return the range from lo to hi, inclusive."""
    return Range(simplify(lo, facts), simplify(E.Add(E.Sub(hi, lo), number(1, lo.dtype)), facts))


def is_empty(span: Range, facts: Facts = NO_FACTS) -> bool:
    """Return whether a range is proved to hold nothing."""
    return can_prove(E.Le(span.extent, number(0, span.extent.dtype)), facts)


def union(a: Range, b: Range, facts: Facts = NO_FACTS) -> Range:
    """Return the least range found that holds both."""
    if covers(a, b, facts):
        return a
    if covers(b, a, facts):
        return b
    lo, stop = E.Min(a.min, b.min), E.Max(end(a), end(b))
    return Range(simplify(lo, facts), simplify(E.Sub(stop, lo), facts))


def intersect(a: Range, b: Range, facts: Facts = NO_FACTS) -> Range:
    """Return what lies in both ranges; its extent is 0, never less, where they do not meet."""
    if covers(a, b, facts):
        return b
    if covers(b, a, facts):
        return a
    lo, stop = E.Max(a.min, b.min), E.Min(end(a), end(b))
    return Range(simplify(lo, facts), simplify(E.Max(E.Sub(stop, lo), number(0, INDEX)), facts))


def covers(outer: Range, inner: Range, facts: Facts = NO_FACTS) -> bool:
    """Return whether every integer of `inner` is proved to be in `outer`; an empty range is in every one."""
    if outer.min is inner.min and outer.extent is inner.extent:
        return True
    inside = can_prove(E.Le(outer.min, inner.min), facts) and can_prove(E.Le(end(inner), end(outer)), facts)
    return inside or is_empty(inner, facts)


def union_regions(a: Region, b: Region, facts: Facts = NO_FACTS) -> Region:
    """Return the least box found that holds both."""
    return tuple(union(x, y, facts) for x, y in zip(a, b, strict=True))


def intersect_regions(a: Region, b: Region, facts: Facts = NO_FACTS) -> Region:
    """Return the box that lies in both."""
    return tuple(intersect(x, y, facts) for x, y in zip(a, b, strict=True))


def region_covers(outer: Region, inner: Region, facts: Facts = NO_FACTS) -> bool:
    """Return whether `inner` is proved to lie in `outer`."""
    return all(covers(x, y, facts) for x, y in zip(outer, inner, strict=True))
