"""Calling functions built for a CPU."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from .arguments import Arguments
from .elf import Loaded
from .errors import LaunchError, OutOfMemoryError
from .jit import Jitted
from .libraries import NOTHING, cpu_flags, tiles_granted
from .native import callable_of, definition
from .packed import FUNCTIONS, PackedCalls

_C_TYPES: Final = {
    "bool": ctypes.c_uint8,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float16": ctypes.c_float,
    "bfloat16": ctypes.c_float,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
"""How a scalar is passed: the 16-bit floats as the float of the same value."""

_main_process: Final = os.getpid()


def loader() -> type[Loaded | Jitted]:
    """Return what loads object code on this machine."""
    return Loaded if platform.machine().lower() in ("x86_64", "amd64") else Jitted


class CpuFunction:
    """A function in this process's memory, called with arrays and numbers."""

    def __init__(self, artifact: Any, functions: Mapping[str, Callable[..., Any]] = FUNCTIONS) -> None:
        self.arguments = Arguments(artifact.signature, "cpu")
        self._packed = PackedCalls(artifact, functions) if artifact.packed else None
        self._code = loader()(artifact.binary, self._packed.symbols if self._packed else NOTHING)
        symbol, *way_in = artifact.kernels
        if symbol not in self._code.functions:
            raise LaunchError(f"{artifact.name} cannot be loaded", because=f"its object code has no symbol {symbol!r}")
        self._way_in = definition(artifact.name, self._code.functions[way_in[0]]) if way_in else None
        types = [
            ctypes.c_void_p if param["kind"] == "buffer" else _C_TYPES[param["dtype"]]
            for param in artifact.signature["params"]
        ]
        sizes = [ctypes.c_int64] * len(artifact.signature["sizes"])
        flags = cpu_flags()
        self._missing = [flag for flag in artifact.requires if flags and flag not in flags]
        if "amx_tile" in artifact.requires and not self._missing and not tiles_granted():
            raise LaunchError(
                f"{artifact.name} cannot be loaded",
                "the kernel grants this process no tiles (arch_prctl)",
                "Linux 5.16",
            )
        self._call = ctypes.CFUNCTYPE(ctypes.c_int, *types, *sizes)(self._code.functions[symbol])

    def quick(self, fallback: Callable[..., None]) -> Callable[..., None]:
        """Return what a user calls: the code's own way in, which leaves to `fallback` what it cannot run itself.

        Where there is none, that is `fallback`.
        """
        if self._way_in is None or self._missing:
            return fallback
        return callable_of(self._way_in, fallback, self)

    def __call__(self, *args: Any) -> None:
        """Check the arguments and run; the outputs among them are written. LaunchError where the CPU is another."""
        if self._missing:
            because = f"it is built for a CPU with {' '.join(self._missing)}, which this one lacks"
            raise LaunchError(f"{self.arguments.name} cannot run here", because, 'target="llvm -mcpu=x86-64-v3"')
        values, alive = self.arguments.bind(args)
        failed = self._call(*values) if os.getpid() == _main_process else _in_new_thread(self._call, values)
        del alive
        if failed:
            error = self._packed.raised(failed) if self._packed else None
            raise error or OutOfMemoryError(f"{self.arguments.name}: no memory for its temporaries")


def _in_new_thread(call: Callable[..., int], values: list[Any]) -> int:
    """Run in a new thread: in a forked process, an OpenMP runtime waits forever for helpers of the thread it had."""
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(call(*values)))
    thread.start()
    thread.join()
    return results[0]
