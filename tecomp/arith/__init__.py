"""What is true of integers: intervals, affine forms, facts, proofs, simplification, symbolic bounds."""

from __future__ import annotations

from .affine import Affine, affine
from .defined import defined
from .facts import NO_FACTS, Facts
from .interval import Interval, interval
from .modular import Modular, modular
from .region import Region, covers, intersect, intersect_regions, region_covers, union, union_regions
from .relax import bounds_of, constant_lower, constant_upper
from .simplify import can_prove, simplify

__all__ = [
    "NO_FACTS",
    "Affine",
    "Facts",
    "Interval",
    "Modular",
    "Region",
    "affine",
    "bounds_of",
    "can_prove",
    "constant_lower",
    "constant_upper",
    "covers",
    "defined",
    "intersect",
    "intersect_regions",
    "interval",
    "modular",
    "region_covers",
    "simplify",
    "union",
    "union_regions",
]
