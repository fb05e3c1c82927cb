"""What one launch may ask of each GPU architecture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_KIB: Final = 1024
WARP: Final = 32
"""Threads of a warp, on every GPU."""


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
    warp: int = WARP


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
