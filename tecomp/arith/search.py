"""The lowest value of an affine form, found by replacing its terms.

Each step replaces one term by something the term is at least (at most, where its coefficient is negative), or takes
away a multiple of something known to be >= 0. So the form only falls, and when what is left has a lower bound, that
bounds the first form. Inner variables go first, because the ranges of inner loops speak of outer ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from ..ir import expr as E
from ..ir.node import Expr
from .affine import Affine, factors, monomial, times
from .facts import Facts
from .term_bounds import Bound, bounds_of_multiple, bounds_of_term

DEPTH, BUDGET = 16, 32
"""Steps in one chain of replacements, and forms looked at in one search."""

Branch = tuple[Affine, int, Facts]
"""A form to bound, what it was multiplied by in this step, and the facts that hold there."""


def lower_bound(form: Affine, facts: Facts, enough: int | None = None) -> int | None:
    """Return a constant that `form` is never below, the greatest one found, or the first that is `enough`."""
    return _Search(enough).lowest(form, 1, facts, DEPTH)


def proves_nonnegative(form: Affine, facts: Facts) -> bool:
    """Return whether form >= 0 was proved."""
    low = lower_bound(form, facts, 0)
    return low is not None and low >= 0


class _Search:
    def __init__(self, enough: int | None) -> None:
        self.enough, self.budget = enough, BUDGET
        self.seen: set[object] = set()
        self.below: dict[Expr, set[Expr]] = {}

    def lowest(self, form: Affine, scale: int, facts: Facts, depth: int) -> int | None:
        """Return the best lower bound found of form / scale."""
        span = facts.interval(form)
        best = None if span.lo is None else -(-span.lo // scale)
        if self._done(best) or self._hopeless(span.hi, scale) or depth == 0 or self.budget == 0:
            return best
        key = (form.key(), scale, id(facts))
        if key in self.seen:
            return best
        self.seen.add(key)
        self.budget -= 1
        for branches in self._steps(form, facts):
            best = _better(best, self._lowest_of(branches, scale, depth - 1))
            if self._done(best):
                break
        return best

    def _lowest_of(self, branches: list[Branch], scale: int, depth: int) -> int | None:
        worst: int | None = None
        for form, multiplied, facts in branches:
            low = self.lowest(form, scale * multiplied, facts, depth)
            if low is None:
                return None
            worst = low if worst is None else min(worst, low)
        return worst

    def _done(self, low: int | None) -> bool:
        return low is not None and self.enough is not None and low >= self.enough

    def _hopeless(self, high: int | None, scale: int) -> bool:
        return high is not None and self.enough is not None and -(-high // scale) < self.enough

    def _steps(self, form: Affine, facts: Facts) -> Iterator[list[Branch]]:
        """Yield ways to go on; of each way all branches must be bounded."""
        products = _products(form) if facts.inequalities else []
        for known in facts.inequalities:
            yield from _subtract(form, known, facts)
            for multiple in _multiples(known, products, facts):
                yield from _subtract(form, multiple, facts)
        for atom in self._innermost(form):
            found = False
            for branches in _replace(form, atom, facts):
                found = True
                yield branches
            if found:
                return

    def _innermost(self, form: Affine) -> list[Expr]:
        """Return the factors of the form's terms that no other factor depends on."""
        atoms = list(dict.fromkeys(factor for term in form.terms for factor in factors(term)))
        if len(atoms) == 1:
            return atoms
        blocked: set[Expr] = set()
        for atom in atoms:
            if atom not in self.below:
                self.below[atom] = _depends_on(atom)
            blocked |= self.below[atom]
        return [atom for atom in atoms if atom not in blocked]


def _better(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def _subtract(form: Affine, known: Affine, facts: Facts) -> Iterator[list[Branch]]:
    """known >= 0, so form >= form - multiple * known: for each term that this removes."""
    for term, given in known.terms.items():
        wanted = form.terms.get(term)
        if wanted is None or (wanted > 0) != (given > 0):
            continue
        common = gcd(wanted, given)
        scale, times_known = abs(given) // common, abs(wanted) // common
        yield [(form.scaled(scale).plus(known, -times_known), scale, facts)]


def _products(form: Affine) -> list[tuple[Expr, Expr, int]]:
    """Return (factor, product of the others, coefficient) of each factor of the form's products."""
    split = [(factors(term), count) for term, count in form.terms.items() if isinstance(term, E.Mul)]
    return [
        (factor, monomial(_remove(parts, factor)), count)
        for parts, count in split
        if len(parts) > 1
        for factor in dict.fromkeys(parts)
    ]


def _multiples(known: Affine, products: list[tuple[Expr, Expr, int]], facts: Facts) -> Iterator[Affine]:
    """Yield known * m >= 0 for each factor m >= 0 of a product whose other factors stand in `known`."""
    tried: set[Expr] = set()
    for factor, others, wanted in products:
        if known.terms.get(others, 0) * wanted > 0 and factor not in tried and _sign([factor], facts) > 0:
            tried.add(factor)
            multiple = times(known, Affine({factor: 1}))
            if multiple is not None:
                yield multiple


_LOOKED_AT = 48


def _depends_on(atom: Expr) -> set[Expr]:
    """Return expressions below `atom` and in the ranges of variables there; of a large one, the nearest ones.

    Only the order of replacements rests on it.
    """
    found: set[Expr] = set()
    waiting = _parts(atom)
    for node in waiting:
        if node not in found:
            found.add(node)
            if len(waiting) < _LOOKED_AT:
                waiting += _parts(node)
    return found


def _parts(node: Expr) -> list[Expr]:
    if isinstance(node, E.Var):
        return [bound for bound in (node.min, node.extent) if bound is not None]
    return node.operands()


def _replace(form: Affine, atom: Expr, facts: Facts) -> Iterator[list[Branch]]:
    """Yield the form with the first term that holds `atom` replaced by what bounds it."""
    for term, coefficient in form.terms.items():
        parts = factors(term)
        if not any(part is atom for part in parts):
            continue
        rest = _remove(parts, atom)
        for times_divisor, left in _readings(atom, rest):
            sign = _sign(left, facts)
            verb = bounds_of_multiple if times_divisor else bounds_of_term
            for bounds in verb(atom, coefficient * sign < 0, facts) if sign else ():
                branches = [_put(form, term, coefficient, left, bound, where) for bound, where in bounds]
                if None not in branches:
                    yield [branch for branch in branches if branch is not None]
        return


def _remove(parts: list[Expr], atom: Expr) -> list[Expr]:
    rest = list(parts)
    for position, part in enumerate(rest):
        if part is atom:
            del rest[position]
            return rest
    return rest


def _readings(atom: Expr, rest: list[Expr]) -> Iterator[tuple[bool, list[Expr]]]:
    """Yield how a term reads: as (a // b) * b times other factors, where it is one, and as the atom times the rest."""
    if isinstance(atom, E.FloorDiv) and any(part is atom.b for part in rest):
        yield True, _remove(rest, atom.b)
    yield False, rest


def _sign(parts: list[Expr], facts: Facts) -> int:
    """Return 1 when the product is never negative, -1 when never positive, 0 when unknown."""
    if not parts:
        return 1
    span = facts.term_interval(monomial(parts))
    if span.lo is not None and span.lo >= 0:
        return 1
    return -1 if span.hi is not None and span.hi <= 0 else 0


def _put(form: Affine, term: Expr, coefficient: int, rest: list[Expr], bound: Bound, where: Facts) -> Branch | None:
    value, divisor = bound
    replacement = value if not rest else times(value, Affine({monomial(rest): 1}))
    if replacement is None:
        return None
    return form.without(term).scaled(divisor).plus(replacement, coefficient), divisor, where
