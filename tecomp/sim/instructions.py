"""What each call of a kernel does, by its name: the column of the tables of instructions that is NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..instructions import MATRIX_ROWS, ROWS
from ..instructions.exchange_numpy import ATOMICS_NUMPY
from ..instructions.fragments import FRAGMENT_ROWS
from ..instructions.sync_numpy import BETWEEN_WARPS, WAITING
from ..ir import expr as E

MEANINGS: Final[dict[str, Callable[..., Any]]] = {
    **{name: row.numpy for name, row in ROWS.items()},
    **{name: row.numpy for name, row in MATRIX_ROWS.items()},
    **ATOMICS_NUMPY,
    **{name: row.numpy for name, row in FRAGMENT_ROWS.items()},
}
"""By the name of the call."""


def meaning(call: E.Call) -> Callable[..., Any]:
    """Return what an instruction does."""
    return MEANINGS[call.name]


__all__ = ["BETWEEN_WARPS", "MEANINGS", "WAITING", "meaning"]
