"""Comparisons, minima and maxima of integers: decided by proof, else spelled canonically.

The terms of b - a go to the side where their coefficient is positive: `i * 4 + 3 < j * 4` becomes `i < j`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtype import BOOL
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from .affine import Affine, number
from .canonical import is_exact
from .facts import Facts
from .interval import interval
from .prove import proves
from .sums import collect


def simplify_comparison(node: E.Compare, facts: Facts) -> Expr:
    """Return a comparison of integers as a constant where it is decided, else with its terms sorted to sides."""
    if isinstance(node.a, E.Broadcast) and isinstance(node.b, E.Broadcast):
        return E.Broadcast(type(node)(node.a.value, node.b.value), node.a.lanes)
    if not node.a.dtype.is_integer:
        return node
    answer = _decide(node, facts)
    if answer is not None:
        return make.broadcast(make.TRUE if answer else make.FALSE, node.dtype.lanes)
    if node.dtype.lanes > 1 or not (is_exact(node.a) and is_exact(node.b)):
        return node
    new = _SPELL[type(node)](node)
    return new if is_exact(new) else node


def _decide(node: E.Compare, facts: Facts) -> bool | None:
    known = interval(node).value
    if known is not None:
        return bool(known)
    if proves(node, facts):
        return True
    return False if proves(make.logical_not(node), facts) else None


def simplify_extreme(node: E.Min | E.Max, facts: Facts) -> Expr:
    """Return the side of a minimum or maximum of integers that is proved to win, else `node`."""
    if not node.dtype.is_integer:
        return node
    less, more = (node.a, node.b) if isinstance(node, E.Min) else (node.b, node.a)
    if proves(E.Le(less, more), facts):
        return node.a
    return node.b if proves(E.Le(more, less), facts) else node


def _sides(node: E.Compare) -> tuple[Affine, Affine, int, int]:
    """Return (left, right, constant, divisor) with b - a = divisor * (right - left) + constant."""
    left, right = collect(node.a), collect(node.b)
    difference = {term: -c for term, c in left.terms.items()}
    difference = Affine(difference, -left.constant).plus(right)
    divisor = difference.content() or 1
    low = Affine({t: -c // divisor for t, c in difference.terms.items() if c < 0})
    high = Affine({t: c // divisor for t, c in difference.terms.items() if c > 0})
    return low, high, difference.constant, divisor


def _ordered(node: E.Lt | E.Le) -> Expr:
    """Spell low <= high + slack as what reads best: a < or <= without a constant, i < 8, 4 < n, i + 1 < n."""
    low, high, constant, divisor = _sides(node)
    slack = (constant - isinstance(node, E.Lt)) // divisor
    dtype = node.a.dtype
    if not high.terms:
        return E.Lt(low.expr(dtype), number(slack + 1, dtype)) if low.terms else node
    if slack < 0 or not low.terms:
        return E.Lt(low.shifted(-slack - 1).expr(dtype), high.expr(dtype))
    return E.Le(low.expr(dtype), high.shifted(slack).expr(dtype))


def _equal(node: E.Eq | E.Ne) -> Expr:
    """Spell low == high + constant, the first term on the left."""
    low, high, constant, divisor = _sides(node)
    if constant % divisor:
        return E.Const(isinstance(node, E.Ne), BOOL)
    slack, dtype = constant // divisor, node.a.dtype
    if not low.terms or (high.terms and _first_term(node) in high.terms):
        low, high, slack = high, low, -slack
    if not high.terms:
        return type(node)(low.expr(dtype), number(slack, dtype))
    if slack < 0:
        return type(node)(low.shifted(-slack).expr(dtype), high.expr(dtype))
    return type(node)(low.expr(dtype), high.shifted(slack).expr(dtype))


def _first_term(node: E.Compare) -> Expr | None:
    difference = collect(node.a).plus(collect(node.b), -1)
    return next(iter(difference.terms), None)


_SPELL: dict[type, Callable[[Any], Expr]] = {E.Lt: _ordered, E.Le: _ordered, E.Eq: _equal, E.Ne: _equal}
