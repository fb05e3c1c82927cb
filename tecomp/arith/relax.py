"""Symbolic bounds: the least and greatest value of an integer while some of its variables run over ranges.

    bounds_of(io * 4 + ii, {ii: [0, 4)})    ->  (io * 4, io * 4 + 3)
    bounds_of((i + 3) // 4, {i: [0, n)})    ->  (0, (n + 2) // 4)

Exact for affine expressions and what is monotone in one of them; never too narrow. Inner variables go first, so that a
range may speak of another relaxed variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from ..ir.visit import walk
from .affine import Affine, affine, factors, lane, monomial, number
from .facts import NO_FACTS, Facts
from .interval import Interval, interval, may_wrap, type_range
from .search import lower_bound
from .simplify import can_prove, simplify

Ends = tuple[Expr | None, Expr | None]
"""The least and the greatest value, both of type index; None where there is no bound."""


def bounds_of(root: Expr, relaxed: Mapping[E.Var, Range], facts: Facts = NO_FACTS) -> Ends:
    """Return (lo, hi), inclusive, of what `root` takes while each variable of `relaxed` runs over its range.

    Other variables stay in the answer. None where there is no bound: a Load inside may give anything. Of a vector, the
    bounds of all lanes. The answer has the (element) type of `root`.
    """
    ranges = dict(relaxed)
    if root.dtype.lanes > 1:
        ranges[lane(root.dtype.lanes)] = Range(number(0, INDEX), number(root.dtype.lanes, INDEX))
    lo: Expr | None = simplify(root, facts)
    hi = lo
    for layer in _layers(ranges):
        one = _Relaxation(layer, facts)
        lo = None if lo is None else one.ends(lo)[0]
        hi = None if hi is None else one.ends(hi)[1]
    return _finished(lo, root, facts), _finished(hi, root, facts)


def _finished(end: Expr | None, root: Expr, facts: Facts) -> Expr | None:
    return None if end is None else simplify(make.cast(root.dtype.element, end), facts)


def constant_upper(value: Expr, facts: Facts = NO_FACTS) -> int | None:
    """Return the least constant found that an integer never exceeds (in any lane), None when none was found."""
    low = lower_bound(affine(simplify(value, facts)).scaled(-1), facts)
    return None if low is None else -low


def constant_lower(value: Expr, facts: Facts = NO_FACTS) -> int | None:
    """Return the greatest constant found that an integer is never below (in any lane), None when none was found."""
    return lower_bound(affine(simplify(value, facts)), facts)


def _layers(ranges: dict[E.Var, Range]) -> list[dict[E.Var, Range]]:
    """Split ranges so that those of a layer are spoken of only by earlier layers."""
    layers: list[dict[E.Var, Range]] = []
    left = dict(ranges)
    while left:
        used = {node for var in left for node in _mentioned(left[var])}
        layer = {var: span for var, span in left.items() if var not in used} or left
        layers.append(layer)
        left = {var: span for var, span in left.items() if var not in layer}
    return layers


def _mentioned(span: Range) -> set[Expr]:
    return {*walk(span.min), *walk(span.extent)}


class _Relaxation:
    """The ends of expressions for one layer of variables, each expression worked out once."""

    def __init__(self, ranges: Mapping[E.Var, Range], facts: Facts) -> None:
        self.ranges, self.facts = ranges, facts
        self.known: dict[Expr, Ends] = {}

    def ends(self, root: Expr) -> Ends:
        """Return the ends of `root`."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node not in self.known:
                waiting = [part for part in self.needs(node) if part not in self.known]
                if waiting:
                    stack.extend(waiting)
                    continue
                self.known[node] = self.evaluate(node)
            stack.pop()
        return self.known[root]

    def needs(self, node: Expr) -> list[Expr]:
        form = _form(node)
        if form is not None:
            return list(dict.fromkeys(factor for term in form.terms for factor in factors(term)))
        return [] if isinstance(node, (E.Load, E.TensorRead, E.Reduce)) else node.operands()

    def evaluate(self, node: Expr) -> Ends:
        if isinstance(node, E.Var):
            return self.of_var(node)
        form = _form(node)
        if form is not None:
            return self.of_sum(form, node)
        if isinstance(node, (E.Load, E.TensorRead, E.Reduce)):
            return _by_interval(node)
        parts = [self.known[part] for part in node.operands()]
        if node.dtype.lanes == 1 and all(map(_stays, node.operands(), parts)):
            return node, node
        verb = _VERBS.get(type(node))
        ends = (None, None) if verb is None else verb(self, node, *parts)
        return _first(ends, _by_interval(node))

    def of_var(self, var: E.Var) -> Ends:
        """Return the range of a relaxed variable, any other variable as it is."""
        span = self.ranges.get(var)
        if span is None:
            return (var, var) if var.dtype.lanes == 1 else _by_interval(var)
        return span.min, affine(span.min).plus(affine(span.extent)).shifted(-1).expr()

    def of_sum(self, form: Affine, node: Expr) -> Ends:
        """Return the sum of what each term is at least, and at most."""
        lo: Affine | None = Affine({}, form.constant)
        hi: Affine | None = lo
        for term, count in form.terms.items():
            low, high = self.of_product(factors(term))
            if count < 0:
                low, high = high, low
            lo = None if lo is None or low is None else lo.plus(affine(low), count)
            hi = None if hi is None or high is None else hi.plus(affine(high), count)
        return _first((lo and lo.expr(), hi and hi.expr()), _by_interval(node))

    def of_product(self, parts: list[Expr]) -> Ends:
        """Return the ends of a product where one factor moves, or all that move are never negative."""
        moving = [part for part in parts if not _stays(part, self.known[part])]
        fixed = [_index(part) for part in parts if _stays(part, self.known[part])]
        if not moving:
            product = monomial(fixed)
            return product, product
        if len(moving) == 1:
            lo, hi = self.known[moving[0]]
            return self.times_fixed(lo, hi, fixed)
        lows, highs = zip(*(self.known[part] for part in moving), strict=True)
        if any(low is None or self.sign(low) <= 0 for low in lows):
            return None, None
        return self.times_fixed(_product(lows), _product(highs), fixed)

    def times_fixed(self, lo: Expr | None, hi: Expr | None, fixed: list[Expr]) -> Ends:
        """Return the ends of x * fixed, from those of x."""
        if not fixed:
            return lo, hi
        rest = monomial(fixed)
        low, high = (None if end is None else E.Mul(_index(end), rest) for end in (lo, hi))
        sign = self.sign(rest)
        if sign:
            return (low, high) if sign > 0 else (high, low)
        return (None, None) if low is None or high is None else (E.Min(low, high), E.Max(low, high))

    def sign(self, value: Expr) -> int:
        """Return 1 when value >= 0 is proved, -1 when value <= 0 is, else 0."""
        zero = number(0, value.dtype)
        if can_prove(E.Le(zero, value), self.facts):
            return 1
        return -1 if can_prove(E.Le(value, zero), self.facts) else 0

    def divisor_sign(self, ends: Ends) -> int:
        """Return the sign of a divisor that does not move, 0 when it moves or is unknown."""
        lo, hi = ends
        return self.sign(lo) if lo is not None and lo is hi else 0

    def quotient(self, node: E.FloorDiv | E.TruncDiv, top: Ends, bottom: Ends) -> Ends:
        """Return the ends of a division: it is monotone in its numerator where the divisor does not move."""
        sign = self.divisor_sign(bottom)
        if sign == 0 or bottom[0] is None:
            return self.shrinking_quotient(top, bottom)
        divisor = _index(bottom[0])
        low, high = (None if end is None else type(node)(_index(end), divisor) for end in top)
        return (low, high) if sign > 0 else (high, low)

    def shrinking_quotient(self, top: Ends, bottom: Ends) -> Ends:
        """Return the ends of a // b where both move, a >= 0 and b > 0."""
        (lo, hi), (small, large) = top, bottom
        if (
            lo is None
            or small is None
            or self.sign(lo) <= 0
            or not can_prove(E.Lt(number(0, small.dtype), small), self.facts)
        ):
            return None, None
        low = number(0, INDEX) if large is None else E.FloorDiv(_index(lo), _index(large))
        return low, None if hi is None else E.FloorDiv(_index(hi), _index(small))

    def remainder(self, _: Expr, top: Ends, bottom: Ends) -> Ends:
        """Return [lo % d, hi % d] where lo and hi have one quotient, else [0, d - 1], for d > 0."""
        if self.divisor_sign(bottom) <= 0 or bottom[0] is None:
            return None, None
        divisor = _index(bottom[0])
        lo, hi = top
        if lo is not None and hi is not None:
            first, last = (simplify(E.FloorDiv(_index(end), divisor), self.facts) for end in top if end is not None)
            if first is last:
                return E.FloorMod(_index(lo), divisor), E.FloorMod(_index(hi), divisor)
        return number(0, INDEX), E.Sub(divisor, number(1, INDEX))

    def cast(self, node: E.Cast, value: Ends) -> Ends:
        """Return the ends of what is cast, where both fit the type."""
        lo, hi = value
        if lo is None or hi is None or not node.value.dtype.is_integer:
            return None, None
        ends = Interval(interval(simplify(lo, self.facts)).lo, interval(simplify(hi, self.facts)).hi)
        return value if ends.within(type_range(node.dtype)) else (None, None)

    def choice(self, _: Expr, condition: Ends, yes: Ends, no: Ends) -> Ends:
        """Return the ends of either side: chosen by the condition where it does not move."""
        test = condition[0] if condition[0] is condition[1] else None
        return _either(test, yes[0], no[0], E.Min), _either(test, yes[1], no[1], E.Max)


def _form(node: Expr) -> Affine | None:
    """Return the affine form of a node that has parts in it; None for a term."""
    if not node.dtype.is_integer or may_wrap(node):
        return None
    form = affine(node)
    return None if node in form.terms and not isinstance(node, E.Mul) else form


def _stays(node: Expr, ends: Ends) -> bool:
    return ends[0] is node and ends[1] is node


def _index(value: Expr) -> Expr:
    return value if value.dtype is INDEX else make.cast(INDEX, value)


def _product(values: tuple[Expr | None, ...]) -> Expr | None:
    total: Expr = number(1, INDEX)
    for value in values:
        if value is None:
            return None
        total = make.mul(total, _index(value))
    return total


def _first(ends: Ends, fallback: Ends) -> Ends:
    return ends[0] if ends[0] is not None else fallback[0], ends[1] if ends[1] is not None else fallback[1]


_WIDE = (1 << 31) - 1


def _by_interval(node: Expr) -> Ends:
    """Return constant ends; none that only say that a type of 32 bits holds the value."""
    if not node.dtype.is_integer:
        return None, None
    lo, hi = (None if end is None or abs(end) >= _WIDE else number(end, INDEX) for end in interval(node))
    return lo, hi


def _either(test: Expr | None, yes: Expr | None, no: Expr | None, outer: type[E.Binary]) -> Expr | None:
    if yes is None or no is None or yes is no:
        return yes if yes is no else None
    yes, no = _index(yes), _index(no)
    return outer(yes, no) if test is None or not test.dtype.is_bool else E.Select(test, yes, no)


def _both(one: Expr | None, other: Expr | None, outer: type[E.Binary]) -> Expr | None:
    """Return outer(one, other) where both are known."""
    return None if one is None or other is None else outer(_index(one), _index(other))


def _any(one: Expr | None, other: Expr | None, outer: type[E.Binary]) -> Expr | None:
    """Return outer(one, other), or the one that is known: min(x, y) is at most either."""
    if one is None or other is None:
        return other if one is None else one
    return outer(_index(one), _index(other))


_VERBS: dict[type, Callable[..., Ends]] = {
    E.FloorDiv: _Relaxation.quotient,
    E.TruncDiv: _Relaxation.quotient,
    E.FloorMod: _Relaxation.remainder,
    E.Min: lambda _, node, a, b: (_both(a[0], b[0], E.Min), _any(a[1], b[1], E.Min)),
    E.Max: lambda _, node, a, b: (_any(a[0], b[0], E.Max), _both(a[1], b[1], E.Max)),
    E.Cast: _Relaxation.cast,
    E.Select: _Relaxation.choice,
    E.IfElse: _Relaxation.choice,
}
