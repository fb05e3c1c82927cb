"""The functions that compiled code calls: C's mathematics, glibc's vectors of it, an OpenMP runtime."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from typing import Final

from . import threads
from .errors import LaunchError

OPENMP = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so", "libomp.dylib")
"""Runtimes that have GOMP_parallel, the preferred first."""

_ARCH_PRCTL: Final = 158
_REQUEST_PERMISSION: Final = 0x1023
_TILE_DATA: Final = 18
"""The system call of x86-64 that asks for a part of the CPU's state, and the part that is the tiles of AMX."""

NOTHING: Final[Mapping[str, int]] = {}
"""No functions."""


@cache
def library(*names: str) -> ctypes.CDLL | None:
    """Return the first of the shared libraries that is present."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def mathematics() -> ctypes.CDLL | None:
    """Return C's library of mathematical functions."""
    return library("libm.so.6", "libm.so")


@cache
def address(symbol: str) -> int:
    """Return where a function that compiled code calls is; LaunchError where nothing here has it."""
    if symbol.startswith(("GOMP_", "omp_")):
        team = library(*OPENMP)
        return _find(team, symbol) if team is not None else threads.address(symbol)
    for candidate in (mathematics(), library("libmvec.so.1"), ctypes.CDLL(None)):
        if candidate is not None and hasattr(candidate, symbol):
            return _find(candidate, symbol)
    raise LaunchError(
        f"no library here has {symbol!r}", because="neither the C library nor anything else in this process has it"
    )


@cache
def cpu_flags() -> frozenset[str]:
    """Return what this CPU has, as Linux names it; nothing where the system does not tell."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return frozenset()
    return frozenset(flags.partition(":")[2].split())


@cache
def tiles_granted() -> bool:
    """Ask Linux once to let this process use the tiles of AMX, whose registers it saves only for who asked; return
    whether it does."""
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.syscall(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0)


def _find(source: ctypes.CDLL, symbol: str) -> int:
    return ctypes.cast(getattr(source, symbol), ctypes.c_void_p).value or 0
