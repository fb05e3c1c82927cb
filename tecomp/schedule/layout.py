"""How the elements of a tensor lie in memory: each index of memory is a number, whose digits are those of axes.

    lambda i, j: [i // 4, j, i % 4]    ->    [i from the 4s on], [j], [the lowest digit of i, below 4]
    lambda i, j: [i * m + j]           ->    [i, j]: j counts from 0 to m - 1, then i goes up by one

So the map is one to one where each digit of each axis stands in it once, and its inverse are splits and fuses of loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from ..arith import simplify
from ..dtype import INDEX
from ..ir import make
from ..ir.node import Expr

ZERO, ONE = make.const(0, INDEX), make.const(1, INDEX)


class Digit(NamedTuple):
    """(x // low) % extent of the axis x of that number; the highest digit of an axis has no extent: it is the rest."""

    axis: int
    low: int
    extent: int | None

    def length(self, extents: Sequence[Expr]) -> Expr:
        """Return how many values it has, where the axes have these extents."""
        if self.extent is not None:
            return make.index(self.extent)
        return simplify(make.ceildiv(extents[self.axis], self.low))

    def of(self, at: Sequence[Expr]) -> Expr:
        """Return its value at an element."""
        value = make.floordiv(at[self.axis], self.low)
        return value if self.extent is None else make.floormod(value, self.extent)


Number: TypeAlias = tuple[Digit, ...]
"""Digits, the highest first; none is the number 0."""


class Layout(NamedTuple):
    """Where an element lies."""

    numbers: tuple[Number, ...]
    """One for each index that the map gives; together they have each digit of each axis once."""
    dimensions: tuple[Number, ...]
    """One for each dimension of memory: what stands between two separators is one number there."""
    gaps: str = ""
    """Which places no element takes."""

    def shape(self, extents: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the extents of the memory of a tensor of these extents."""
        return tuple(length(number, extents) for number in self.dimensions)

    def place(self, at: Sequence[Expr], extents: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the indices of the element `at` in the memory of a tensor of these extents."""
        return tuple(_value(number, at, extents) for number in self.dimensions)

    def digits(self, axis: int) -> list[Digit]:
        """Return the digits of an axis, the lowest first."""
        return sorted({digit for number in self.numbers for digit in number if digit.axis == axis})


def length(number: Number, extents: Sequence[Expr]) -> Expr:
    """Return how many values a number has."""
    product: Expr = ONE
    for digit in number:
        product = make.mul(product, digit.length(extents))
    return simplify(product)


def _value(number: Number, at: Sequence[Expr], extents: Sequence[Expr]) -> Expr:
    value: Expr = ZERO
    for digit in number:
        value = make.add(make.mul(value, digit.length(extents)), digit.of(at))
    return value
