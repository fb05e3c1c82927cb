"""Python functions that compiled code calls: found by name, given arrays over its memory, and numbers.

An exception inside one ends the program, and comes out of the call of the built function.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .errors import LaunchError
from .host_array import HostArray

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
"""The functions that artifacts call by name, where no compiler is installed."""

_RECORD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


def register_func(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the name by which artifacts call it."""
    FUNCTIONS[name] = function
    return function


def found(artifact: Any, functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return the functions that `artifact` calls, by name; LaunchError where one is missing."""
    wanted = dict.fromkeys(call["function"] for call in artifact.packed)
    missing = next((name for name in wanted if name not in functions), None)
    if missing is not None:
        raise LaunchError(
            f"{artifact.name} calls the Python function {missing!r}",
            because="no function of that name is registered",
            legal=f'tecomp.register_func("{missing}")(f)',
        )
    return {name: functions[name] for name in wanted}


_KEPT: Final = 256
"""How many exceptions wait for their call to end. Of those of several threads of one call, one is raised."""


class PackedCalls:
    """The calls of one artifact for a CPU. `symbols` are the addresses that its object code is linked with.

    An exception has a number, which compiled code ends with. So programs may run at once, and call each other.
    """

    def __init__(self, artifact: Any, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._raised: dict[int, BaseException] = {}
        known = found(artifact, functions)
        self._callbacks = {
            call["symbol"]: _RECORD(self._entry(known[call["function"]], call["args"])) for call in artifact.packed
        }
        self.symbols = {
            symbol: ctypes.cast(callback, ctypes.c_void_p).value or 0 for symbol, callback in self._callbacks.items()
        }

    def _entry(self, function: Callable[..., Any], args: Sequence[Mapping[str, Any]]) -> Callable[[int], int]:
        """Return what compiled code calls: 0 where the function returned, the number of what it raised."""

        def entry(record: int) -> int:
            try:
                function(*_decoded(record, args))
            except BaseException as error:  # noqa: BLE001 (even a KeyboardInterrupt must not be lost)
                return self._keep(error)
            return 0

        return entry

    def _keep(self, error: BaseException) -> int:
        """Return the number of an exception: 2 or more, as 1 is want of memory."""
        with self._lock:
            number = 2 + next(self._numbers) % (1 << 30)
            self._raised[number] = error
            if len(self._raised) > _KEPT:
                del self._raised[next(iter(self._raised))]
        return number

    def raised(self, status: int) -> BaseException | None:
        """Return the exception with which a program ended that gave this status."""
        with self._lock:
            return self._raised.pop(status, None)


def _decoded(record: int, args: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the arguments that a record of 64-bit words holds."""
    values: list[Any] = []
    for arg in args:
        if arg["kind"] == "scalar":
            values.append(_number(ctypes.string_at(record, 8), arg["dtype"]))
            record += 8
            continue
        rank = arg["rank"]
        count = 1 + rank * (1 + arg["strided"])
        pointer, *layout = struct.unpack(f"={count}q", ctypes.string_at(record, 8 * count))
        values.append(_array(pointer, layout[:rank], layout[rank:], arg))
        record += 8 * count
    return values


def _number(word: bytes, dtype: str) -> Any:
    if "float" in dtype:
        return struct.unpack("=d", word)[0]
    (value,) = struct.unpack("=Q" if dtype.startswith("u") else "=q", word)
    return bool(value) if dtype == "bool" else value


def _array(pointer: int, shape: list[int], steps: list[int], arg: Mapping[str, Any]) -> np.ndarray:
    """Return the array that lies at `pointer`; `steps` count elements, and none are row-major."""
    dtype = element_type(arg["dtype"])
    lanes = (arg["lanes"],) if arg["lanes"] > 1 else ()
    shape = [max(0, extent) for extent in shape]
    size = dtype.itemsize * arg["lanes"]
    strides = tuple(step * size for step in steps) + (dtype.itemsize,) * len(lanes) if steps else None
    if 0 in shape:
        array = np.empty((*shape, *lanes), dtype)
    else:
        array = np.asarray(_Memory(pointer, (*shape, *lanes), strides, dtype)).view(dtype)
    array.flags.writeable = arg["writable"]
    return array.view(HostArray)


class _Memory:
    """Memory of the program, in the way NumPy takes it."""

    def __init__(
        self, pointer: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype[Any]
    ) -> None:
        typestr = dtype.str if dtype.kind != "V" else f"<u{dtype.itemsize}"
        self.__array_interface__ = {
            "version": 3, "data": (pointer, False), "shape": shape, "strides": strides, "typestr": typestr,
        }  # fmt: skip


def element_type(name: str) -> np.dtype[Any]:
    """Return NumPy's type of an element; bfloat16 is that of ml_dtypes."""
    if name == "bfloat16":
        return np.dtype(importlib.import_module("ml_dtypes").bfloat16)
    return np.dtype(name)
