"""CUDA without a GPU: the program that CUDA gets, on NumPy arrays."""

from __future__ import annotations

from .faults import SimulationFault
from .options import options

__all__ = ["SimulationFault", "options"]
