"""The instructions of a GPU that a program may call: what each is in CUDA C++, one table."""

from __future__ import annotations

from typing import Final

from .copies import COPIES
from .exchange import EXCHANGE
from .row import Instruction, preludes
from .sync import SYNC
from .warpgroup import WARPGROUP

ROWS: Final[dict[str, Instruction]] = {**EXCHANGE, **SYNC, **COPIES, **WARPGROUP}
"""Every instruction by the name of its call; what it takes and gives, `ir.instruction` says."""

__all__ = ["COPIES", "EXCHANGE", "ROWS", "SYNC", "WARPGROUP", "Instruction", "preludes"]
