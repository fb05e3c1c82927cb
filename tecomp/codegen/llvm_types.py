"""Element types as LLVM spells them, in registers and in memory, and numbers as it reads them."""

from __future__ import annotations

import math
import struct
from typing import Final, NamedTuple

from ..dtype import DType

VALUE: Final = {
    "bool": "i1",
    "int8": "i8",
    "uint8": "i8",
    "int16": "i16",
    "uint16": "i16",
    "int32": "i32",
    "uint32": "i32",
    "int64": "i64",
    "uint64": "i64",
    "index": "i64",
    "handle": "ptr",
    "float16": "float",
    "bfloat16": "float",
    "float32": "float",
    "float64": "double",
}
"""In a register. The 16-bit floats are there the float32 of the same value: arithmetic is float32's, then rounded."""

MEMORY: Final = VALUE | {"bool": "i8", "float16": "half", "bfloat16": "i16"}
"""In a buffer."""

SMALL_FLOATS: Final = ("float16", "bfloat16")


class Value(NamedTuple):
    """An operand: its LLVM type and how it is written. As text, both: ``<4 x float> %sum``."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


def lanes_of(type: str) -> int:
    """Return how many elements an LLVM type has: 4 of ``<4 x float>``, 1 of ``float``."""
    return int(type[1:].split(" ", 1)[0]) if type.startswith("<") else 1


def element_of(type: str) -> str:
    """Return ``float`` of ``<4 x float>``."""
    return type[1:-1].split(" x ")[1] if type.startswith("<") else type


def vector(element: str, lanes: int) -> str:
    """Return the type of `lanes` elements; of one lane, the element itself."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def suffix(type: str) -> str:
    """Return how the names of intrinsics spell a type: ``<4 x float>`` is v4f32, ``ptr`` is p0."""
    short = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}
    element = element_of(type)
    text = short.get(element, element)
    return text if lanes_of(type) == 1 else f"v{lanes_of(type)}{text}"


def value_type(dtype: DType) -> str:
    """Return the register type of an expression of `dtype`."""
    return vector(VALUE[dtype.element], dtype.lanes)


def memory_type(dtype: DType) -> str:
    """Return the type `dtype` has in a buffer."""
    return vector(MEMORY[dtype.element], dtype.lanes)


def constant(number: float | bool, type: str) -> Value:
    """Return `number` in every lane of `type`."""
    element = element_of(type)
    text = _float(float(number)) if element in ("half", "float", "double") else _integer(int(number), element)
    return Value(type, text if type == element else f"splat ({element} {text})")


def _integer(number: int, element: str) -> str:
    if element == "i1":
        return "true" if number else "false"
    return str(number)


def _float(number: float) -> str:
    """LLVM takes decimal text only where it is exact, and reads it as a double: so does Python's repr."""
    text = repr(number)
    if not math.isfinite(number):
        return "0x" + struct.pack(">d", math.nan if math.isnan(number) else number).hex().upper()
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + e + exponent
