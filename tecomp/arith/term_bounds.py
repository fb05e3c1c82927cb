"""What bounds one term of an affine form: the ends of a loop variable, of a division, of a choice.

A bound (form, divisor) of a term says that the term times divisor is at least (at most) the form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from .affine import Affine, affine, times
from .facts import Facts
from .interval import may_wrap

Bound = tuple[Affine, int]
Bounds = Iterator[list[tuple[Bound, Facts]]]
"""Ways to bound a term. Of one way all bounds must be followed, each under its facts: the term is one of them."""


def bounds_of_term(term: Expr, upper: bool, facts: Facts) -> Bounds:
    """Yield what the term is at most (or, not `upper`, at least)."""
    verb = _BOUNDS.get(type(term))
    return iter(()) if verb is None else verb(term, upper, facts)


def bounds_of_multiple(quotient: Expr, upper: bool, facts: Facts) -> Bounds:
    """Yield what (a // b) * b is at most or at least: it lies in [a - b + 1, a] for b > 0."""
    if isinstance(quotient, E.FloorDiv) and _positive(quotient.b, facts):
        form = affine(quotient.a)
        yield _one(form if upper else form.plus(affine(quotient.b), -1).shifted(1), facts)


def _one(form: Affine, facts: Facts, divisor: int = 1) -> list[tuple[Bound, Facts]]:
    return [((form, divisor), facts)]


def _positive(value: Expr, facts: Facts) -> bool:
    return _at_least(value, 1, facts)


def _at_least(value: Expr, least: int, facts: Facts) -> bool:
    low = facts.interval(affine(value)).lo
    return low is not None and low >= least


def _var(atom: E.Var, upper: bool, facts: Facts) -> Bounds:
    """A variable lies in [min, min + extent - 1]."""
    if atom.min is None or (upper and atom.extent is None):
        return
    first = affine(atom.min)
    if upper and atom.extent is not None:
        first = first.plus(affine(atom.extent)).shifted(-1)
    yield _one(first, facts)


def _floordiv(atom: E.FloorDiv, upper: bool, facts: Facts) -> Bounds:
    """c * (a // c) lies in [a - c + 1, a] for a constant c > 0; a // b is at most a where b > 0 and a >= 0."""
    divisor = affine(atom.b)
    if not divisor.terms and divisor.constant > 0:
        slack = 0 if upper else divisor.constant - 1
        yield _one(affine(atom.a).shifted(-slack), facts, divisor.constant)
    elif upper and _positive(atom.b, facts) and _at_least(atom.a, 0, facts):
        yield _one(affine(atom.a), facts)


def _floormod(atom: E.FloorMod, upper: bool, facts: Facts) -> Bounds:
    """a % b lies in [0, b - 1] for b > 0, and is a - b * (a // b)."""
    divisor = affine(atom.b)
    if _positive(atom.b, facts):
        yield _one(divisor.shifted(-1) if upper else Affine({}), facts)
    quotient = E.FloorDiv(atom.a, atom.b)
    whole = None if may_wrap(quotient) else times(divisor, Affine({quotient: 1}))
    if whole is not None:
        yield _one(affine(atom.a).plus(whole, -1), facts)


def _least(atom: E.Min | E.Max, upper: bool, facts: Facts) -> Bounds:
    """A minimum is at most either side, and at least what both sides are."""
    forms = [affine(atom.a), affine(atom.b)]
    if upper == isinstance(atom, E.Min):
        yield from (_one(form, facts) for form in forms)
    else:
        yield [((form, 1), facts) for form in forms]


def _choice(atom: E.Select | E.IfElse, _upper: bool, facts: Facts) -> Bounds:
    """A choice is its yes where its condition holds, and its no where not."""
    otherwise = facts.assume(make.logical_not(atom.condition))
    yield [((affine(atom.yes), 1), facts.assume(atom.condition)), ((affine(atom.no), 1), otherwise)]


_BOUNDS: dict[type, Callable[..., Bounds]] = {
    E.Var: _var,
    E.FloorDiv: _floordiv,
    E.FloorMod: _floormod,
    E.Min: _least,
    E.Max: _least,
    E.Select: _choice,
    E.IfElse: _choice,
}
