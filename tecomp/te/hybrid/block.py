"""A block of statements as it is written: names and memory made in it last to its end."""

from __future__ import annotations

from collections.abc import Callable

from ...ir import expr as E
from ...ir.node import Expr
from ...ir.stmt import Alloc, Buffer, Let, Seq, Stmt
from ...location import Location

Opener = Callable[[Stmt], Stmt]
"""Puts what it defines around the rest of the block."""


class Block:
    """Statements in order, some of which open a scope that holds all that follow."""

    def __init__(self) -> None:
        self.steps: list[Stmt | Opener] = []

    def add(self, stmt: Stmt) -> None:
        """Append a statement."""
        self.steps.append(stmt)

    def let(self, var: E.Var, value: Expr, loc: Location) -> None:
        """Name a value from here on."""
        self.steps.append(lambda rest: Let(var, value, rest, loc=loc))

    def allocate(self, buffer: Buffer, loc: Location) -> None:
        """Have memory from here on."""
        self.steps.append(lambda rest: Alloc(buffer, rest, loc=loc))

    def stmt(self) -> Stmt:
        """Return the whole block."""
        rest: list[Stmt] = []
        for step in reversed(self.steps):
            if isinstance(step, Stmt):
                rest.insert(0, step)
            else:
                rest = [step(_sequence(rest))]
        return _sequence(rest)


def _sequence(stmts: list[Stmt]) -> Stmt:
    return stmts[0] if len(stmts) == 1 else Seq(tuple(stmts))
