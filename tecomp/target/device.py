"""The GPU of this machine, as its driver tells."""

from __future__ import annotations

import ctypes
from typing import Final

_CAPABILITY_MAJOR: Final = 75
_CAPABILITY_MINOR: Final = 76
"""Numbers of cuDeviceGetAttribute."""


def present_arch() -> str | None:
    """Return the architecture of the first visible GPU; None without a driver, a device, or where it is not known.

    Asks the driver library itself, so that no GPU package is loaded for it.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    failed = (
        driver.cuInit(0)
        or driver.cuDeviceGet(ctypes.byref(device), 0)
        or driver.cuDeviceGetAttribute(ctypes.byref(major), _CAPABILITY_MAJOR, device)
        or driver.cuDeviceGetAttribute(ctypes.byref(minor), _CAPABILITY_MINOR, device)
    )
    if failed:
        return None
    arch = f"sm_{major.value}{minor.value}"
    return "sm_90a" if arch == "sm_90" else arch
