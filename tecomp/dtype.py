"""Element types: a dtype is its name, so it compares with strings and NumPy accepts it."""

from __future__ import annotations

import re
from typing import Any, Final

import ml_dtypes
import numpy as np

_NAME = re.compile(r"(index|handle|bool|bfloat|float|uint|int)((?:[1-9]\d*)?)(?:x([1-9]\d*))?")
_BITS: Final = {
    "bool": {1},
    "index": {64},
    "handle": {64},
    "int": {8, 16, 32, 64},
    "uint": {8, 16, 32, 64},
    "float": {16, 32, 64},
    "bfloat": {16},
}
_IMPLIED_BITS: Final = {"bool": 1, "index": 64, "handle": 64}
_KNOWN: Final = "bool, int8..int64, uint8..uint64, float16, bfloat16, float32, float64"
_SHORT: Final = {"int": "i", "uint": "u", "float": "f", "bfloat": "bf"}


class DType(str):
    """An element type such as ``float32``, ``bool`` or ``int8x4`` (four lanes).

    ``index`` is the type of loop variables, extents and offsets: an exact integer, never wrapped. It exists only in
    lowered programs, and a back end chooses 32 or 64 bits for it. ``handle`` is the type of an address in memory.
    """

    __slots__ = ("bits", "element", "kind", "lanes")
    kind: str
    bits: int
    lanes: int
    element: DType

    def __new__(cls, name: object) -> DType:
        """Return the one DType of that name; raise ValueError for a name that is no element type."""
        known = _TABLE.get(name)
        return known if known is not None else _parse(name)

    def __reduce__(self) -> tuple[type[DType], tuple[str]]:
        """Pickle by name."""
        return DType, (str(self),)

    def with_lanes(self, lanes: int) -> DType:
        """Return the vector of `lanes` elements of this element type."""
        return self.element if lanes == 1 else DType(f"{self.element}x{lanes}")

    @property
    def is_float(self) -> bool:
        """True for float16, bfloat16, float32 and float64."""
        return self.kind in ("float", "bfloat")

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers and for index."""
        return self.kind in ("int", "uint", "index")

    @property
    def is_bool(self) -> bool:
        """True for bool."""
        return self.kind == "bool"

    @property
    def bytes(self) -> int:
        """Bytes one element takes in memory (bool takes one)."""
        return max(8, self.bits) // 8 * self.lanes

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of one element."""
        if self.kind == "bfloat":
            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype({"index": "int64", "handle": "uint64"}.get(self.kind, str(self.element)))

    @property
    def short(self) -> str:
        """The short name that printed programs use: f32, i64, bf16, bool, index, handle."""
        head = str(self.kind) if self.kind in _IMPLIED_BITS else f"{_SHORT[self.kind]}{self.bits}"
        return head if self.lanes == 1 else f"{head}x{self.lanes}"

    def limits(self) -> tuple[int, int]:
        """Return the least and greatest value of an integer or bool type, or of an address."""
        if self.kind == "int":
            return -(1 << self.bits - 1), (1 << self.bits - 1) - 1
        if self.kind in ("uint", "bool", "handle"):
            return 0, (1 << self.bits) - 1
        raise ValueError(f"{self} has no integer limits")


_TABLE: dict[object, DType] = {}


def _name_of(name: object) -> str:
    if isinstance(name, str):
        return name
    if name is None:  # NumPy would read float64
        raise ValueError(f"no dtype was given; known: {_KNOWN}")
    return np.dtype(name).name  # type: ignore[call-overload]


def _parse(name: object) -> DType:
    text = _name_of(name)
    if text is not name:
        return _TABLE.setdefault(name, DType(text))
    match = _NAME.fullmatch(text)
    kind, bits_text, lanes_text = match.groups() if match else ("", "", "")
    bits = int(bits_text or 0) if kind not in _IMPLIED_BITS else 0 if bits_text else _IMPLIED_BITS[kind]
    lanes = int(lanes_text or 1)
    if bits not in _BITS.get(kind, ()) or lanes_text == "1":
        raise ValueError(f"unknown dtype {text!r}; known: {_KNOWN}")
    dtype = str.__new__(DType, text)
    dtype.kind, dtype.bits, dtype.lanes = kind, bits, lanes
    dtype.element = dtype if lanes == 1 else DType(text[: text.rindex("x")])
    _TABLE[text] = dtype
    return dtype


BOOL: Final = DType("bool")
INT32: Final = DType("int32")
INT64: Final = DType("int64")
FLOAT32: Final = DType("float32")
INDEX: Final = DType("index")
HANDLE: Final = DType("handle")
