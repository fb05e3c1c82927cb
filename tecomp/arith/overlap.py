"""When do two accesses touch one element? Then which of the variables that tell the threads (or lanes) apart agree?

An access is a function from (owners, private loop variables, common variables) to indices. Two owners run at once, so
the owners' variables and the private ones differ between two accesses while the common ones agree. Equality of two
indices is one linear equation; a coefficient greater than all the smaller terms together forces its own difference to
be zero, as digits of a number do:

    16*ty + tx, with tx in [0, 16), on both sides: equal only where ty = ty' and tx = tx'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

from ..ir import expr as E
from ..ir.foreign import is_opaque
from ..ir.node import Expr
from ..ir.visit import walk
from .affine import Affine, affine, lane
from .digits import forced_digits
from .facts import NO_FACTS, Facts
from .relax import constant_lower, constant_upper
from .wholes import in_one_lane, wholes

Private = Callable[[E.Var], bool]
MOST_PAIRS: Final = 4096
"""Pairs of accesses that are compared one by one."""


class Place(NamedTuple):
    """Where an access goes, and what is known of the variables there."""

    indices: tuple[Expr, ...]
    facts: Facts = NO_FACTS


Check = Callable[[list[Place], list[Place]], bool]


class _Term(NamedTuple):
    """coefficient * m, for an unknown integer m in [low, high]: the difference of `value` in both, where it has one."""

    coefficient: int
    low: float
    high: float
    value: Expr | None


class Overlap:
    """Answers for one set of `owners` and one notion of which other variables are `private` to an access."""

    def __init__(self, owners: Iterable[E.Var], private: Private) -> None:
        self.owners, self.private = frozenset(owners), private

    def agreeing(self, a: Place, b: Place) -> frozenset[Expr] | None:
        """Return the owners that must agree where both places are one element; None where they never are."""
        forced: set[Expr] = {owner for owner in self.owners if _fixed(owner, a.facts, b.facts)}
        for x, y in wholes(zip(map(in_one_lane, a.indices), map(in_one_lane, b.indices), strict=True), self._agrees):
            equal = self._equation(x, y, a.facts, b.facts)
            if equal is None:
                return None
            forced |= equal
        self._join_quotients(forced)
        return self.owners & forced

    def apart(self, a: Place, b: Place) -> bool:
        """Return whether no two different owners touch one element by `a` and `b`."""
        agreeing = self.agreeing(a, b)
        return agreeing is None or agreeing == self.owners

    def all_apart(self, writes: Iterable[Place], reads: Iterable[Place]) -> bool:
        """Return whether no element that one owner writes is touched by another, whichever accesses they are."""
        return self._pairs_apart(writes, reads, self._writes_too)

    def reads_apart(self, writes: Iterable[Place], reads: Iterable[Place]) -> bool:
        """Return whether no owner reads what another writes. Both may write one element, each its own copy or alike."""
        return self._pairs_apart(writes, reads, self._reads_only)

    def _pairs_apart(self, writes: Iterable[Place], reads: Iterable[Place], check: Check) -> bool:
        """Check accesses that differ in constants only, as an unrolled loop leaves them, together; then one by one.

        More than MOST_PAIRS pairs one by one are not looked at: the answer is False.
        """
        if check(hulls(writes), hulls(reads)):
            return True
        written, read = list(dict.fromkeys(writes)), list(dict.fromkeys(reads))
        return len(written) * (len(written) + len(read)) <= MOST_PAIRS and check(written, read)

    def _reads_only(self, writes: list[Place], reads: list[Place]) -> bool:
        return all(self.apart(a, b) for a in writes for b in reads)

    def _writes_too(self, writes: list[Place], reads: list[Place]) -> bool:
        each = all(self.apart(a, b) for a, b in combinations_with_replacement(writes, 2))
        return each and self._reads_only(writes, reads)

    def _join_quotients(self, forced: set[Expr]) -> None:
        """Where f // c and f % c both agree, f agrees, and with it the digits of f."""
        pending = [term for term in forced if isinstance(term, E.FloorDiv)]
        while pending:
            term = pending.pop()
            if E.FloorMod(term.a, term.b) not in forced or not self._agrees(term.b):
                continue
            digits = (self._equation(term.a, term.a, NO_FACTS, NO_FACTS) or set()) - forced
            pending += [digit for digit in digits if isinstance(digit, E.FloorDiv)]
            forced |= digits

    def _equation(self, x: Expr, y: Expr, of_x: Facts, of_y: Facts) -> set[Expr] | None:
        """Return the terms whose values x = y forces to agree; None when x = y is impossible."""
        if self._agrees(x) and self._agrees(y) and _residues_differ(x, y):
            return None
        left, right = affine(x), affine(y)
        left, right = self._owned(left, right, of_x), self._owned(right, left, of_y)
        terms = self._terms(left, right, of_x, of_y)
        constant = left.constant - right.constant
        if _never(terms, constant):
            return None
        forced: set[Expr] = set()
        for term, (low, high) in zip(terms, _sums_behind(terms, constant), strict=True):
            if term.coefficient <= max(-low, high):
                break
            if term.value is not None:
                forced.add(term.value)
        named = {node for term in (*left.terms, *right.terms) for node in walk(term)}
        if not self.owners & named <= forced:
            forced |= forced_digits(left, right, lambda term: not self._agrees(term))
        return forced

    def _owned(self, form: Affine, other: Affine, facts: Facts) -> Affine:
        """Return `form` with the owners that `other` names: 8 is 4*tx where tx is known to be 2."""
        for owner in self.owners.intersection(other.terms).difference(form.terms):
            value = facts.term_interval(owner).value
            if value is not None:
                coefficient = other.terms[owner]
                form = form.plus(Affine({owner: coefficient}, -coefficient * value))
        return form

    def _terms(self, left: Affine, right: Affine, of_left: Facts, of_right: Facts) -> list[_Term]:
        """Return what left - right consists of besides its constant, the greatest coefficient first."""
        found: list[_Term] = []
        loose: dict[int, tuple[float, float]] = {}
        for term in {**left.terms, **right.terms}:
            p, q = left.terms.get(term, 0), right.terms.get(term, 0)
            (low, high), (least, most) = _range(term, of_left), _range(term, of_right)
            if self._agrees(term):
                _add(loose, p - q, low, high)
            elif p == q:
                found.append(_Term(abs(p), low - most, high - least, term))
            else:
                _add(loose, p, low, high)
                _add(loose, -q, least, most)
        found += [_Term(coefficient, low, high, None) for coefficient, (low, high) in loose.items()]
        return sorted(found, key=_by_coefficient)

    def _agrees(self, term: Expr) -> bool:
        """Return whether a term has one value in both accesses."""
        return not any(self._differs(node) for node in walk(term))

    def _differs(self, node: Expr) -> bool:
        if isinstance(node, E.Var):
            return node in self.owners or is_lane(node) or self.private(node)
        return isinstance(node, (E.Load, E.Address)) or is_opaque(node) or node.dtype.lanes > 1


def hulls(places: Iterable[Place]) -> list[Place]:
    """Return the places, those with the same terms as one: its constants are all those between theirs."""
    ends: dict[tuple[object, ...], tuple[list[Affine], list[int], list[int], Facts]] = {}
    for indices, facts in places:
        forms = [affine(index) for index in indices]
        constants = [form.constant for form in forms]
        key = (facts, *(form.key()[0] for form in forms))
        _, low, high, _ = ends.setdefault(key, (forms, constants, constants, facts))
        ends[key] = (forms, list(map(min, low, constants)), list(map(max, high, constants)), facts)
    return [Place(tuple(map(_hull, *parts)), facts) for *parts, facts in ends.values()]


def _hull(form: Affine, low: int, high: int) -> Expr:
    start = form.shifted(low - form.constant).expr()
    return start if low == high else E.Add(start, lane(high - low + 1))


def is_lane(var: E.Var) -> bool:
    """Whether `var` is what an affine form has for the number of a vector's lane."""
    return var.name == "lane" and isinstance(var.extent, E.Const) and var is lane(int(var.extent.value))


def _by_coefficient(term: _Term) -> int:
    return -term.coefficient


def _residues_differ(x: Expr, y: Expr) -> bool:
    """Whether both are remainders by one number, of two values that differ by no multiple of it: (k + 1) % 2, k % 2."""
    if not (isinstance(x, E.FloorMod) and isinstance(y, E.FloorMod) and x.b is y.b and isinstance(x.b, E.Const)):
        return False
    difference = affine(x.a).plus(affine(y.a), -1)
    return not difference.terms and x.b.value != 0 and difference.constant % x.b.value != 0


def _sums_behind(terms: list[_Term], constant: int) -> list[tuple[float, float]]:
    """Return for each term between what all the smaller ones and the constant together lie."""
    sums: list[tuple[float, float]] = [(constant, constant)]
    for term in reversed(terms[1:]):
        low, high = sums[-1]
        sums.append((low + term.coefficient * term.low, high + term.coefficient * term.high))
    return sums[len(terms) - 1 :: -1] if terms else []


def _fixed(var: Expr, a: Facts, b: Facts) -> bool:
    """Return whether a variable has one value only, the same in both places."""
    value = a.term_interval(var).value
    return value is not None and value == b.term_interval(var).value


def _range(term: Expr, facts: Facts) -> tuple[float, float]:
    low, high = facts.term_interval(term)
    low = constant_lower(term, facts) if low is None else low
    high = constant_upper(term, facts) if high is None else high
    return -math.inf if low is None else low, math.inf if high is None else high


def _add(loose: dict[int, tuple[float, float]], coefficient: int, low: float, high: float) -> None:
    """Add coefficient * [low, high], under the coefficient's magnitude."""
    if coefficient == 0:
        return
    if coefficient < 0:
        coefficient, low, high = -coefficient, -high, -low
    below, above = loose.get(coefficient, (0, 0))
    loose[coefficient] = (below + low, above + high)


def _never(terms: list[_Term], constant: int) -> bool:
    """Whether no choice of the terms makes the sum with `constant` zero."""
    low = constant + sum(term.coefficient * term.low for term in terms)
    high = constant + sum(term.coefficient * term.high for term in terms)
    if low > 0 or high < 0:
        return True
    divisor = math.gcd(*(term.coefficient for term in terms))
    return constant % divisor != 0 if divisor else constant != 0
