"""Targets: what a program is built for, and what that hardware allows.

tecomp.build(s, args, target="cuda -arch=sm_90a")
with tecomp.target.Target("llvm -mcpu=x86-64-v3"):
    tecomp.build(s, args)
"""

from __future__ import annotations

from ..absent import absent as _absent
from .device import present_arch
from .limits import CUDA_LIMITS, Limits
from .target import Target, cuda, llvm

__all__ = ["CUDA_LIMITS", "Limits", "Target", "cuda", "llvm", "present_arch"]


def __getattr__(name: str) -> object:
    raise _absent(__name__, name)
