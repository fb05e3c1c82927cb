"""One kernel on one device: its arguments packed, its extents checked, its launch."""

from __future__ import annotations

import math
import struct
import threading
from typing import Any, Final

import numpy as np

from .errors import LaunchError

_CODES: Final = {
    "pointer": "P",
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float16": "e",
    "bfloat16": "2xe",
    "float32": "f",
    "float64": "d",
}
"""How `struct` packs each type of argument."""

_SHARED_WITHOUT_ASKING: Final = 48 * 1024
_AXES: Final = ("x", "y", "z")


class Packing:
    """The arguments of a kernel as a launch takes them: an array of addresses, each of one argument's bytes.

    The bytes stand in one buffer that every launch fills anew; the driver copies them before a launch returns.
    """

    def __init__(self, types: list[str]) -> None:
        self._struct = struct.Struct("@" + "".join(_CODES[type] for type in types))
        self._bytes = np.zeros(max(self._struct.size, 1), np.uint8)
        ends = [struct.calcsize("@" + "".join(_CODES[type] for type in types[: n + 1])) for n in range(len(types))]
        starts = [end - struct.calcsize("@" + _CODES[type]) for end, type in zip(ends, types, strict=True)]
        self._addresses = np.array(starts or [0], np.uint64) + np.uint64(self._bytes.ctypes.data)
        self.pointer: int = self._addresses.ctypes.data
        self._bfloats = [position for position, type in enumerate(types) if type == "bfloat16"]

    def fill(self, operands: tuple[Any, ...]) -> None:
        """Put the values of one launch in place."""
        self._struct.pack_into(self._bytes, 0, *operands)
"""
"""
