"""Matrices of a warp, under the interpreter: one thread does what all of the warp do together.

A fragment holds the elements of each of its matrices row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..dtype import DType
from . import expr as E
from .expr import Call
from .interpret_foreign import Place
from .interpret_memory import compact
from .matrix import MATRIX_CALLS, Instruction, fragments
from .stmt import Buffer

if TYPE_CHECKING:
    from .interpret_expr import Source


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
    instruction = MATRIX_CALLS[call.name]
    return _MEANINGS[instruction.verb](instruction, fragments(call))


def matrix_operands(source: Source, call: Call) -> list[str]:
    """Return the texts of a call's arguments, each address with the extents and strides of its buffer."""
    texts: list[str] = []
    for arg in call.args:
        text = source.value(arg)
        if isinstance(arg, E.Address):
            layout = (arg.buffer.shape, arg.buffer.strides)
            parts = (
                None if part is None else "".join(f"{source.value(extent)}, " for extent in part) for part in layout
            )
            text = f"({', '.join([text, *('None' if part is None else f'({part})' for part in parts)])})"
        texts.append(text)
    return texts


def _fill(instruction: Instruction, buffers: list[Buffer]) -> Callable[..., None]:
    rows, columns = instruction.shape.of(buffers[0].scope)

    def run(to: Address, number: int, value: Any) -> None:
        elements = Elements(*to)
        for element in range(rows * columns):
            elements.write(number * rows * columns + element, value)

    return run


def _load(instruction: Instruction, buffers: list[Buffer]) -> Callable[..., None]:
    def run(to: Address, number: int, source: Address, stride: int) -> None:
        elements, memory = Elements(*to), Elements(*source)
        for own, other in _pairs(instruction, buffers[0], number, stride):
            elements.write(own, memory.read(other))

    return run


def _store(instruction: Instruction, buffers: list[Buffer]) -> Callable[..., None]:
    def run(of: Address, number: int, target: Address, stride: int) -> None:
        elements, memory = Elements(*of), Elements(*target)
        for own, other in _pairs(instruction, buffers[0], number, stride):
            memory.write(other, elements.read(own))

    return run


def _pairs(instruction: Instruction, fragment: Buffer, number: int, stride: int) -> list[tuple[int, int]]:
    """Return for each element of a matrix how far it lies in the fragment, and in memory."""
    rows, columns = instruction.shape.of(fragment.scope)
    down, along = (stride, 1) if instruction.layout == "row" else (1, stride)
    base = number * rows * columns
    return [
        (base + row * columns + column, row * down + column * along) for row in range(rows) for column in range(columns)
    ]


def _multiply(instruction: Instruction, buffers: list[Buffer]) -> Callable[..., None]:
    result = buffers[0].dtype
    shapes = [instruction.shape.of(buffer.scope) for buffer in buffers]

    def run(*operands: Any) -> None:
        elements = [Elements(*operand) for operand in operands[::2]]
        a, b, c = (_values(elements[n], operands[2 * n + 1], shapes[n], result) for n in (1, 2, 3))
        first = operands[1] * shapes[0][0] * shapes[0][1]
        for element, value in enumerate((a @ b + c).ravel()):
            elements[0].write(first + element, value if result.is_float else int(value))

    return run


def _values(elements: Elements, number: int, extents: tuple[int, int], result: DType) -> np.ndarray:
    """Return a matrix as an array in the type that the sums are formed in."""
    size = extents[0] * extents[1]
    kind = np.dtype("float32") if result.is_float else result.numpy
    return np.array([elements.read(number * size + n) for n in range(size)]).astype(kind).reshape(extents)


_MEANINGS: Final[dict[str, Callable[[Instruction, list[Buffer]], Callable[..., None]]]] = {
    "fill": _fill,
    "load": _load,
    "store": _store,
    "mma": _multiply,
}
