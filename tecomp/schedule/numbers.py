"""Reading the indices that a user's map gives as numbers made of the digits of axes.

i // 4              the digits of i from the 4s on
i * m + j           those of i, then those of j, where j has the extent m
(i * 6 + j) % 12    the digit i % 2, then j, where j has the extent 6
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..arith import can_prove, simplify
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.visit import walk
from .extent import Exact, constant
from .index_map import IndexMap
from .layout import ONE, Digit, Layout, Number, length


class NoDigits(Exception):
    """An expression is no number made of digits; the argument is that expression."""


def layout_of(index_map: IndexMap, shape: Sequence[Expr]) -> Layout:
    """Return the digits of a map of elements of a tensor of that shape; NoDigits where an index is none of them."""
    numbers = _Digits(index_map, shape).numbers()
    dimensions: list[Number] = []
    left = iter(numbers)
    for count in index_map.groups or (1,) * len(numbers):
        dimensions.append(tuple(digit for _ in range(count) for digit in next(left)))
    return Layout(numbers, tuple(dimensions))


class _Digits:
    """Reads the indices of one map as numbers."""

    def __init__(self, index_map: IndexMap, shape: Sequence[Expr]) -> None:
        self.map = index_map
        self.exact = Exact()
        self.extents = [self.exact(extent) for extent in shape]
        self.axes = {parameter: number for number, parameter in enumerate(index_map.parameters)}
        self.readers: dict[type[Expr], Callable[..., Number]] = {
            E.FloorDiv: lambda node: self._cut(node)[0],
            E.TruncDiv: lambda node: self._cut(node)[0],
            E.FloorMod: lambda node: self._cut(node)[1],
            E.TruncMod: lambda node: self._cut(node)[1],
            E.Cast: lambda node: self.number(node.value),
            E.Var: lambda node: (Digit(self.axes[node], 1, None),),
        }

    def numbers(self) -> tuple[Number, ...]:
        """Return the number of each index, the highest digits without the extent that their axis gives."""
        return tuple(tuple(map(self._highest, self.number(index))) for index in self.map.indices)

    def number(self, expr: Expr) -> Number:
        """Return an index as a number."""
        if not self._moves(expr) and can_prove(make.eq(self.exact(expr), 0)):
            return ()
        read = self.readers.get(type(expr), self._sum)
        return read(expr)

    def _highest(self, digit: Digit) -> Digit:
        extent = constant(self.extents[digit.axis])
        rest = extent is not None and digit.extent is not None and digit.low * digit.extent >= extent
        return digit._replace(extent=None) if rest else digit

    def _moves(self, expr: Expr) -> bool:
        return any(node in self.axes for node in _variables(expr))

    def _cut(self, node: E.FloorDiv | E.FloorMod | E.TruncDiv | E.TruncMod) -> tuple[Number, Number]:
        """Return the upper and the lower part of a number, cut where its lower digits make up the divisor."""
        number, divisor = self.number(node.a), constant(node.b)
        if divisor is None or divisor <= 0:
            raise NoDigits(node)
        high, low, left = [*number], list[Digit](), divisor
        while left > 1 and high:
            digit = high.pop()
            size = self._size(digit)
            if size is not None and (left % size == 0 or (not high and size <= left)):
                low.insert(0, digit)
                left = left // size if left % size == 0 else 1
            elif (not high and digit.extent is None) or (size is not None and size % left == 0):
                low.insert(0, Digit(digit.axis, digit.low, left))
                upper = None if digit.extent is None else digit.extent // left
                high.append(Digit(digit.axis, digit.low * left, upper))
                left = 1
            else:
                raise NoDigits(node)
        return tuple(high), tuple(low)

    def _size(self, digit: Digit) -> int | None:
        """Return how many values a digit has, where that is constant; one of an empty axis counts as one value."""
        size = constant(digit.length(self.extents))
        return None if size is None else max(size, 1)

    def _sum(self, expr: Expr) -> Number:
        """Return a sum whose terms count in steps of what the terms below them reach as one number."""
        terms = list(self._terms(expr, ONE))
        if len(terms) == 1 and terms[0][1] is expr:
            raise NoDigits(expr)
        parts = [(step, self.number(term)) for step, term in terms]
        found: Number = ()
        while parts:
            reach = length(found, self.extents)
            fits = next((part for part in parts if can_prove(make.eq(part[0], reach))), None)
            if fits is None:
                raise NoDigits(expr)
            parts.remove(fits)
            found = (*fits[1], *found)
        return found

    def _terms(self, expr: Expr, step: Expr) -> Iterator[tuple[Expr, Expr]]:
        """Yield the terms of a sum, each with what it is multiplied by."""
        if isinstance(expr, E.Add):
            yield from self._terms(expr.a, step)
            yield from self._terms(expr.b, step)
        elif isinstance(expr, E.Mul) and not (self._moves(expr.a) and self._moves(expr.b)):
            moving, other = (expr.a, expr.b) if self._moves(expr.a) else (expr.b, expr.a)
            yield from self._terms(moving, simplify(make.mul(step, self.exact(other))))
        else:
            yield step, expr


def _variables(expr: Expr) -> Iterator[E.Var]:
    return (node for node in walk(expr) if isinstance(node, E.Var))
