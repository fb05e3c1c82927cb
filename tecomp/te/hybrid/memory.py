"""What the names of a hybrid function stand for when they stand for memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...ir import expr as E
from ...ir.node import Expr
from ...ir.stmt import Buffer
from ...ir.visit import walk


class Role(Enum):
    """Where the memory comes from, which says what may be done with it."""

    ARGUMENT = "an argument"
    """A tensor given to the function: read only."""
    OUTPUT = "an output"
    ALLOCATED = "allocated"
    SCALAR = "a variable"
    """A number that is assigned more than once: local memory of no dimensions."""


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """A buffer as one function sees it: what a caller writes may be an argument of the function it calls."""

    buffer: Buffer
    role: Role

    @property
    def name(self) -> str:
        """The buffer's name."""
        return self.buffer.name

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.buffer.shape)


def reads_memory(value: Expr) -> bool:
    """Return whether an expression reads memory."""
    return any(isinstance(node, E.Load) for node in walk(value))
