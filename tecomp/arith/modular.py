"""Congruences: x = coefficient * k + base for some integer k, what is known of an integer's remainders."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import NamedTuple

from ..dtype import INDEX, DType
from ..ir import expr as E
from ..ir.node import Expr
from .affine import Affine, affine, factors
from .facts import NO_FACTS, Facts


class Modular(NamedTuple):
    """The integers coefficient * k + base. Coefficient 0 is the one integer base; (1, 0) is every integer."""

    coefficient: int
    base: int


def modular(value: Expr, facts: Facts = NO_FACTS) -> Modular:
    """Return what is known of an integer's remainders, also where it may have wrapped; (1, 0) where nothing is."""
    return _of_form(affine(value), facts)


def _of_form(form: Affine, facts: Facts) -> Modular:
    total = Modular(0, form.constant)
    for term, count in form.terms.items():
        total = _plus(total, _scaled(_of_term(term, facts), count))
    for multiple, step in facts.congruences:
        if multiple.terms and form.key() == multiple.shifted(form.constant - multiple.constant).key():
            total = _both(total, _reduced(step, form.constant - multiple.constant))
    return total


def _of_term(term: Expr, facts: Facts) -> Modular:
    product = Modular(0, 1)
    for factor in factors(term):
        verb = _TERMS.get(type(factor))
        known = Modular(1, 0) if verb is None else verb(factor, facts)
        product = _times(product, _both(known, _given(factor, facts)))
    return product


def _given(term: Expr, facts: Facts) -> Modular:
    for multiple, step in facts.congruences:
        if len(multiple.terms) == 1 and abs(multiple.terms.get(term, 0)) == 1:
            return Modular(step, -multiple.constant * multiple.terms[term] % step)
    return Modular(1, 0)


def _plus(a: Modular, b: Modular) -> Modular:
    return _reduced(gcd(a.coefficient, b.coefficient), a.base + b.base)


def _scaled(a: Modular, factor: int) -> Modular:
    return _reduced(a.coefficient * abs(factor), a.base * factor)


def _times(a: Modular, b: Modular) -> Modular:
    (c, p), (d, q) = a, b
    return _reduced(gcd(c * d, c * q, d * p), p * q)


def _reduced(coefficient: int, base: int) -> Modular:
    return Modular(coefficient, base % coefficient if coefficient else base)


def _both(a: Modular, b: Modular) -> Modular:
    """Both hold: the coarser is dropped where the finer implies it; the greater coefficient is kept otherwise."""
    if a.coefficient == 0 or b.coefficient == 0:
        return a if a.coefficient == 0 else b
    return a if a.coefficient >= b.coefficient else b


def _either(a: Modular, b: Modular) -> Modular:
    return _reduced(gcd(a.coefficient, b.coefficient, a.base - b.base), a.base)


def _remainder(node: E.FloorMod, facts: Facts) -> Modular:
    """x % c is x less a multiple of c."""
    return (
        _plus(modular(node.a, facts), Modular(modular(node.b, facts).base, 0)) if _is_number(node.b) else Modular(1, 0)
    )


def _quotient(node: E.FloorDiv, facts: Facts) -> Modular:
    """(c * k + r) // d is (c / d) * k + r // d where d divides c."""
    divisor = affine(node.b).constant if _is_number(node.b) else 0
    inside = modular(node.a, facts)
    if divisor == 0 or inside.coefficient % divisor:
        return Modular(1, 0)
    return _reduced(abs(inside.coefficient // divisor), inside.base // divisor)


def _is_number(value: Expr) -> bool:
    return not affine(value).terms


def _extreme(node: E.Min | E.Max, facts: Facts) -> Modular:
    return _either(modular(node.a, facts), modular(node.b, facts))


def _choice(node: E.Select | E.IfElse, facts: Facts) -> Modular:
    return _either(modular(node.yes, facts), modular(node.no, facts))


def _sum(node: E.Add | E.Sub, facts: Facts) -> Modular:
    sign = 1 if isinstance(node, E.Add) else -1
    return _wrapped(_plus(modular(node.a, facts), _scaled(modular(node.b, facts), sign)), node.dtype)


def _product(node: E.Mul, facts: Facts) -> Modular:
    return _wrapped(_times(modular(node.a, facts), modular(node.b, facts)), node.dtype)


def _converted(node: E.Cast, facts: Facts) -> Modular:
    known = node.value.dtype.is_integer and node.dtype.is_integer
    return _wrapped(modular(node.value, facts), node.dtype) if known else Modular(1, 0)


def _wrapped(value: Modular, dtype: DType) -> Modular:
    """What does not fit is off by a multiple of 2 ** bits."""
    return value if dtype.element is INDEX else _plus(value, Modular(1 << dtype.bits, 0))


_TERMS: dict[type, Callable[..., Modular]] = {
    E.Add: _sum,
    E.Sub: _sum,
    E.Mul: _product,
    E.Cast: _converted,
    E.FloorMod: _remainder,
    E.FloorDiv: _quotient,
    E.Min: _extreme,
    E.Max: _extreme,
    E.Select: _choice,
    E.IfElse: _choice,
}
