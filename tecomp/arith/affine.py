"""Affine forms: an integer as a sum of terms with integer coefficients and a constant.

A term is whatever is not linear: a variable, a product in canonical order, a division, a Load. Two forms of one
expression serve two ends. `affine` is about its *value*: exact integers, products multiplied out, casts that cannot
wrap seen through; proofs use it. `sums.collect` is about its *spelling*: only + - and * by constants, in the ring of
its type.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from ..dtype import INDEX, DType
from ..ir import expr as E
from ..ir import make
from ..ir.constant import wrap
from ..ir.node import Expr
from .interval import Interval, interval, may_wrap

MOST_TERMS = 64
"""A product that would multiply out to more terms than this stays one term."""


class Affine:
    """sum(coefficient * term) + constant. Not changed once it is made; no coefficient is zero."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[Expr, int], constant: int = 0) -> None:
        self.terms, self.constant = terms, constant

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """Return self + factor * other."""
        terms = dict(self.terms)
        for term, coefficient in other.terms.items():
            total = terms.get(term, 0) + factor * coefficient
            if total:
                terms[term] = total
            else:
                terms.pop(term, None)
        return Affine(terms, self.constant + factor * other.constant)

    def shifted(self, amount: int) -> Affine:
        """Return self + amount."""
        return Affine(self.terms, self.constant + amount)

    def scaled(self, factor: int) -> Affine:
        """Return factor * self, for a factor that is not zero."""
        if factor == 1:
            return self
        return Affine({term: c * factor for term, c in self.terms.items()}, self.constant * factor)

    def without(self, term: Expr) -> Affine:
        """Return self less its multiple of `term`."""
        return Affine({other: c for other, c in self.terms.items() if other is not term}, self.constant)

    def replaced(self, term: Expr, value: Affine, factor: int) -> Affine:
        """Return self with its multiple of `term` replaced by factor * value, in the same place."""
        result = Affine({}, self.constant)
        for other, coefficient in self.terms.items():
            result = result.plus(value, factor) if other is term else result.plus(Affine({other: coefficient}))
        return result

    def content(self) -> int:
        """Return the greatest divisor of all coefficients, the constant aside; 0 without terms."""
        return gcd(*self.terms.values())

    def key(self) -> tuple[frozenset[tuple[Expr, int]], int]:
        """Return what two forms of equal terms share."""
        return frozenset(self.terms.items()), self.constant

    def interval(self, of: Callable[[Expr], Interval] = interval) -> Interval:
        """Return between which integers the sum lies, when each term lies in what `of` says."""
        lo: int | None = self.constant
        hi: int | None = self.constant
        for term, coefficient in self.terms.items():
            low, high = of(term) if coefficient > 0 else reversed(of(term))
            lo = None if lo is None or low is None else lo + coefficient * low
            hi = None if hi is None or high is None else hi + coefficient * high
        return Interval(lo, hi)

    def expr(self, dtype: DType = INDEX) -> Expr:
        """Return the sum as an expression: what is added first, in order of the terms, then what is taken away."""
        ordered = sorted(self.terms.items(), key=_is_taken_away)
        total: Expr | None = None
        rest = self.constant
        if rest > 0 and ordered and ordered[0][1] < 0:
            total, rest = number(rest, dtype), 0
        for term, coefficient in ordered:
            total = _accumulate(total, term if term.dtype is dtype else make.cast(dtype, term), coefficient)
        if total is None:
            return number(rest, dtype)
        if rest:
            total = E.Add(total, number(rest, dtype)) if rest > 0 else E.Sub(total, number(-rest, dtype))
        return total

    def __repr__(self) -> str:
        return f"Affine({self.terms}, {self.constant})"


def _is_taken_away(item: tuple[Expr, int]) -> bool:
    return item[1] < 0


def number(value: int, dtype: DType) -> Expr:
    """Return an integer constant in every lane, wrapped to its type."""
    return make.broadcast(E.Const(wrap(value, dtype), dtype.element), dtype.lanes)


def _accumulate(total: Expr | None, term: Expr, coefficient: int) -> Expr:
    if total is None and coefficient in (1, -1):
        return term if coefficient == 1 else E.Sub(number(0, term.dtype), term)
    if total is None:
        return E.Mul(term, number(coefficient, term.dtype))
    size = abs(coefficient)
    part = term if size == 1 else E.Mul(term, number(size, term.dtype))
    return E.Add(total, part) if coefficient > 0 else E.Sub(total, part)


_KNOWN: dict[Expr, Affine] = {}
_KNOWN_MOST = 1 << 15


def affine(root: Expr) -> Affine:
    """Return the integer that `root` is, as an affine form; where its type may wrap, one term.

    In a vector expression it is the value in one lane: a ramp is base + stride * `lane(lanes)`.
    """
    known = _KNOWN.get(root)
    if known is not None:
        return known
    if len(_KNOWN) > _KNOWN_MOST:
        _KNOWN.clear()
    stack = [root]
    while stack:
        node = stack[-1]
        if node not in _KNOWN:
            waiting = [below for below in _linear_operands(node) if below not in _KNOWN]
            if waiting:
                stack.extend(waiting)
                continue
            _KNOWN[node] = _combine(node)
        stack.pop()
    return _KNOWN[root]


def _linear_operands(node: Expr) -> list[Expr]:
    return node.operands() if type(node) in _FORMS and node.dtype.is_integer else []


def _combine(node: Expr) -> Affine:
    verb = _FORMS.get(type(node))
    if verb is None or not node.dtype.is_integer or may_wrap(node):
        return _term(node)
    return verb(node)


def _term(node: Expr) -> Affine:
    return Affine({node: 1})


def _product(node: E.Mul) -> Affine:
    a, b = _KNOWN[node.a], _KNOWN[node.b]
    for one, other in ((a, b), (b, a)):
        if not one.terms:
            return other.scaled(one.constant) if one.constant else one
    if len(a.terms) * len(b.terms) > MOST_TERMS:
        return _term(node)
    return times(a, b) or _term(node)


def times(a: Affine, b: Affine) -> Affine | None:
    """Return the product, multiplied out; None where terms of different types would meet, or one product might wrap."""
    result = Affine({}, a.constant * b.constant)
    for one, other in ((a, b), (b, a)):
        if other.constant:
            result = result.plus(Affine(one.terms), other.constant)
    for x, p in a.terms.items():
        for y, q in b.terms.items():
            product = monomial([*factors(x), *factors(y)]) if x.dtype is y.dtype else None
            if product is None or may_wrap(product):
                return None
            result = result.plus(Affine({product: p * q}))
    return result


def factors(term: Expr, in_ring: bool = False) -> list[Expr]:
    """Return what a term multiplies: down to products that may wrap, or in the ring of its type all of them."""
    found: list[Expr] = []
    stack = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, E.Mul) and (in_ring or not may_wrap(node)):
            stack += [node.b, node.a]
        else:
            found.append(node)
    return found


def monomial(parts: list[Expr]) -> Expr:
    """Return the product of factors, the same one whatever their order."""
    first, *others = sorted(parts, key=_rank) if len(parts) > 1 else parts
    product = first
    for part in others:
        product = E.Mul(product, part)
    return product


_RANK_NODES = 12


def _rank(node: Expr) -> tuple[tuple[str, int], ...]:
    """Order factors by their first dozen nodes: loop variables by age, then what is composite, then sizes by age."""
    tokens: list[tuple[str, int]] = []
    stack = [node]
    while stack and len(tokens) < _RANK_NODES:
        at = stack.pop()
        if isinstance(at, E.Var):
            tokens.append(("~" if at.extent is None else "", at.uid))
        elif isinstance(at, E.Const):
            tokens.append(("#", int(at.value)))
        else:
            tokens.append((type(at).__name__, 0))
            stack.extend(reversed(at.operands()))
    return tuple(tokens)


def _cast(node: E.Cast) -> Affine:
    return _KNOWN[node.value] if node.value.dtype.is_integer else _term(node)


def _number_form(node: E.Const) -> Affine:
    return Affine({}, int(node.value))


_LANES: dict[int, E.Var] = {}


def lane(lanes: int) -> E.Var:
    """Return the variable that stands for the lane's number in vectors of that many lanes."""
    if lanes not in _LANES:
        _LANES[lanes] = E.Var("lane", INDEX, make.const(0, INDEX), make.const(lanes, INDEX))
    return _LANES[lanes]


def _ramp(node: E.Ramp) -> Affine:
    step = times(_KNOWN[node.stride], Affine({lane(node.lanes): 1}))
    return _term(node) if step is None else _KNOWN[node.base].plus(step)


_FORMS: dict[type, Callable[..., Affine]] = {
    E.Const: _number_form,
    E.Add: lambda node: _KNOWN[node.a].plus(_KNOWN[node.b]),
    E.Sub: lambda node: _KNOWN[node.a].plus(_KNOWN[node.b], -1),
    E.Mul: _product,
    E.Cast: _cast,
    E.Ramp: _ramp,
    E.Broadcast: lambda node: _KNOWN[node.value],
}
"""The affine form of a node whose operands have theirs, in exact integers."""
