"""Index equations solved: for which values of a formula's axes does it read a given element?

    A[i, k] at (r, c)              i = r, k = c
    A[i + k], k in [0, 3), at j    i = j - k where 0 <= j - k < n, for each k
    A[i // 4, i % 4] at (r, c)     i = r * 4 + c
    A[i * 2 + k] at j              i = j // 2 - k', k = k' * 2 + j % 2: only the taps that reach j
    A[B[i]] at j                   for each i, where B[i] == j

All is exact index arithmetic. One equation after the other gives the value of one axis, the one of most values that it
can give; what no equation decides stays free.

One file because the rules change one system of equations together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import NamedTuple

from ...arith import Affine, affine, bounds_of, can_prove, simplify
from ...arith.affine import factors, monomial
from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.axis import Range
from ...ir.node import Expr
from ...ir.subst import substitute
from ...ir.visit import rewrite_expr, walk
from ..reads import operands_first

MANY = 1 << 20
"""What an extent that is not constant counts as."""
ZERO = make.const(0, INDEX)


class Solution(NamedTuple):
    """The values of the axes over the `free` ones that are left, and when there is a solution: all of `conditions`."""

    values: dict[E.Var, Expr]
    free: tuple[E.Var, ...]
    conditions: tuple[Expr, ...]


def solve(index: Sequence[Expr], target: Sequence[Expr], unknowns: Sequence[E.Var]) -> Solution:
    """Return for which values of `unknowns` (axes, with their ranges) all of `index` equal `target`.

    Quotients and remainders are taken apart into digits, unless fewer values are left to try without that.
    """
    pairs = list(zip(index, target, strict=True))
    plain = _System(pairs, unknowns, digits=False).solution()
    if not any(isinstance(node, (E.FloorDiv, E.FloorMod)) for expr in index for node in walk(expr)):
        return plain
    taken_apart = _System(pairs, unknowns, digits=True).solution()
    return min(taken_apart, plain, key=_tries)


def _tries(solution: Solution) -> tuple[int, int]:
    return prod(_count(extent_of(var)) for var in solution.free), len(solution.conditions)


def _count(extent: Expr) -> int:
    return int(extent.value) if isinstance(extent, E.Const) else MANY


def extent_of(var: E.Var) -> Expr:
    """Return the extent of an axis, which has one."""
    assert var.extent is not None
    return var.extent


def least_of(var: E.Var) -> Expr:
    """Return the least value of an axis, which has one."""
    assert var.min is not None
    return var.min


class _System:
    """Equations over unknowns, each with its domain; `values` has the unknowns that are solved."""

    def __init__(self, pairs: Sequence[tuple[Expr, Expr]], unknowns: Sequence[E.Var], digits: bool) -> None:
        self.axes = list(unknowns)
        self.unknown: dict[E.Var, Range] = {var: Range(least_of(var), extent_of(var)) for var in unknowns}
        self.exempt: set[E.Var] = set()
        """Unknowns whose range follows from those of others."""
        self.values: dict[E.Var, Expr] = {}
        self.conditions: dict[E.Var, list[Expr]] = {}
        self.first: list[Expr] = []
        """Conditions that protect the others: that what they divide by is not 0."""
        self.undecided: list[Expr] = []
        self.renamed: dict[E.Var, Expr] = {}
        self.target = [b for _, b in pairs]
        self.equations = [(simplify(a), simplify(b)) for a, b in pairs]
        if digits:
            self._take_apart()
        self._drop_single_values()

    def solution(self) -> Solution:
        """Solve until no equation gives a value, and return what is known then."""
        while self.equations:
            at = min(range(len(self.equations)), key=self._hardness)
            a, b = self.equations.pop(at)
            form = affine(a).plus(affine(b), -1)
            if not self._decide(form):
                self.undecided.append(simplify(make.eq(a, b)))
        free = self._free()
        ordered = [condition for axis in self.axes for condition in self.conditions.get(axis, ())]
        conditions = [simplify(self._now(condition)) for condition in (*self.first, *ordered, *self.undecided)]
        kept = tuple(condition for condition in dict.fromkeys(conditions) if condition is not make.TRUE)
        values = {var: self._now(value) for var, value in self.values.items()}
        return Solution(values | self.renamed, free, kept)

    def _hardness(self, at: int) -> tuple[bool, int]:
        """Equations of one unknown come first, which leave nothing to choose; then those of few combinations."""
        unknowns = self._unknowns(*self.equations[at])
        return len(unknowns) > 1, prod(_count(self.unknown[var].extent) for var in unknowns)

    def _take_apart(self) -> None:
        """Write e // c as q and e % c as r, with e = q * c + r and 0 <= r < c, innermost first."""
        kept: set[Expr] = set()
        while (node := self._division(kept)) is not None:
            digits = self._digits(node)
            if digits is None:
                kept.add(node)
                continue
            quotient, remainder = digits
            one = {E.FloorDiv(node.a, node.b): quotient, E.FloorMod(node.a, node.b): remainder}
            table = dict.fromkeys((E.FloorDiv, E.FloorMod), lambda found, one=one: one.get(found, found))
            self.equations = [(rewrite_expr(a, table), rewrite_expr(b, table)) for a, b in self.equations]
            self.equations.append((node.a, make.add(make.mul(quotient, node.b), remainder)))

    def _division(self, kept: set[Expr]) -> E.FloorDiv | E.FloorMod | None:
        """Return the first division by what is known of what is unknown, None when there is none but `kept`."""
        for node in (node for sides in self.equations for side in sides for node in operands_first(side)):
            if isinstance(node, (E.FloorDiv, E.FloorMod)) and node not in kept and self._unknowns(node.a):
                return node
        return None

    def _digits(self, node: E.FloorDiv | E.FloorMod) -> tuple[E.Var, E.Var] | None:
        """Return new unknowns for the quotient and the remainder, None where the divisor is no number above 0."""
        whole, divisor = node.a, node.b
        positive = can_prove(make.lt(ZERO, divisor)) or (isinstance(divisor, E.Var) and divisor.extent is None)
        lo, hi = bounds_of(whole, self.unknown)
        if not positive or lo is None or hi is None:
            return None
        first = simplify(make.floordiv(lo, divisor))
        count = simplify(make.add(make.sub(make.floordiv(hi, divisor), first), 1))
        quotient = self._new("quotient", Range(first, count))
        remainder = self._new("remainder", Range(ZERO, divisor))
        self.exempt.add(quotient)
        self.equations.append((whole, make.add(make.mul(quotient, divisor), remainder)))
        return quotient, remainder

    def _new(self, name: str, domain: Range, before: E.Var | None = None) -> E.Var:
        var = E.Var(name, INDEX, domain.min, domain.extent)
        self.unknown[var] = domain
        self.axes.insert(len(self.axes) if before is None else self.axes.index(before), var)
        return var

    def _drop_single_values(self) -> None:
        for var, domain in list(self.unknown.items()):
            if isinstance(domain.extent, E.Const) and domain.extent.value == 1:
                self._set(var, domain.min, checked=False)

    def _unknowns(self, *exprs: Expr) -> set[E.Var]:
        return {node for expr in exprs for node in walk(expr) if isinstance(node, E.Var) and node in self.unknown}

    def _decide(self, form: Affine) -> bool:
        """Use form == 0 to give an unknown its value, or to split one; return False where it does neither."""
        below = [var for term in form.terms if not isinstance(term, E.Var) for var in self._unknowns(term)]
        bare = [term for term in form.terms if isinstance(term, E.Var) and term in self.unknown]
        if self._split_by_symbol(form, bare) or (not below and self._split(form, bare, whole=True)):
            return True
        candidates = [var for var in bare if var not in below and not self._bounds_data(var)]
        if not candidates:
            return False
        largest = max(candidates, key=lambda var: _count(self.unknown[var].extent))
        if abs(form.terms[largest]) == 1:
            self._set(largest, form.without(largest).scaled(-form.terms[largest]).expr())
        elif below or not self._split(form, bare, whole=False):
            self._divide(form, largest)
        return True

    def _bounds_data(self, var: E.Var) -> bool:
        """Answer whether data at `var` bounds another unknown: it must not be read at another place than an axis."""
        ends = (end for other, domain in self.unknown.items() if other is not var for end in domain)
        return any(isinstance(node, E.TensorRead) and var in walk(node) for end in ends for node in walk(end))

    def _set(self, var: E.Var, value: Expr, checked: bool = True) -> None:
        """Give an unknown its value, under the condition that the value lies in its domain."""
        domain = self.unknown.pop(var)
        value = simplify(value)
        if checked and var not in self.exempt:
            end = make.add(domain.min, domain.extent)
            self._require(var, make.le(domain.min, value), make.lt(value, end))
        self.values = {known: substitute(old, {var: value}) for known, old in self.values.items()}
        self.values[var] = value
        one = {var: value}
        self.equations = [(simplify(substitute(a, one)), simplify(substitute(b, one))) for a, b in self.equations]
        self.unknown = {other: Range(*(substitute(end, one) for end in ends)) for other, ends in self.unknown.items()}

    def _require(self, var: E.Var, *conditions: Expr) -> None:
        """Note what must hold of the value of an unknown; what the ranges of the others imply is left out."""
        simple = (simplify(condition) for condition in conditions)
        self.conditions.setdefault(var, []).extend(condition for condition in simple if condition is not make.TRUE)

    def _divide(self, form: Affine, var: E.Var) -> None:
        """c * x = rest: x = rest // c where c divides the rest."""
        coefficient = form.terms[var]
        rest = form.without(var).scaled(-1 if coefficient > 0 else 1).expr()
        size = make.const(abs(coefficient), INDEX)
        self._require(var, make.eq(make.floormod(rest, size), ZERO))
        self._set(var, make.floordiv(rest, size))

    def _split(self, form: Affine, bare: Sequence[E.Var], whole: bool) -> bool:
        """Take the last digit from x + g * (...) = rest: x = x' * g + rest % g, where x' + (...) = rest // g.

        Return False unless one unknown has the factor 1 or -1, the others a common one, g; `whole` asks for 0 as x'.
        """
        single = [var for var in bare if abs(form.terms[var]) == 1]
        step = gcd(*(form.terms[var] for var in bare if var not in single))
        if len(single) != 1 or step < 2:
            return False
        digit, size = single[0], make.const(step, INDEX)
        sign, domain = form.terms[digit], self.unknown[digit]
        count = simplify(make.ceildiv(domain.extent, size))
        if whole and _count(count) > 1:
            return False
        rest = Affine({term: c for term, c in form.terms.items() if term not in bare}, form.constant)
        known = make.sub(rest.scaled(-sign).expr(), domain.min)
        higher = self._new(digit.name, Range(ZERO, count), digit)
        others = Affine({var: sign * form.terms[var] // step for var in bare if var is not digit})
        self._set(digit, make.add(make.add(make.mul(higher, size), make.floormod(known, size)), domain.min))
        self.equations.append((make.add(others.expr(), higher), simplify(make.floordiv(known, size))))
        self._drop_single_values()
        return True

    def _split_by_symbol(self, form: Affine, bare: Sequence[E.Var]) -> bool:
        """Take the last digit from x + n * (...) = rest, where n is a size and x < n: x = rest % n."""
        for digit in bare:
            base = self.unknown[digit].extent
            others = [term for term in form.terms if term is not digit and self._unknowns(term)]
            if form.terms[digit] != 1 or isinstance(base, E.Const) or self.unknown[digit].min is not ZERO:
                continue
            if not others or self._unknowns(base) or any(base not in factors(term) for term in others):
                continue
            rest = Affine({t: c for t, c in form.terms.items() if t is not digit and t not in others}, form.constant)
            whole = rest.scaled(-1).expr()
            higher = Affine({}).plus(Affine({_without_factor(term, base): form.terms[term] for term in others}))
            if not self._divides_an_extent(base):
                self.first.append(make.lt(ZERO, base))
            self._set(digit, make.floormod(whole, base), checked=False)
            self.equations.append((higher.expr(), simplify(make.floordiv(whole, base))))
            return True
        return False

    def _divides_an_extent(self, size: Expr) -> bool:
        """Answer whether there are elements to give values for only where `size` is not 0."""
        axes = (axis for axis in self.target if isinstance(axis, E.Var) and axis.extent is not None)
        return any(size in factors(extent_of(axis)) for axis in axes)

    def _free(self) -> tuple[E.Var, ...]:
        """Return the unknowns that are left, with domains that speak of no solved one."""
        free: list[E.Var] = []
        for var in (axis for axis in self.axes if axis in self.unknown):
            first, count = (simplify(substitute(end, self.renamed)) for end in self.unknown[var])
            same = first is var.min and count is var.extent
            free.append(var if same else E.Var(var.name, INDEX, first, count))
            self.renamed[var] = free[-1]
        return tuple(free)

    def _now(self, expr: Expr) -> Expr:
        """Return the expression over what is free."""
        return substitute(substitute(expr, dict(self.values)), self.renamed)


def _without_factor(term: Expr, factor: Expr) -> Expr:
    """Return a product without one of its factors."""
    left = factors(term)
    left.remove(factor)
    return monomial(left) if left else make.const(1, INDEX)
