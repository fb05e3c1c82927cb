"""The instructions on fragments of a warp, by name: the device functions that each is in CUDA, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ..ir.matrix import MATRIX_CALLS
from .wmma import functions
from .wmma_numpy import MEANINGS


class FragmentRow(NamedTuple):
    """A row of the table."""

    functions: dict[str, str]
    """The texts of the device functions that a call may be, by name."""
    numpy: Callable[..., None]
    """What it does where there is no GPU."""


FRAGMENT_ROWS: Final[dict[str, FragmentRow]] = {
    name: FragmentRow(dict(functions(one)), MEANINGS[one.verb](one)) for name, one in MATRIX_CALLS.items()
}
"""By the name of the call."""
WMMA: Final[dict[str, str]] = {name: text for row in FRAGMENT_ROWS.values() for name, text in row.functions.items()}
"""The text of each function."""
