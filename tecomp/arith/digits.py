"""Digits of unknown size: which variables an equation of two indices forces to agree when coefficients are symbolic.

tx*q + i, with i in [0, q), on both sides: equal only where tx = tx' and i = i', whatever q is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from ..ir.visit import walk
from .affine import Affine, factors
from .facts import NO_FACTS, Facts
from .relax import bounds_of
from .simplify import can_prove

Differs = Callable[[Expr], bool]
Ends = tuple[Expr, Expr]


class Digit(NamedTuple):
    """scale * m, for an unknown integer m of magnitude up to `most`: the difference of `value` where it has one."""

    scale: Expr
    most: Expr
    value: Expr | None

    @property
    def reach(self) -> Expr:
        """How much it can add to a side."""
        return make.mul(self.scale, self.most)


def forced_digits(left: Affine, right: Affine, differs: Differs) -> set[Expr]:
    """Return the variables that left = right forces to agree. `differs` tells which may differ between the sides."""
    digits = _digits(left, right, differs)
    if digits is None:
        return set()
    forced: set[Expr] = set()
    facts = _running([*left.terms, *right.terms])
    constant = make.const(abs(left.constant - right.constant), INDEX)
    while True:
        greatest = next((digit for digit in digits if _outweighs(digit, digits, constant, facts)), None)
        if greatest is None:
            return forced
        digits.remove(greatest)
        if greatest.value is not None:
            forced.add(greatest.value)


def _running(terms: list[Expr]) -> Facts:
    """Return what holds inside the loops whose variables are named: each has an iteration."""
    facts = NO_FACTS
    for var in {node for term in terms for node in walk(term) if isinstance(node, E.Var) and node.extent is not None}:
        facts = facts.assume(make.le(make.const(1, INDEX), make.index(var.extent)))
    return facts


def _outweighs(digit: Digit, digits: list[Digit], constant: Expr, facts: Facts) -> bool:
    """Whether one step of the digit is more than all others together can make up for."""
    others: Expr = constant
    for other in digits:
        if other is not digit:
            others = make.add(others, other.reach)
    return can_prove(make.lt(others, digit.scale), facts)


def _digits(left: Affine, right: Affine, differs: Differs) -> list[Digit] | None:
    """Return what left - right consists of besides its constant; None where that is not known well enough."""
    digits: list[Digit] = []
    loose: dict[Expr, list[tuple[Ends, int]]] = defaultdict(list)
    for term in {**left.terms, **right.terms}:
        p, q = left.terms.get(term, 0), right.terms.get(term, 0)
        parts = factors(term)
        moving = [part for part in parts if differs(part)]
        if not moving and p == q:
            continue
        ends = _ends(moving[0], differs) if len(moving) == 1 else None
        if ends is None:
            return None
        common = [part for part in parts if part is not moving[0]]
        if p == q:
            digits.append(Digit(_product(abs(p), common), make.sub(ends[1], ends[0]), moving[0]))
            continue
        for coefficient in (p, -q):
            if coefficient:
                loose[_product(abs(coefficient), common)].append((ends, 1 if coefficient > 0 else -1))
    for scale, pair in loose.items():
        most = _difference(pair)
        if most is None:
            return None
        digits.append(Digit(scale, most, None))
    return digits


def _ends(value: Expr, differs: Differs) -> Ends | None:
    """Return the least and greatest of `value` while what differs in it runs over its ranges."""
    running = [node for node in walk(value) if isinstance(node, E.Var) and differs(node)]
    ranges = {var: Range(var.min, var.extent) for var in running if var.min is not None and var.extent is not None}
    low, high = bounds_of(value, ranges) if len(ranges) == len(running) else (None, None)
    return None if low is None or high is None else (low, high)


def _product(coefficient: int, common: list[Expr]) -> Expr:
    result: Expr = make.const(coefficient, INDEX)
    for factor in common:
        result = make.mul(result, factor)
    return result


def _difference(pair: list[tuple[Ends, int]]) -> Expr | None:
    """Return how far apart two values over one range can be, one added and one taken away."""
    if len(pair) != 2 or pair[0][1] == pair[1][1]:
        return None
    (low, high), (least, most) = pair[0][0], pair[1][0]
    return make.sub(high, low) if low is least and high is most else None
