"""The instructions on matrices in plain arrays of each thread, by name: what the types of the operands choose among."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, NamedTuple

from ..ir.expr import Address, Call
from .ldmatrix import MATRIX_MOVES, MatrixMove
from .matrix_numpy import MOVES_NUMPY, multiply
from .mma import MMA, MMA_NAMES, Mma
from .wgmma import WGMMA, WGMMA_NAMES, Wgmma
from .wgmma_numpy import wgmma

Typed = MatrixMove | Mma | Wgmma
"""One instruction of one choice of types: its text in CUDA, and the device function behind it."""
_ABSENT: Final = ("float8_e4m3fn", "float8_e5m2")
"""Types of elements that programs do not have."""


class MatrixRow(NamedTuple):
    """A row of the table: the instructions that share a name, and what each of them does."""

    typed: dict[tuple[str, ...], Typed]
    """By the types of d, a and b; one that moves matrices is for all types alike, and stands under ()."""
    numpy: Callable[..., Any]
    """What it does where there is no GPU."""

    @property
    def types(self) -> list[tuple[str, ...]]:
        """The types that programs have."""
        return [types for types in self.typed if not set(types) & set(_ABSENT)]


def _multiplications(
    names: Iterable[str], rows: dict[tuple[str, str, str, str], Any], numpy: Callable[..., Any]
) -> dict[str, MatrixRow]:
    found = {name: MatrixRow({}, numpy) for name in sorted(names)}
    for (name, *types), row in rows.items():
        found[name].typed[tuple(types)] = row
    return found


MATRIX_ROWS: Final[dict[str, MatrixRow]] = {
    **{name: MatrixRow({(): row}, MOVES_NUMPY[name]) for name, row in MATRIX_MOVES.items()},
    **_multiplications(MMA_NAMES, MMA, multiply),
    **_multiplications(WGMMA_NAMES, WGMMA, wgmma),
}
"""By the name of the call."""


def types_of(call: Call) -> tuple[str, ...]:
    """Return the types of the first three operands that are addresses: d, a and b of a multiplication."""
    return tuple(str.__str__(arg.buffer.dtype) for arg in call.args if isinstance(arg, Address))[:3]


def typed(call: Call) -> Typed | None:
    """Return the instruction that a call of the table is for the types of its operands; None where there is none."""
    row = MATRIX_ROWS[call.name].typed
    return row.get(()) or row.get(types_of(call))


@cache
def matrix_functions() -> dict[str, Typed]:
    """Return all of them by the names of their functions in CUDA; the text of none is made here."""
    return {one.cuda_name: one for row in MATRIX_ROWS.values() for one in row.typed.values()}
