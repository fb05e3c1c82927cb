"""Floor division and modulus of integers, for numerators that are sums.

A numerator splits by what the divisor divides: (q * d + r) // d -> q + r // d and (q * d + r) % d -> r % d, and r // d
is a number where the bounds of r say so. Only for exact integers: a sum that wraps is not what its terms add up to.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import TypeVar

from ..ir import expr as E
from ..ir.node import Expr
from .affine import Affine, affine, factors, monomial, number
from .canonical import is_exact, negated
from .facts import Facts, congruent
from .search import lower_bound, proves_nonnegative
from .sums import collect, constant


def simplify_floordiv(node: E.FloorDiv, facts: Facts) -> Expr:
    """Return a // b simplified; `node` when it is."""
    return _divide(node, facts, _constant_quotient, _symbolic_quotient)


def simplify_floormod(node: E.FloorMod, facts: Facts) -> Expr:
    """Return a % b simplified; `node` when it is."""
    return _divide(node, facts, _constant_remainder, _symbolic_remainder)


Division = TypeVar("Division", E.FloorDiv, E.FloorMod)


def _divide(
    node: Division,
    facts: Facts,
    by_constant: Callable[[Division, int, Facts], Expr],
    by_symbol: Callable[[Division, Facts], Expr],
) -> Expr:
    divisor = constant(node.b)
    if divisor == 0 or not is_exact(node.a):
        return node
    if divisor is None:
        new = by_symbol(node, facts)
    else:
        new = by_constant(node, divisor, facts) if divisor > 0 else _by_negative(node)
    return new if is_exact(new) else node


def _by_negative(node: E.FloorDiv | E.FloorMod) -> Expr:
    """a // -c -> -a // c, and a % -c -> -(-a % c)."""
    turned = type(node)(negated(node.a), negated(node.b))
    return turned if isinstance(node, E.FloorDiv) else negated(turned)


def _constant_quotient(node: E.FloorDiv, divisor: int, facts: Facts) -> Expr:
    form = collect(node.a)
    whole = Affine({t: c // divisor for t, c in form.terms.items() if c % divisor == 0}, form.constant // divisor)
    rest = Affine({t: c for t, c in form.terms.items() if c % divisor}, form.constant % divisor)
    known = quotient_of(rest, divisor, facts)
    if known is not None:
        return whole.shifted(known).expr(node.dtype)
    common = gcd(rest.content(), divisor)
    rest = Affine({t: c // common for t, c in rest.terms.items()}, rest.constant // common)
    part = _quotient_of_term(rest, divisor // common, node)
    return whole.plus(Affine({part: 1})).expr(node.dtype) if whole.terms or whole.constant else part


def quotient_of(form: Affine, divisor: int, facts: Facts) -> int | None:
    """Return form // divisor where it is one number, for divisor > 0."""
    if not form.terms:
        return form.constant // divisor
    lo, hi = facts.interval(form)
    if facts.truths or lo is None or hi is None:
        lo = lower_bound(form, facts)
        if lo is None or not proves_nonnegative(form.scaled(-1).shifted(lo // divisor * divisor + divisor - 1), facts):
            return None
        return lo // divisor
    return lo // divisor if lo // divisor == hi // divisor else None


def _quotient_of_term(form: Affine, divisor: int, node: E.FloorDiv) -> Expr:
    """(x // a + k) // c -> (x + k * a) // (a * c), and (x % (a * c)) // c -> (x // c) % a."""
    if divisor == 1:
        return form.expr(node.dtype)
    (term, count), *others = form.terms.items()
    inner = constant(term.b) if isinstance(term, (E.FloorDiv, E.FloorMod)) else None
    if inner is not None and inner > 0 and count == 1 and not others:
        if isinstance(term, E.FloorDiv):
            start = collect(term.a).shifted(form.constant * inner)
            return E.FloorDiv(start.expr(node.dtype), number(inner * divisor, node.dtype))
        if isinstance(term, E.FloorMod) and inner % divisor == 0 and form.constant == 0:
            return E.FloorMod(E.FloorDiv(term.a, number(divisor, node.dtype)), number(inner // divisor, node.dtype))
    return E.FloorDiv(form.expr(node.dtype), number(divisor, node.dtype))


def _constant_remainder(node: E.FloorMod, divisor: int, facts: Facts) -> Expr:
    form = _without_inner_remainders(collect(node.a), divisor)
    terms = {t: c if abs(c) < divisor else c % divisor for t, c in form.terms.items() if c % divisor}
    rest = Affine(terms, form.constant % divisor)
    known = quotient_of(rest, divisor, facts)
    if known is not None:
        return rest.shifted(-known * divisor).expr(node.dtype)
    if facts.congruences:
        left = congruent(affine(node.a), divisor, facts)
        if left is not None:
            return number(left, node.dtype)
    common = gcd(rest.content(), divisor)
    inner = Affine({t: c // common for t, c in rest.terms.items()}, rest.constant // common)
    part = E.FloorMod(inner.expr(node.dtype), number(divisor // common, node.dtype))
    if common == 1:
        return part
    return Affine({part: common}, rest.constant % common).expr(node.dtype)


def _without_inner_remainders(form: Affine, divisor: int) -> Affine:
    """(m * (x % a) + y) % c -> (m * x + y) % c where c divides m * a."""
    for term, count in form.terms.items():
        inner = constant(term.b) if isinstance(term, E.FloorMod) else None
        if isinstance(term, E.FloorMod) and inner and count * inner % divisor == 0 and is_exact(term.a):
            return _without_inner_remainders(form.replaced(term, collect(term.a), count), divisor)
    return form


def _symbolic_quotient(node: E.FloorDiv, facts: Facts) -> Expr:
    whole, rest = _split_by(node.a, node.b)
    if _is_remainder(rest, node.b, facts):
        return whole.expr(node.dtype)
    if not whole.terms and not whole.constant:
        return node
    return whole.plus(Affine({E.FloorDiv(rest.expr(node.dtype), node.b): 1})).expr(node.dtype)


def _symbolic_remainder(node: E.FloorMod, facts: Facts) -> Expr:
    _, rest = _split_by(node.a, node.b)
    if _is_remainder(rest, node.b, facts):
        return rest.expr(node.dtype)
    return E.FloorMod(rest.expr(node.dtype), node.b)


def _is_remainder(rest: Affine, divisor: Expr, facts: Facts) -> bool:
    """Return whether rest is what the divisor leaves of it: it is 0, or 0 <= rest < divisor is proved."""
    if not rest.terms and not rest.constant:
        return True
    value = affine(rest.expr(divisor.dtype))
    below = affine(divisor).plus(value, -1).shifted(-1)
    return proves_nonnegative(value, facts) and proves_nonnegative(below, facts)


def _split_by(value: Expr, divisor: Expr) -> tuple[Affine, Affine]:
    """Return (q, r) with value = q * divisor + r, by the terms that hold every factor of the divisor."""
    form, unit = collect(value), collect(divisor)
    if form.key() == unit.key():
        return Affine({}, 1), Affine({})
    parts, size = [divisor], 1
    if len(unit.terms) == 1 and unit.constant == 0:
        ((term, size),) = unit.terms.items()
        parts = factors(term)
    whole, rest = Affine({}), Affine({}, form.constant)
    for term, count in form.terms.items():
        left = _without(factors(term), parts) if count % size == 0 else None
        if left is None:
            rest = rest.plus(Affine({term: count}))
        elif left:
            whole = whole.plus(Affine({monomial(left): count // size}))
        else:
            whole = whole.shifted(count // size)
    return whole, rest


def _without(parts: list[Expr], unwanted: list[Expr]) -> list[Expr] | None:
    """Return `parts` less one of each unwanted; None where one is missing."""
    left = list(parts)
    for part in unwanted:
        position = next((at for at, other in enumerate(left) if other is part), None)
        if position is None:
            return None
        del left[position]
    return left
