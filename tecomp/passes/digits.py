"""Digits of unknown size: which variables an equation of two indices forces to agree when coefficients are symbolic.

tx*q + i, with i in [0, q), on both sides: equal only where tx = tx' and i = i', whatever q is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from ..arith import NO_FACTS, Facts, can_prove
from ..arith.affine import Affine, factors
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.visit import walk

Differs = Callable[[Expr], bool]


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
    loose: dict[Expr, list[tuple[E.Var, int]]] = defaultdict(list)
    for term in {**left.terms, **right.terms}:
        p, q = left.terms.get(term, 0), right.terms.get(term, 0)
        moving = [factor for factor in factors(term) if differs(factor)]
        if not moving:
            if p != q:
                return None
            continue
        if len(moving) > 1 or not isinstance(moving[0], E.Var) or moving[0].extent is None:
            return None
        var = moving[0]
        common = [factor for factor in factors(term) if factor is not var]
        if p == q:
            digits.append(Digit(_product(abs(p), common), make.sub(moving[0].extent, 1), var))
        else:
            for coefficient in (p, -q):
                if coefficient:
                    loose[_product(abs(coefficient), common)].append((var, 1 if coefficient > 0 else -1))
    for scale, pair in loose.items():
        most = _difference(pair)
        if most is None:
            return None
        digits.append(Digit(scale, most, None))
    return digits


def _product(coefficient: int, common: list[Expr]) -> Expr:
    result: Expr = make.const(coefficient, INDEX)
    for factor in common:
        result = make.mul(result, factor)
    return result


def _difference(pair: list[tuple[E.Var, int]]) -> Expr | None:
    """Return how far two variables over one range, one added and one taken away, can be apart."""
    if len(pair) != 2 or pair[0][1] == pair[1][1]:
        return None
    (x, _), (y, _) = pair
    if x.extent is None or x.extent is not y.extent or x.min is not y.min:
        return None
    return make.sub(x.extent, 1)
