"""Are two formulas one, when the tensors and numbers of the first may be whatever the second has in their place?

The first is an intrinsic's, over its placeholders; the second a stage's, over tensors of the program. Both are written
over the same counters. Operands of + * min max and or == != may stand in either order.

    x[i] * y[i]   and   B[i*2] * A[j, i]      x is a view of B, y of A (or x of A, y of B, if that fails)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ...arith import can_prove, simplify
from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.subst import substitute
from ...ir.visit import walk
from ...te.tensor import Tensor
from .view import View, view_of

_COMMUTATIVE: Final = (E.Add, E.Mul, E.Min, E.Max, E.And, E.Or, E.Eq, E.Ne)
_CHOICES: Final = (E.Select, E.IfElse)


class Found(NamedTuple):
    """What the intrinsic's placeholders and numbers are, so far; `size` counts the nodes compared."""

    views: Mapping[Tensor, View]
    numbers: Mapping[E.Var, Expr]
    size: int = 0


class Difference(NamedTuple):
    """The first node at which the formulas part, in the attempt that came furthest."""

    stage: Expr
    intrinsic: Expr
    why: str
    size: int


class Unifier:
    """Compares formulas over `counters`; `numbers` are the intrinsic's variables that may be any one value."""

    def __init__(self, counters: frozenset[E.Var]) -> None:
        self.counters = counters
        self.numbers: frozenset[E.Var] = frozenset()
        self.difference: Difference | None = None

    def unify(self, pattern: Expr, subject: Expr, found: Found) -> Iterator[Found]:
        """Yield each way in which the formulas are one."""
        pattern, subject = _widened(pattern), _widened(subject)
        if subject.dtype is INDEX and isinstance(pattern, E.Cast) and pattern.value in self.numbers:
            pattern = pattern.value  # the conversion is left out where the value is known to fit
        if isinstance(pattern, E.Var) and pattern in self.numbers:
            yield from self.number(pattern, subject, found)
        elif isinstance(pattern, E.TensorRead) and isinstance(subject, E.TensorRead):
            yield from self.read(pattern, subject, found)
        elif pattern is subject or self.same_index(pattern, subject, found):
            yield found._replace(size=found.size + 1)
        elif isinstance(pattern, _CHOICES) and isinstance(subject, _CHOICES):
            yield from self.choice(pattern, subject, found)
        elif not self.alike(pattern, subject):
            self.differ(pattern, subject, found, "")
        else:
            yield from self.operands(pattern.operands(), subject, found)

    def operands(self, patterns: list[Expr], subject: Expr, found: Found) -> Iterator[Found]:
        """Compare operands in order, and for what commutes in the other order."""
        found, others = found._replace(size=found.size + 1), subject.operands()
        yield from self.all(patterns, others, found)
        if isinstance(subject, _COMMUTATIVE):
            yield from self.all(patterns, others[::-1], found)

    def all(self, patterns: list[Expr], subjects: list[Expr], found: Found) -> Iterator[Found]:
        """Yield each way in which all pairs are one."""
        if not patterns:
            yield found
            return
        for one in self.unify(patterns[0], subjects[0], found):
            yield from self.all(patterns[1:], subjects[1:], one)

    def choice(self, pattern: Expr, subject: Expr, found: Found) -> Iterator[Found]:
        """A choice by c is the other way round one by not c."""
        yield from self.operands(pattern.operands(), subject, found)
        condition, yes, no = pattern.operands()
        turned = [simplify(make.logical_not(condition)), no, yes]
        yield from self.all(turned, subject.operands(), found._replace(size=found.size + 1))

    def number(self, pattern: E.Var, subject: Expr, found: Found) -> Iterator[Found]:
        """A number of the intrinsic is one value of its type, everywhere the same."""
        known = found.numbers.get(pattern)
        if pattern.dtype is not subject.dtype:
            self.differ(pattern, subject, found, f"'{pattern.name}' is {pattern.dtype}, that is {subject.dtype}")
        elif any(node in self.counters for node in walk(subject)):
            self.differ(
                pattern, subject, found, f"'{pattern.name}' is one number, that changes from element to element"
            )
        elif known is not None and not _equal(known, subject):
            self.differ(pattern, subject, found, f"'{pattern.name}' is {known!r} elsewhere")
        else:
            yield found._replace(numbers={**found.numbers, pattern: subject}, size=found.size + 1)

    def read(self, pattern: E.TensorRead, subject: E.TensorRead, found: Found) -> Iterator[Found]:
        """A placeholder of the intrinsic is one region of a tensor, everywhere the same."""
        source: Tensor = pattern.tensor
        known = found.views.get(source)
        view = view_of(subject.tensor, subject.indices, pattern.indices, self.counters)
        if pattern.dtype is not subject.dtype:
            self.differ(pattern, subject, found, f"'{source.name}' is {pattern.dtype}, that is {subject.dtype}")
        elif view is None:
            self.differ(
                pattern, subject, found, f"no region of '{subject.tensor.name}' is '{source.name}', element by element"
            )
        elif known is not None and not known.same(view):
            self.differ(pattern, subject, found, f"'{source.name}' is another part of '{known.tensor.name}' elsewhere")
        else:
            yield found._replace(views={**found.views, source: view}, size=found.size + 1)

    def same_index(self, pattern: Expr, subject: Expr, found: Found) -> bool:
        """Return whether both are the same integer."""
        if pattern.dtype is not INDEX or subject.dtype is not INDEX:
            return False
        return _equal(substitute(pattern, found.numbers), subject)

    def alike(self, pattern: Expr, subject: Expr) -> bool:
        """Return whether two nodes are the same operation of the same type."""
        if type(pattern) is not type(subject) or pattern.dtype is not subject.dtype or not pattern.operands():
            return False
        if isinstance(pattern, E.Call) and isinstance(subject, E.Call) and pattern.name != subject.name:
            return False
        return len(pattern.operands()) == len(subject.operands())

    def differ(self, pattern: Expr, subject: Expr, found: Found, why: str) -> None:
        """Note where an attempt ended, if none came further."""
        if self.difference is None or found.size > self.difference.size:
            self.difference = Difference(subject, pattern, why, found.size)


def _equal(a: Expr, b: Expr) -> bool:
    """Return whether two values are known to be equal."""
    if a is b:
        return True
    return a.dtype is b.dtype and a.dtype.is_integer and can_prove(make.eq(a, b))


def _widened(node: Expr) -> Expr:
    """Return a conversion through a type that holds every value as the one conversion that it is."""
    while isinstance(node, E.Cast) and isinstance(node.value, E.Cast) and _holds(node.value):
        node = make.cast(node.dtype, node.value.value)
    return node


def _holds(cast: E.Cast) -> bool:
    """Return whether the type of an integer conversion has all the values of what is converted."""
    wide, narrow = cast.dtype.element, cast.value.dtype.element
    if INDEX in (wide, narrow) or not (wide.is_integer and narrow.is_integer):
        return False
    low, high = narrow.limits()
    least, most = wide.limits()
    return least <= low and high <= most
