"""What is written down of a hybrid function, and of all that it calls, while it is read."""

from __future__ import annotations

from ...errors import UserError
from ...ir import expr as E
from ...ir.node import Expr
from ...ir.stmt import Buffer, LoopKind
from .block import Block
from .source import Source


class Written:
    """The blocks that are open, and what is known where the statement stands that is read."""

    def __init__(self) -> None:
        self.blocks = [Block()]
        self.guards: list[Expr] = []
        """The conditions under which the statement that is read runs."""
        self.loops: list[tuple[E.Var, LoopKind, str]] = []
        """The loops around it, with how they run and the thread axis they are bound to."""
        self.stored: set[Buffer] = set()
        """The memory that some statement before has stored to."""
        self.requires: list[tuple[Expr, str]] = []
        """What was asserted of sizes and scalars, with the reasons."""
        self.functions: list[Source] = []
        """The functions that are being read, each called by the one before."""
        self.early: dict[Buffer, UserError] = {}
        """The memory that is read before a store to it, with the refusal that this is unless one follows."""
        self.outputs: list[Buffer] = []
        """The results of the outermost function."""

    @property
    def block(self) -> Block:
        """The innermost block."""
        return self.blocks[-1]

    def loops_of(self, kind: LoopKind) -> list[E.Var]:
        """Return the variables of the loops of one kind around the statement that is read."""
        return [var for var, found, _ in self.loops if found is kind]
