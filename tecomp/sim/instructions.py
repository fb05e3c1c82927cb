"""What each call of a kernel does, by its name: one table, made of the tables of instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..instructions.copies_numpy import COPIES_NUMPY
from ..instructions.exchange_numpy import EXCHANGE_NUMPY
from ..instructions.matrix_numpy import MATRIX_NUMPY
from ..instructions.sync_numpy import BETWEEN_WARPS, SYNC_NUMPY, WAITING
from ..instructions.tensor_numpy import TENSOR_NUMPY
from ..instructions.wgmma_numpy import WGMMA_NUMPY
from ..ir import expr as E

MEANINGS: Final[dict[str, Callable[..., Any]]] = {
    **SYNC_NUMPY,
    **EXCHANGE_NUMPY,
    **COPIES_NUMPY,
    **TENSOR_NUMPY,
    **MATRIX_NUMPY,
    **WGMMA_NUMPY,
}


def meaning(call: E.Call) -> Callable[..., Any]:
    """Return what an instruction does."""
    return MEANINGS[call.name]


__all__ = ["BETWEEN_WARPS", "MEANINGS", "WAITING", "meaning"]
