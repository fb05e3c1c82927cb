"""Small kernels with planted faults, and the same ones without: what each tool has to say of them is known."""

from __future__ import annotations

from . import (
    blocks,
    bounds,
    bounds_elsewhere,
    copies,
    histograms,
    initial,
    pipelines,
    reductions,
    schedules,
    stages,
    tiles,
    warps,
)
from .case import FAULTS, TOOLS, Case

MODULES = (
    copies,
    tiles,
    stages,
    reductions,
    histograms,
    warps,
    pipelines,
    blocks,
    bounds,
    bounds_elsewhere,
    initial,
    schedules,
)
CORPUS: tuple[Case, ...] = tuple(case for module in MODULES for case in module.CASES)
