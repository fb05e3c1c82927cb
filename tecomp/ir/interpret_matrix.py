"""Matrices of a warp, under the interpreter: one thread does what all of the warp do together.

A fragment holds the elements of each of its matrices row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..dtype import DType
from .expr import Call
from .interpret_foreign import Place
from .interpret_memory import compact
from .matrix import FILL, LOADS, MULTIPLY, STORES, WMMA_SHAPES, Shape, fragments, matrix_size, shape_of
from .stmt import Buffer


class Elements:
    """Memory from an address on, by how many elements further an element lies; every access is checked."""

    def __init__(self, place: Place, shape: Sequence[int], strides: Sequence[int] | None) -> None:
        memory = self.memory = place.memory
        flat = memory.array.ndim != len(shape)
        self.strides = (1,) if flat else tuple(strides or compact(shape))
        indices = place.indices or (0,) * len(self.strides)
        self.start = place.offset + sum(index * step for index, step in zip(indices, self.strides, strict=True))

    def at(self, further: int) -> tuple[int, ...]:
        """Return the indices of an element."""
        left, found = self.start + further, []
        for step in self.strides:
            found.append(left // step)
            left %= step
        return tuple(found)

    def read(self, further: int) -> Any:
        return self.memory.read(*self.at(further))

    def write(self, further: int, value: Any) -> None:
        self.memory.write(*self.at(further), value)


Address = tuple[Place, Sequence[int], Sequence[int] | None]


def matrix_function(call: Call) -> Callable[..., None]:
    """Return what runs a call: a function of its arguments, each address with the extents and strides of its buffer."""
    return _MEANINGS[call.name](call, *fragments(call))


def _fill(call: Call, fragment: Buffer) -> Callable[..., None]:
    size = matrix_size(fragment)

    def run(to: Address, number: int, value: Any) -> None:
        elements = Elements(*to)
        for element in range(size):
            elements.write(number * size + element, value)

    return run


def _load(call: Call, fragment: Buffer) -> Callable[..., None]:
    def run(to: Address, number: int, source: Address, stride: int) -> None:
        elements, memory = Elements(*to), Elements(*source)
        for own, other in _pairs(call, fragment, number, stride):
            elements.write(own, memory.read(other))

    return run


def _store(call: Call, fragment: Buffer) -> Callable[..., None]:
    def run(of: Address, number: int, target: Address, stride: int) -> None:
        elements, memory = Elements(*of), Elements(*target)
        for own, other in _pairs(call, fragment, number, stride):
            memory.write(other, elements.read(own))

    return run


def _pairs(call: Call, fragment: Buffer, number: int, stride: int) -> list[tuple[int, int]]:
    """Return for each element of a matrix how far it lies in the fragment, and in memory."""
    layout = {**LOADS, **STORES}[call.name]
    rows, columns = _matrix(fragment)
    base = number * rows * columns
    return [
        (base + row * columns + column, row * stride + column if layout == "row" else column * stride + row)
        for row in range(rows)
        for column in range(columns)
    ]


def _matrix(fragment: Buffer) -> tuple[int, int]:
    """Return rows and columns of the matrices of a fragment buffer: of its size, in whichever order it was declared."""
    size = matrix_size(fragment)
    extents = tuple(int(extent.value) for extent in fragment.shape[-2:])  # type: ignore[attr-defined]
    shapes = [shape.of(fragment.scope) for shape in WMMA_SHAPES]
    return next((shape for shape in (extents, extents[::-1]) if shape in shapes), (size, 1))


def _multiply(call: Call, d: Buffer, a: Buffer, b: Buffer, c: Buffer) -> Callable[..., None]:
    shape, result = shape_of(a, b, c) or Shape(0, 0, 0), d.dtype

    def run(*operands: Any) -> None:
        to, own = Elements(*operands[0]), operands[1] * shape.m * shape.n
        values = [
            _values(Elements(*operands[2 * n]), operands[2 * n + 1], shape.of(buffer.scope), result)
            for n, buffer in ((1, a), (2, b), (3, c))
        ]
        for element, value in enumerate((values[0] @ values[1] + values[2]).ravel()):
            to.write(own + element, value if result.is_float else int(value))

    return run


def _values(elements: Elements, number: int, extents: tuple[int, int], result: DType) -> np.ndarray:
    """Return a matrix as an array in the type that the sums are formed in."""
    size = extents[0] * extents[1]
    kind = np.dtype("float32") if result.is_float else result.numpy
    return np.array([elements.read(number * size + n) for n in range(size)]).astype(kind).reshape(extents)


_MEANINGS: Final[dict[str, Callable[..., Callable[..., None]]]] = {
    FILL: _fill,
    MULTIPLY: _multiply,
    **dict.fromkeys(LOADS, _load),
    **dict.fromkeys(STORES, _store),
}
