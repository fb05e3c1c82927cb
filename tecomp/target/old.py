"""Targets: what a program is built for, and what that hardware allows."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Final, Self

from .errors import UserError, UserTypeError

_KIB: Final = 1024
_DEFAULT_ARCH: Final = "sm_80"
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
"""Numbers of cuDeviceGetAttribute."""


@dataclass(frozen=True)
class Limits:
    """What one kernel launch may ask of a GPU: thread counts, grid extents, bytes."""

    shared_optin: int
    """Shared memory a block may have when it asks for it, in bytes."""
    threads_per_block: int = 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    shared_static: int = 48 * _KIB
    """Shared memory a block may have without asking, in bytes."""
    parameters: int = 32764
    """Bytes of kernel arguments (drivers before CUDA 12.1 took 4096)."""
    warp: int = 32


CUDA_LIMITS: Final = {
    "sm_75": Limits(64 * _KIB),
    "sm_80": Limits(163 * _KIB),
    "sm_86": Limits(99 * _KIB),
    "sm_87": Limits(163 * _KIB),
    "sm_89": Limits(99 * _KIB),
    "sm_90": Limits(227 * _KIB),
    "sm_90a": Limits(227 * _KIB),
    "sm_100": Limits(227 * _KIB),
    "sm_100a": Limits(227 * _KIB),
    "sm_103": Limits(227 * _KIB),
    "sm_103a": Limits(227 * _KIB),
    "sm_110": Limits(227 * _KIB),
    "sm_120": Limits(99 * _KIB),
    "sm_120a": Limits(99 * _KIB),
    "sm_121": Limits(99 * _KIB),
}
"""The architectures code can be generated for, with the limits of their compute capability."""

_OPTIONS: Final = {"llvm": "mcpu", "cuda": "arch"}
_KNOWN: Final = '"llvm", "llvm -mcpu=NAME", "cuda", "cuda -arch=sm_90a"'


@dataclass(frozen=True)
class Target:
    """What to build for. `str(target)` is the text that `Target.of` reads back."""

    kind: str
    """llvm or cuda."""
    arch: str = ""
    """The exact GPU architecture, such as sm_90a; empty for llvm."""
    mcpu: str = ""
    """The CPU as LLVM names it; empty for the present one."""

    @classmethod
    def of(cls, spec: str | Target) -> Self:
        """Return the target that `spec` names: "llvm", "llvm -mcpu=NAME", "cuda", "cuda -arch=sm_90a", or a Target.

        "cuda" alone is the architecture of the first visible device (sm_90a for capability 9.0), and sm_80 where there
        is no device. Raises UserError for anything else, with what is known.
        """
        if isinstance(spec, cls):
            return spec
        if not isinstance(spec, str):
            raise UserTypeError(f"{spec!r} is no target", because=f"its type is {type(spec).__name__}", legal=_KNOWN)
        kind, *options = spec.split() or [""]
        if kind not in _OPTIONS:
            raise UserError(f"unknown target {spec!r}", because=f"there is no target kind {kind!r}", legal=_KNOWN)
        given = dict(_option(spec, kind, option) for option in options)
        if kind == "llvm":
            return cls(kind, mcpu=given.get("mcpu", ""))
        arch = given.get("arch") or present_arch() or _DEFAULT_ARCH
        if arch not in CUDA_LIMITS:
            known = list(CUDA_LIMITS)
            raise UserError(f"unknown target {spec!r}", because=f"there is no architecture {arch!r}", legal=known)
        return cls(kind, arch=arch)

    @property
    def limits(self) -> Limits:
        """What the GPU allows; UserTypeError for a CPU."""
        if self.kind != "cuda":
            raise UserTypeError(f"the target {self} has no launch limits", because="it is no GPU")
        return CUDA_LIMITS[self.arch]

    def __str__(self) -> str:
        name = _OPTIONS[self.kind]
        value = str(getattr(self, name))
        return f"{self.kind} -{name}={value}" if value else self.kind


def _option(spec: str, kind: str, option: str) -> tuple[str, str]:
    """Split "-arch=sm_90a" into its name and value."""
    name, equals, value = option.lstrip("-").partition("=")
    if not option.startswith("-") or not equals or not value or name != _OPTIONS[kind]:
        raise UserError(
            f"unknown target {spec!r}", because=f"{kind} has no option {option!r}", legal=f"-{_OPTIONS[kind]}=NAME"
        )
    return name, value


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
