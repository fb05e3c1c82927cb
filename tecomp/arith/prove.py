"""Proofs that an integer is at least something: the lowest value of an affine form, found by replacing its terms.

Each step replaces one term by something the term is at least (at most, where its coefficient is negative), so the form
only falls; when what is left has a lower bound, that bounds the first form. Inner variables go first, because the ranges
of inner loops speak of outer ones. `scale` counts what the form was multiplied by to keep coefficients whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd

from ..ir import expr as E
from ..ir.node import Expr
from .affine import Affine, affine, factors, monomial, times
from .facts import Facts, congruent
from .interval import interval

DEPTH, BUDGET = 16, 32
"""Steps in one chain of replacements, and forms looked at in one search."""

Branch = tuple[Affine, int, Facts]
"""A form to bound, what it was multiplied by in this step, and the facts that hold there."""
Bound = tuple[Affine, int]
"""(form, divisor): a term times divisor is at least (at most) form."""


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
        for known in facts.inequalities:
            yield from _subtract(form, known, facts)
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
        for given, left in _with_divisor(atom, rest):
            sign = _sign(left, facts)
            if sign == 0:
                continue
            for bounds in _bounds(atom, given, coefficient * sign < 0, facts):
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


def _with_divisor(atom: Expr, rest: list[Expr]) -> Iterator[tuple[Expr | None, list[Expr]]]:
    """Yield (divisor, other factors) where (a // divisor) * divisor stands, then (None, rest)."""
    if isinstance(atom, E.FloorDiv) and any(part is atom.b for part in rest):
        yield atom.b, _remove(rest, atom.b)
    yield None, rest


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


Bounds = Iterator[list[tuple[Bound, Facts]]]


def _bounds(atom: Expr, divisor: Expr | None, upper: bool, facts: Facts) -> Bounds:
    """Yield what bounds `atom` (times divisor, where given); all bounds of one item must be followed."""
    verb = _BOUNDS.get(type(atom))
    if verb is None:
        return
    if divisor is not None:
        yield from _times_divisor(atom, upper, facts)
        return
    yield from verb(atom, upper, facts)


def _one(form: Affine, facts: Facts, divisor: int = 1) -> list[tuple[Bound, Facts]]:
    return [((form, divisor), facts)]


def _times_divisor(atom: Expr, upper: bool, facts: Facts) -> Bounds:
    """(a // b) * b lies in [a - b + 1, a] for b > 0."""
    assert isinstance(atom, E.FloorDiv)
    if not _positive(atom.b, facts):
        return
    form = affine(atom.a)
    yield _one(form if upper else form.plus(affine(atom.b), -1).shifted(1), facts)


def _positive(value: Expr, facts: Facts) -> bool:
    low = facts.interval(affine(value)).lo
    return low is not None and low >= 1


def _var(atom: E.Var, upper: bool, facts: Facts) -> Bounds:
    if atom.min is None or (upper and atom.extent is None):
        return
    first = affine(atom.min)
    if upper and atom.extent is not None:
        first = first.plus(affine(atom.extent)).shifted(-1)
    yield _one(first, facts)


def _floordiv(atom: E.FloorDiv, upper: bool, facts: Facts) -> Bounds:
    divisor = affine(atom.b)
    if not divisor.terms and divisor.constant > 0:
        slack = 0 if upper else divisor.constant - 1
        yield _one(affine(atom.a).shifted(-slack), facts, divisor.constant)
    elif upper and _positive(atom.b, facts) and interval(atom.a).lo is not None:
        low = facts.interval(affine(atom.a)).lo
        if low is not None and low >= 0:
            yield _one(affine(atom.a), facts)


def _floormod(atom: E.FloorMod, upper: bool, facts: Facts) -> Bounds:
    """a % b lies in [0, b - 1] for b > 0, and is a - b * (a // b)."""
    divisor = affine(atom.b)
    if _positive(atom.b, facts):
        yield _one(divisor.shifted(-1) if upper else Affine({}), facts)
    whole = times(divisor, Affine({E.FloorDiv(atom.a, atom.b): 1}))
    if whole is not None:
        yield _one(affine(atom.a).plus(whole, -1), facts)


def _least(atom: E.Min | E.Max, upper: bool, facts: Facts) -> Bounds:
    forms = [affine(atom.a), affine(atom.b)]
    if upper == isinstance(atom, E.Min):
        yield from (_one(form, facts) for form in forms)
    else:
        yield [((form, 1), facts) for form in forms]


def _choice(atom: E.Select | E.IfElse, _upper: bool, facts: Facts) -> Bounds:
    turned = E.Not(atom.condition)
    yield [((affine(atom.yes), 1), facts.assume(atom.condition)), ((affine(atom.no), 1), facts.assume(turned))]


_BOUNDS: dict[type, Callable[..., Bounds]] = {
    E.Var: _var,
    E.FloorDiv: _floordiv,
    E.FloorMod: _floormod,
    E.Min: _least,
    E.Max: _least,
    E.Select: _choice,
    E.IfElse: _choice,
}


def proves(condition: Expr, facts: Facts) -> bool:
    """Return whether `condition` was proved to hold (in every lane); False says nothing."""
    known = facts.proofs.get(condition)
    if known is None:
        known = facts.proofs[condition] = _proves(condition, facts)
    return known


def _proves(condition: Expr, facts: Facts) -> bool:
    stack, answer = [condition], True
    while stack and answer:
        node = stack.pop()
        if isinstance(node, E.And):
            stack += [node.b, node.a]
        else:
            answer = _proves_one(node, facts)
    return answer


def _proves_one(node: Expr, facts: Facts) -> bool:
    if interval(node).value == 1 or facts.truths.get(node):
        return True
    verb = _PROOFS.get(type(node))
    if verb is not None and node.a.dtype.is_integer:  # type: ignore[attr-defined]
        return verb(affine(node.b).plus(affine(node.a), -1), facts)  # type: ignore[attr-defined]
    if isinstance(node, E.Broadcast):
        return proves(node.value, facts)
    return isinstance(node, E.Or) and any(proves(part, facts) for part in alternatives(node))


def alternatives(node: Expr) -> list[Expr]:
    """Return what a chain of ors joins, in order."""
    found: list[Expr] = []
    stack = [node]
    while stack:
        at = stack.pop()
        if isinstance(at, E.Or):
            stack += [at.b, at.a]
        else:
            found.append(at)
    return found


def _differ(difference: Affine, facts: Facts) -> bool:
    """0 is no value of the difference: one side is greater, or the remainder by some divisor is not 0."""
    if proves_nonnegative(difference.shifted(-1), facts) or proves_nonnegative(
        difference.scaled(-1).shifted(-1), facts
    ):
        return True
    divisors = [difference.content(), *(step for _, step in facts.congruences)]
    return any(divisor > 1 and congruent(difference, divisor, facts) not in (0, None) for divisor in divisors)


def _equal(difference: Affine, facts: Facts) -> bool:
    return proves_nonnegative(difference, facts) and proves_nonnegative(difference.scaled(-1), facts)


_PROOFS: dict[type, Callable[[Affine, Facts], bool]] = {
    E.Lt: lambda difference, facts: proves_nonnegative(difference.shifted(-1), facts),
    E.Le: proves_nonnegative,
    E.Eq: _equal,
    E.Ne: _differ,
}
