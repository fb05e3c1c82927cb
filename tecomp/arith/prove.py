"""Proofs of conditions on integers: a comparison holds when the difference of its sides has the right lower bound."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.visit import conjuncts
from .affine import Affine, affine
from .facts import Facts, congruent
from .interval import interval
from .search import proves_nonnegative


def proves(condition: Expr, facts: Facts) -> bool:
    """Return whether `condition` was proved to hold (in every lane); False says nothing."""
    known = facts.proofs.get(condition)
    if known is None:
        known = facts.proofs[condition] = _proves(condition, facts)
    return known


def _proves(condition: Expr, facts: Facts) -> bool:
    return all(_proves_one(part, facts) for part in conjuncts(condition))


def _proves_one(node: Expr, facts: Facts) -> bool:
    if interval(node).value == 1 or facts.truths.get(node):
        return True
    if isinstance(node, E.Compare) and node.a.dtype.is_integer:
        return _PROOFS[type(node)](affine(node.b).plus(affine(node.a), -1), facts)
    if isinstance(node, E.Broadcast):
        return proves(node.value, facts)
    return isinstance(node, E.Or) and _proves_any(_alternatives(node), facts)


_FEW = 4
"""Alternatives of which one is proved with the others assumed not to hold."""


def _proves_any(parts: list[Expr], facts: Facts) -> bool:
    if any(proves(part, facts) for part in parts):
        return True
    return len(parts) <= _FEW and any(proves(part, _without(parts, part, facts)) for part in parts)


def _without(parts: list[Expr], kept: Expr, facts: Facts) -> Facts:
    """Return the facts where none of the parts holds but perhaps `kept`."""
    for part in parts:
        if part is not kept:
            facts = facts.assume(make.logical_not(part))
    return facts


def _alternatives(node: Expr) -> list[Expr]:
    """Return what a chain of ors joins, in order."""
    found: list[Expr] = []
    stack = [node]
    while stack:
        at = stack.pop()
        if isinstance(at, E.Or):
            stack += [at.b, at.a]
        else:
            found.append(at)
    return found


def _differ(difference: Affine, facts: Facts) -> bool:
    """0 is no value of the difference: one side is greater, or the remainder by some divisor is not 0."""
    if any(proves_nonnegative(form.shifted(-1), facts) for form in (difference, difference.scaled(-1))):
        return True
    divisors = [difference.content(), *(step for _, step in facts.congruences)]
    return any(divisor > 1 and congruent(difference, divisor, facts) not in (0, None) for divisor in divisors)


def _equal(difference: Affine, facts: Facts) -> bool:
    return proves_nonnegative(difference, facts) and proves_nonnegative(difference.scaled(-1), facts)


_PROOFS: dict[type, Callable[[Affine, Facts], bool]] = {
    E.Lt: lambda difference, facts: proves_nonnegative(difference.shifted(-1), facts),
    E.Le: proves_nonnegative,
    E.Eq: _equal,
    E.Ne: _differ,
}
