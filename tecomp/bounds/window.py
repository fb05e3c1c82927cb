"""A window of elements that moves along with the loops around it: where its elements lie, which of them are new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..arith import simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from .attach import Place

ZERO = make.const(0, INDEX)


class Move(NamedTuple):
    """Along one dimension: with which loops the window moves, outermost first, and how far at each step of them."""

    loops: tuple[E.Var, ...]
    step: int


@dataclass(frozen=True, slots=True)
class Rolling:
    """How a stage is kept over the iterations of loops around it."""

    loop: Place
    """Around this loop is its memory."""
    dimension: int
    """Along this dimension its elements go round in the memory."""
    held: tuple[Range, ...]
    """What memory holds of each dimension; of `dimension`, how much."""
    moves: tuple[Move | None, ...]
    """Along each dimension where windows overlap, how they move."""

    def index(self, at: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return where an element lies."""
        return tuple(
            make.floormod(value, held.extent) if number == self.dimension else make.sub(value, held.min)
            for number, (value, held) in enumerate(zip(at, self.held, strict=True))
        )

    def fresh(self, at: Sequence[Expr], windows: Sequence[Range]) -> Iterator[Expr]:
        """Yield what must hold for the element `at`, one of the present window, to be in no earlier one."""
        for value, window, move in zip(at, windows, self.moves, strict=True):
            if move is None:
                continue
            place, step = make.sub(value, window.min), move.step
            behind = make.le(make.sub(window.extent, step), place) if step > 0 else make.lt(place, -step)
            first = make.logical_and(*(make.eq(var, ZERO) for var in move.loops))
            yield simplify(make.logical_or(first, behind))
