"""Sums and products of integers in their canonical spelling.

`x * 4 + y - x` becomes `x * 3 + y`: one multiple of each term, in order of first occurrence, what is taken away after
what is added, the constant last. Constants are multiplied into sums; a product of two sums stays a product.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from ..ir import expr as E
from ..ir.node import Expr
from .affine import Affine, affine, factors, monomial, number
from .facts import Facts, congruent
from .interval import may_wrap
from .sums import collect, constant, in_ring, join_lanes


def canonical_sum(root: Expr, simplified: Mapping[Expr, Expr], facts: Facts) -> Expr:
    """Return the sum `root` over its simplified leaves."""
    form = in_ring(collect(root, simplified), root.dtype)
    if root.dtype.lanes > 1:
        form = join_lanes(form, root.dtype)
    if len(form.terms) > 1 or facts.congruences:
        form = _merge_divisions(form, facts)
        form = _multiplied_out(form)
    return form.expr(root.dtype)


def canonical_product(node: E.Mul) -> Expr:
    """Return a product of integers with the constants of its factors in front of one ordered product."""
    total, parts = 1, list[Expr]()
    for operand in (node.a, node.b):
        size, rest = _content(operand)
        total *= size
        parts += factors(rest, in_ring=True)
    form = in_ring(Affine({monomial(parts): total}), node.dtype)
    return form.expr(node.dtype)


def _content(operand: Expr) -> tuple[int, Expr]:
    """Split 6 * x + 4 into 2 and 3 * x + 2, and -x into -1 and x."""
    form = collect(operand)
    size = gcd(form.content(), form.constant)
    if len(form.terms) == 1 and form.constant == 0:
        ((term, coefficient),) = form.terms.items()
        return coefficient, term
    if size <= 1:
        return 1, operand
    terms = {term: c // size for term, c in form.terms.items()}
    return size, Affine(terms, form.constant // size).expr(operand.dtype)


def _merge_divisions(form: Affine, facts: Facts) -> Affine:
    """Join a quotient and its remainder.

    (x // d) * d + x % d  ->  x
    x - x % d             ->  (x // d) * d
    (x // d) * d          ->  x - r           where x % d is known to be r
    """
    for term in form.terms:
        if isinstance(term, E.FloorMod):
            merged = _merge_remainder(form, term)
        elif facts.congruences and isinstance(term, E.FloorDiv):
            merged = _exact_quotient(form, term, facts)
        else:
            continue
        if merged is not None:
            return _merge_divisions(merged, facts)
    return form


def _merge_remainder(form: Affine, remainder: E.FloorMod) -> Affine | None:
    if _may_wrap_inside(remainder):
        return None
    count = form.terms[remainder]
    quotient = E.FloorDiv(remainder.a, remainder.b)
    term, size = _times(quotient, remainder.b)
    if form.terms.get(term, 0) == count * size:
        return form.without(remainder).replaced(term, collect(remainder.a), count)
    whole = collect(remainder.a)
    if whole.terms and all(form.terms.get(part) == -count * c for part, c in whole.terms.items()):
        return form.plus(whole, count).replaced(remainder, Affine({term: 1}), -count * size)
    return None


def _may_wrap_inside(remainder: E.FloorMod) -> bool:
    """The identity a == (a // b) * b + a % b holds in the ring of the type: only its quotient may not fit."""
    return may_wrap(E.FloorDiv(remainder.a, remainder.b))


def _times(quotient: Expr, divisor: Expr) -> tuple[Expr, int]:
    """Return quotient * divisor as one term and its coefficient."""
    size = constant(divisor)
    if size is not None:
        return quotient, size
    size, rest = _content(divisor)
    return monomial([quotient, *factors(rest, in_ring=True)]), size


def _exact_quotient(form: Affine, quotient: E.FloorDiv, facts: Facts) -> Affine | None:
    size, count = constant(quotient.b), form.terms[quotient]
    if size is None or size <= 0 or count % size:
        return None
    rest = congruent(affine(quotient.a), size, facts)
    if rest is None:
        return None
    return form.replaced(quotient, collect(quotient.a).shifted(-rest), count // size)


def _multiplied_out(form: Affine) -> Affine:
    """Return the form with products multiplied out where that leaves fewer terms: (i + 1) * m - i * m -> m."""
    if sum(isinstance(term, E.Mul) for term in form.terms) < 2:
        return form
    expanded = Affine({}, form.constant)
    for term, coefficient in form.terms.items():
        if term.dtype.kind != "index":
            return form
        expanded = expanded.plus(affine(term), coefficient)
    same_type = all(term.dtype.kind == "index" for term in expanded.terms)
    return expanded if same_type and len(expanded.terms) < len(form.terms) else form


def is_exact(root: Expr) -> bool:
    """Return whether no integer operation of `root`, down to the first thing that is no arithmetic, may wrap."""
    stack, seen = [root], set[Expr]()
    while stack:
        node = stack.pop()
        if node.dtype.kind == "index" or node in seen or not isinstance(node, _ARITHMETIC):
            continue
        if may_wrap(node):
            return False
        seen.add(node)
        stack += node.operands()
    return True


_ARITHMETIC = (E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod, E.Min, E.Max, E.Ramp, E.Compare)


def negated(value: Expr) -> Expr:
    """Return -value of an integer in canonical spelling."""
    return collect(E.Mul(value, number(-1, value.dtype))).expr(value.dtype)
