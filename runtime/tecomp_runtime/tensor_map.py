"""What a GPU must be told of a tensor before one instruction copies boxes of it: encoded by the driver, kept here."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Final

from .arrays import ITEM_BYTES
from .errors import LaunchError

BYTES: Final = 128
TYPES: Final = {
    "uint8": 0,
    "int8": 0,
    "uint16": 1,
    "int16": 1,
    "uint32": 2,
    "int32": 3,
    "uint64": 4,
    "int64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
}
"""The driver's number of each type; bytes are copied, so that a sign makes no difference."""
SWIZZLES: Final = {0: 0, 32: 1, 64: 2, 128: 3}
"""The driver's number of each swizzle."""
_ALIGN, _MAP_ALIGN = 16, 64
_MOST_STRIDE: Final = 1 << 40
_MOST_EXTENT: Final = 1 << 32
_L2_128_BYTES: Final = 2

Numbers = tuple[int, ...]


@functools.lru_cache(maxsize=1024)
def tensor_map(pointer: int, dtype: str, extents: Numbers, strides: Numbers, box: Numbers, swizzle: int) -> bytes:
    """Return the map of a tensor at `pointer`, as a kernel takes it.

    extents, strides in bytes, box   innermost first; LaunchError for what no map can describe
    """
    check(pointer, dtype, extents, strides)
    rank = len(extents)
    memory = (ctypes.c_uint8 * (BYTES + _MAP_ALIGN))()
    start = -ctypes.addressof(memory) % _MAP_ALIGN
    wide, short = ctypes.c_uint64 * rank, ctypes.c_uint32 * rank
    status = _encode()(
        ctypes.c_void_p(ctypes.addressof(memory) + start),
        TYPES[dtype],
        rank,
        ctypes.c_void_p(pointer),
        wide(*extents),
        (ctypes.c_uint64 * max(rank - 1, 1))(*strides[1:]),
        short(*box),
        short(*(1,) * rank),
        0,
        SWIZZLES[swizzle],
        _L2_128_BYTES,
        0,
    )
    if status:
        asked = f"a tensor of {extents} in boxes of {box} with swizzle {swizzle}"
        raise LaunchError(f"{asked} cannot be copied so", f"the driver refused it with error {status}")
    return bytes(memory[start : start + BYTES])


def check(pointer: int, dtype: str, extents: Numbers, strides: Numbers) -> None:
    """Raise LaunchError for a tensor that no map can describe."""
    asked = f"a tensor of shape {extents[::-1]} cannot be copied by boxes"
    if pointer % _ALIGN:
        raise LaunchError(asked, f"it begins at address {pointer}, no multiple of {_ALIGN}", "a copy of it")
    if strides[0] != ITEM_BYTES[dtype]:
        raise LaunchError(asked, f"its innermost elements are {strides[0]} bytes apart", "a copy of it")
    wrong = next((step for step in strides[1:] if step % _ALIGN or not 0 <= step < _MOST_STRIDE), None)
    if wrong is not None:
        legal = f"rows at multiples of {_ALIGN} bytes: another extent, or padding"
        raise LaunchError(asked, f"its rows are {wrong} bytes apart", legal)
    if any(not 0 < extent <= _MOST_EXTENT for extent in extents):
        raise LaunchError(asked, f"its extents must be 1 to {_MOST_EXTENT}", "a tensor that is not empty")


@functools.cache
def _encode() -> Any:
    """Return the driver's function."""
    function = ctypes.CDLL("libcuda.so.1").cuTensorMapEncodeTiled
    address, number = ctypes.c_void_p, ctypes.c_uint32
    function.argtypes = [address, number, number, *[address] * 5, *[number] * 4]
    function.restype = ctypes.c_int
    return function
