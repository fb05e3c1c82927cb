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

from ..arith.affine import Affine, affine, lane
from ..arith.interval import interval
from ..ir import expr as E
from ..ir.node import Expr
from ..ir.visit import walk

Private = Callable[[E.Var], bool]
Indices = tuple[Expr, ...]
MOST_PAIRS: Final = 4096
"""Pairs of accesses that are compared one by one."""


class _Term(NamedTuple):
    """coefficient * m, for an unknown integer m in [low, high]: the difference of `value` in both, where it has one."""

    coefficient: int
    low: float
    high: float
    value: Expr | None

    @property
    def reach(self) -> float:
        return self.coefficient * max(abs(self.low), abs(self.high))


class Overlap:
    """Answers for one set of `owners` and one notion of which other variables are `private` to an access."""

    def __init__(self, owners: Iterable[E.Var], private: Private) -> None:
        self.owners, self.private = frozenset(owners), private

    def agreeing(self, a: tuple[Expr, ...], b: tuple[Expr, ...]) -> frozenset[Expr] | None:
        """Return the owners that must agree where the indices `a` and `b` are equal; None where they never are."""
        forced: set[Expr] = set()
        for x, y in zip(a, b, strict=True):
            equal = self._equation(x, y)
            if equal is None:
                return None
            forced |= equal
        self._join_quotients(forced)
        return self.owners & forced

    def apart(self, a: tuple[Expr, ...], b: tuple[Expr, ...]) -> bool:
        """Return whether no two different owners touch one element by `a` and `b`."""
        agreeing = self.agreeing(a, b)
        return agreeing is None or agreeing == self.owners

    def all_apart(self, writes: Iterable[Indices], reads: Iterable[Indices]) -> bool:
        """Return whether no element that one owner writes is touched by another, whichever accesses they are.

        Accesses that differ in constants only, as an unrolled loop leaves them, are first taken together. More than
        MOST_PAIRS pairs beyond that are not looked at: the answer is False.
        """
        if self._pairs_apart(hulls(writes), hulls(reads)):
            return True
        written, read = list(dict.fromkeys(writes)), list(dict.fromkeys(reads))
        return len(written) * (len(written) + len(read)) <= MOST_PAIRS and self._pairs_apart(written, read)

    def _pairs_apart(self, writes: list[Indices], reads: list[Indices]) -> bool:
        both = all(self.apart(a, b) for a, b in combinations_with_replacement(writes, 2))
        return both and all(self.apart(a, b) for a in writes for b in reads)

    def _join_quotients(self, forced: set[Expr]) -> None:
        """Where f // c and f % c both agree, f agrees, and with it the digits of f."""
        pending = [term for term in forced if isinstance(term, E.FloorDiv)]
        while pending:
            term = pending.pop()
            if E.FloorMod(term.a, term.b) not in forced:
                continue
            digits = (self._equation(term.a, term.a) or set()) - forced
            pending += [digit for digit in digits if isinstance(digit, E.FloorDiv)]
            forced |= digits

    def _equation(self, x: Expr, y: Expr) -> set[Expr] | None:
        """Return the terms whose values x = y forces to agree; None when x = y is impossible."""
        left, right = affine(x), affine(y)
        terms = self._terms(left, right)
        constant = left.constant - right.constant
        if _never(terms, constant):
            return None
        forced: set[Expr] = set()
        for term, rest in zip(terms, _sums_behind(terms), strict=True):
            if term.coefficient <= rest + abs(constant):
                break
            if term.value is not None:
                forced.add(term.value)
        return forced

    def _terms(self, left: Affine, right: Affine) -> list[_Term]:
        """Return what x - y consists of besides its constant, the greatest coefficient first."""
        found: list[_Term] = []
        loose: dict[int, tuple[float, float]] = {}
        for term in {**left.terms, **right.terms}:
            p, q = left.terms.get(term, 0), right.terms.get(term, 0)
            low, high = _range(term)
            if self._agrees(term):
                _add(loose, p - q, low, high)
            elif p == q:
                found.append(_Term(abs(p), low - high, high - low, term))
            else:
                _add(loose, p, low, high)
                _add(loose, -q, low, high)
        found += [_Term(coefficient, low, high, None) for coefficient, (low, high) in loose.items()]
        return sorted(found, key=_by_coefficient)

    def _agrees(self, term: Expr) -> bool:
        """Return whether a term has one value in both accesses."""
        return not any(self._differs(node) for node in walk(term))

    def _differs(self, node: Expr) -> bool:
        if isinstance(node, E.Var):
            return node in self.owners or is_lane(node) or self.private(node)
        return isinstance(node, E.Load) or node.dtype.lanes > 1


def hulls(accesses: Iterable[Indices]) -> list[Indices]:
    """Return the accesses, those with the same terms as one: its constants are all those between theirs."""
    ends: dict[tuple[object, ...], tuple[list[Affine], list[int], list[int]]] = {}
    for indices in accesses:
        forms = [affine(index) for index in indices]
        constants = [form.constant for form in forms]
        key = tuple(form.key()[0] for form in forms)
        _, low, high = ends.setdefault(key, (forms, constants, constants))
        ends[key] = (forms, list(map(min, low, constants)), list(map(max, high, constants)))
    return [tuple(map(_hull, *parts)) for parts in ends.values()]


def _hull(form: Affine, low: int, high: int) -> Expr:
    start = form.shifted(low - form.constant).expr()
    return start if low == high else E.Add(start, lane(high - low + 1))


def is_lane(var: E.Var) -> bool:
    """Whether `var` is what an affine form has for the number of a vector's lane."""
    return var.name == "lane" and isinstance(var.extent, E.Const) and var is lane(int(var.extent.value))


def _by_coefficient(term: _Term) -> int:
    return -term.coefficient


def _sums_behind(terms: list[_Term]) -> list[float]:
    """Return for each term how much all the smaller ones together can reach."""
    sums = [0.0]
    for term in reversed(terms[1:]):
        sums.append(sums[-1] + term.reach)
    return sums[len(terms) - 1 :: -1] if terms else []


def _range(term: Expr) -> tuple[float, float]:
    bounds = interval(term)
    return -math.inf if bounds.lo is None else bounds.lo, math.inf if bounds.hi is None else bounds.hi


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
