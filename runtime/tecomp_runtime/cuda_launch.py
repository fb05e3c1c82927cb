"""One kernel on one device: its arguments packed, its extents checked, its launch."""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .errors import LaunchError

_CODES: Final = {
    "pointer": "P",
    "tensor_map": "128s",
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
    "bfloat16": "H",
    "float32": "f",
    "float64": "d",
}
"""How `struct` packs each type of argument."""

_SHARED_WITHOUT_ASKING: Final = 48 * 1024
_AXES: Final = ("x", "y", "z")

Extents = tuple[int, int, int]


class Packing:
    """The arguments of a kernel as a launch takes them: an array of addresses, each of one argument's bytes.

    The bytes stand in one buffer that every launch fills anew; the driver copies them before a launch returns.
    """

    def __init__(self, types: Sequence[str]) -> None:
        codes = [_CODES[type] for type in types]
        ends = [struct.calcsize("@" + "".join(codes[: n + 1])) for n in range(len(codes))]
        starts = [end - struct.calcsize(f"@{code}") for end, code in zip(ends, codes, strict=True)]
        self._struct = struct.Struct("@" + "".join(codes))
        self._bytes: Any = np.zeros(self._struct.size, np.uint8)
        self._addresses = np.array(starts, np.uint64) + np.uint64(self._bytes.ctypes.data)
        self._bfloats = [position for position, type in enumerate(types) if type == "bfloat16"]
        self.pointer = int(self._addresses.ctypes.data)

    def fill(self, operands: Sequence[Any]) -> None:
        """Put the values of one launch in place."""
        if self._bfloats:
            operands = list(operands)
            for position in self._bfloats:  # the upper half of a float32
                operands[position] = struct.unpack("=I", struct.pack("=f", operands[position]))[0] >> 16
        self._struct.pack_into(self._bytes, 0, *operands)


def check_extents(kernel: str, asked: tuple[Extents, Extents], allowed: tuple[Any, Any]) -> None:
    """Raise LaunchError for a grid and a block of which one is too large along an axis."""
    for word, extents, most in zip(("blockIdx", "threadIdx"), asked, allowed, strict=True):
        for axis, extent, limit in zip(_AXES, extents, most, strict=True):
            if extent > limit:
                because = f"the device allows at most {limit}"
                raise LaunchError(f"{kernel}: an extent of {extent} on {word}.{axis}", because, "smaller arrays")


class Limits:
    """What a device allows, as CuPy tells it."""

    def __init__(self, attributes: dict[str, int]) -> None:
        self.grid = tuple(attributes[f"MaxGridDim{axis.upper()}"] for axis in _AXES)
        self.block = tuple(attributes[f"MaxBlockDim{axis.upper()}"] for axis in _AXES)
        self.shared = attributes["MaxSharedMemoryPerBlockOptin"]
        self.multiprocessors = attributes["MultiProcessorCount"]

    def check(self, kernel: str, grid: Extents, block: Extents, threads: int, registers: int) -> None:
        """Raise LaunchError, with both numbers, where a launch asks for more.

        `threads` is the most in a block: what was compiled for, or what `registers` of each leave room for.
        """
        check_extents(kernel, (grid, block), (self.grid, self.block))
        if math.prod(block) > threads:
            because = f"at most {threads} are allowed, with {registers} registers in each"
            raise LaunchError(f"{kernel}: {math.prod(block)} threads in a block", because)


class LoadedKernel:
    """A kernel that can be launched on one device."""

    def __init__(self, driver: Any, function: Any, info: dict[str, Any], limits: Limits) -> None:
        self._driver, self._function, self._limits = driver, function, limits
        self._name, attribute = info["name"], driver.funcGetAttribute
        self._threads = min(info["threads"], attribute(driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function.ptr))
        self._registers = attribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, function.ptr)
        self._packing = Packing(info["arguments"])
        self._lock = threading.Lock()
        self._checked: set[tuple[Extents, Extents]] = set()
        self._cooperative = info["cooperative"]
        plain, together = (driver.launchKernel, (0,)), (driver.launchCooperativeKernel, ())
        self._start, self._extra = together if self._cooperative else plain
        if info["shared"] > limits.shared:
            because = f"the device allows at most {limits.shared}"
            raise LaunchError(f"{self._name}: {info['shared']} bytes of shared memory", because)
        if info["shared"] > _SHARED_WITHOUT_ASKING:
            most = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            driver.funcSetAttribute(function.ptr, most, info["shared"])

    def launch(self, grid: Extents, block: Extents, shared: int, operands: Sequence[Any], stream: int) -> None:
        """Start it on `stream`; over no blocks or no threads, nothing."""
        if min(grid) <= 0 or min(block) <= 0:
            return
        if (grid, block) not in self._checked:
            self._limits.check(self._name, grid, block, self._threads, self._registers)
            if self._cooperative:
                self._check_together(grid, block, shared)
            self._checked.add((grid, block))
        with self._lock:
            self._packing.fill(operands)
            self._start(self._function.ptr, *grid, *block, shared, stream, self._packing.pointer, *self._extra)

    def _check_together(self, grid: Extents, block: Extents, shared: int) -> None:
        """Raise LaunchError where the blocks, which wait for each other, are more than can run at once."""
        occupancy = self._driver.occupancyMaxActiveBlocksPerMultiprocessor
        each = occupancy(self._function.ptr, math.prod(block), shared)
        most, asked = each * self._limits.multiprocessors, math.prod(grid)
        if asked > most:
            raise LaunchError(
                f"{self._name}: {asked} blocks that wait for each other",
                f"at most {most} run at once: {each} on each of {self._limits.multiprocessors} multiprocessors",
                "fewer or smaller blocks in env_threads",
            )
