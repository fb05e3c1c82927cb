"""Facts: what is known to hold where an expression stands, beside the ranges of its variables."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from . import span
from .affine import Affine, affine, factors
from .interval import EVERYTHING, Interval, interval

_REMEMBERED_MOST = 1 << 14


class Facts:
    """An immutable set of conditions that hold. `assume` gives a larger set and leaves this one as it is.

    `inequalities` are affine forms of two or more terms known to be >= 0; `ranges` narrow single terms; `congruences`
    are (form, modulus) with form a multiple of modulus; `truths` says of whole conditions whether they hold.
    """

    __slots__ = ("_children", "congruences", "inequalities", "proofs", "ranges", "simplified", "truths")

    def __init__(
        self,
        inequalities: tuple[Affine, ...],
        ranges: dict[Expr, Interval],
        congruences: tuple[tuple[Affine, int], ...],
        truths: dict[Expr, bool],
    ) -> None:
        self.inequalities, self.ranges, self.congruences, self.truths = inequalities, ranges, congruences, truths
        self.simplified: dict[Expr, Expr] = {}
        """What `simplify` made of expressions under these facts."""
        self.proofs: dict[Expr, bool] = {}
        """What `can_prove` found of conditions under these facts."""
        self._children: dict[Expr, Facts] = {}

    def assume(self, condition: Expr) -> Facts:
        """Return these facts and `condition`, lane by lane if it is a vector."""
        if isinstance(condition, E.Const) or self.truths.get(condition):
            return self
        known = self._children.get(condition)
        if known is None:
            known = self._children[condition] = _Learning(self).learn(condition)
        return known

    def interval(self, form: Affine) -> Interval:
        """Return between which integers `form` lies, by the intervals of its terms and these facts."""
        return form.interval(self.term_interval) if self.ranges else form.interval()

    def term_interval(self, term: Expr) -> Interval:
        """Return between which integers a term lies, with what these facts say of its factors."""
        known = interval(term)
        if not self.ranges:
            return known
        parts = factors(term)
        if len(parts) > 1:
            product: span.Span = (1, 1)
            for factor in parts:
                product = span.mul(product, self.ranges.get(factor, EVERYTHING).meet(interval(factor)))
            known = known.meet(Interval(*product))
        return known.meet(self.ranges.get(term, EVERYTHING))

    def forget_if_large(self) -> None:
        """Drop remembered answers once there are many: a long run must not keep every expression alive."""
        if len(self.simplified) > _REMEMBERED_MOST or len(self.proofs) > _REMEMBERED_MOST:
            self.simplified.clear()
            self.proofs.clear()
            self._children.clear()


class _Learning:
    """The growing lists of one `assume`."""

    def __init__(self, known: Facts) -> None:
        self.inequalities = list(known.inequalities)
        self.ranges = dict(known.ranges)
        self.congruences = list(known.congruences)
        self.truths = dict(known.truths)

    def learn(self, condition: Expr) -> Facts:
        stack = [condition]
        while stack:
            node = stack.pop()
            self.truths[node] = True
            self.truths[make.logical_not(node)] = False
            stack.extend(_consequences(node))
            if isinstance(node, E.Compare) and node.a.dtype.is_integer:
                _LEARN[type(node)](self, affine(node.b).plus(affine(node.a), -1), node)
        return Facts(tuple(self.inequalities), self.ranges, tuple(self.congruences), self.truths)

    def at_least_zero(self, form: Affine) -> None:
        divisor = form.content()
        if divisor == 0:
            return
        form = Affine({term: c // divisor for term, c in form.terms.items()}, form.constant // divisor)
        if len(form.terms) > 1:
            self.inequalities.append(form)
            return
        ((term, sign),) = form.terms.items()
        bound = Interval(-form.constant, None) if sign > 0 else Interval(None, form.constant)
        self.ranges[term] = self.ranges.get(term, EVERYTHING).meet(bound)

    def less(self, difference: Affine, _: Any) -> None:
        self.at_least_zero(difference.shifted(-1))

    def at_most(self, difference: Affine, _: Any) -> None:
        self.at_least_zero(difference)

    def equal(self, difference: Affine, node: E.Eq) -> None:
        self.at_least_zero(difference)
        self.at_least_zero(difference.scaled(-1))
        for whole, rest in ((node.a, node.b), (node.b, node.a)):
            if isinstance(whole, (E.FloorMod, E.TruncMod)) and not affine(rest).terms:
                modulus = affine(whole.b)
                if not modulus.terms and modulus.constant:
                    multiple = affine(whole.a).shifted(-affine(rest).constant)
                    self.congruences.append((multiple, abs(modulus.constant)))

    def differ(self, difference: Affine, _: Any) -> None:
        """x != 0 moves an end of x's range that is 0."""
        for form in (difference, difference.scaled(-1)):
            if form.interval().lo == 0 or (len(form.terms) == 1 and self._lowest(form) == 0):
                self.at_least_zero(form.shifted(-1))

    def _lowest(self, form: Affine) -> int | None:
        return Facts((), self.ranges, (), {}).interval(form).lo


def _consequences(node: Expr) -> list[Expr]:
    """Return what follows from `node` at once."""
    if isinstance(node, E.And):
        return [node.b, node.a]
    if isinstance(node, E.Broadcast):
        return [node.value]
    if not isinstance(node, E.Not):
        return []
    if isinstance(node.a, E.Or):
        return [make.logical_not(node.a.b), make.logical_not(node.a.a)]
    turned = make.logical_not(node.a)
    return [] if turned is node else [turned]


_LEARN: dict[type, Callable[[_Learning, Affine, Any], None]] = {
    E.Lt: _Learning.less,
    E.Le: _Learning.at_most,
    E.Eq: _Learning.equal,
    E.Ne: _Learning.differ,
}

NO_FACTS = Facts((), {}, (), {})
"""Nothing is known beside the ranges of variables."""


def congruent(form: Affine, modulus: int, facts: Facts) -> int | None:
    """Return what `form` leaves modulo `modulus` when that is one number, else None."""
    if not form.terms:
        return form.constant % modulus
    for multiple, step in facts.congruences:
        if gcd(step, modulus) != modulus:
            continue
        form = _reduced(form, multiple)
    return form.constant % modulus if all(c % modulus == 0 for c in form.terms.values()) else None


def _reduced(form: Affine, multiple: Affine) -> Affine:
    """Take a multiple of `multiple` from `form` so that its first term goes."""
    term, coefficient = next(iter(multiple.terms.items()), (None, 1))
    if term is None or term not in form.terms or form.terms[term] % coefficient:
        return form
    return form.plus(multiple, -(form.terms[term] // coefficient))
