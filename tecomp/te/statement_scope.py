"""Names used behind the block that makes them, found when the body of an opaque operation is declared."""

from __future__ import annotations

from typing import Any

from ..errors import UserError
from ..ir import expr as E
from ..ir.stmt import Alloc, For, Let, Stmt, Store
from ..ir.visit import walk

Name = Any
"""A Var or a Buffer."""


def check_names(asked: str, body: Stmt) -> None:
    """Raise UserError for a variable or memory of a block, of a loop or of another declaration, that is used outside.

    with ib.for_range(0, n) as i: ...
    C[i] = 0                                i is known in its loop only
    """
    made = {name for stmt in walk(body) if (name := _made(stmt)) is not None}
    pending: list[tuple[Stmt, frozenset[Name]]] = [(body, frozenset())]
    while pending:
        stmt, known = pending.pop()
        strange = next((name for name in _used(stmt) if name in made and name not in known), None)
        if strange is not None:
            raise UserError(
                f"{asked}: '{strange.name}' behind its block",
                because="what a loop, ib.let or ib.allocate makes is known to the end of the block that it is made in",
                legal=f"uses of '{strange.name}' in that block, or another name made outside",
                location=stmt.loc,
            )
        name = _made(stmt)
        inside = known if name is None else known | {name}
        pending.extend((part, inside) for part in stmt.substatements())


def _made(stmt: Any) -> Name | None:
    """Return what a statement makes for those below it."""
    if isinstance(stmt, (For, Let)):
        return stmt.var
    return stmt.buffer if isinstance(stmt, Alloc) else None


def _used(stmt: Stmt) -> list[Name]:
    """Return what a statement itself uses."""
    names: list[Name] = [stmt.buffer] if isinstance(stmt, Store) else []
    for expr in stmt.expressions():
        for node in walk(expr):
            if isinstance(node, (E.Load, E.Address)):
                names.append(node.buffer)
            elif isinstance(node, E.Var):
                names.append(node)
    return names
