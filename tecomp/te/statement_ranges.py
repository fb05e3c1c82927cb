"""Elements outside their memory, found when the body of an opaque operation is declared: machine code would go there.

As in a compute, a fault is reported only with a proof: values of the loops at which the statement would do it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import UserError
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Buffer, For, If, Stmt, Store
from ..location import Location
from .ranges import reach_outside
from .reads import Guards, accesses
from .shape import plain


def check_elements(asked: str, body: Stmt) -> None:
    """Raise UserError for an element that leaves its buffer at some values of the loops around it."""
    pending: list[tuple[Stmt, Guards]] = [(body, ())]
    while pending:
        stmt, guards = pending.pop()
        for buffer, indices, conditions in _elements(stmt):
            _check_inside(asked, buffer, indices, (*guards, *conditions), stmt.loc)
        pending.extend(reversed(list(_below(stmt, guards))))


def _below(stmt: Stmt, guards: Guards) -> Iterator[tuple[Stmt, Guards]]:
    """Yield the statements directly below that may run, each with the conditions under which it does."""
    if isinstance(stmt, If):
        yield stmt.then, (*guards, stmt.condition)
        if stmt.otherwise is not None:
            yield stmt.otherwise, (*guards, make.logical_not(stmt.condition))
    elif not (isinstance(stmt, For) and isinstance(stmt.extent, E.Const) and stmt.extent.value <= 0):
        yield from ((part, guards) for part in stmt.substatements())


def _elements(stmt: Stmt) -> Iterator[tuple[Buffer, tuple[Expr, ...], Guards]]:
    """Yield the elements that a statement itself stores and reads."""
    if isinstance(stmt, Store) and stmt.mask is make.TRUE:
        yield stmt.buffer, stmt.indices, ()
    for expr in stmt.expressions():
        for access in accesses(expr, (E.Load,)):
            if isinstance(access.node, E.Load) and access.node.mask is make.TRUE:
                yield access.node.buffer, access.node.indices, access.guards


def _check_inside(
    asked: str, buffer: Buffer, indices: tuple[Expr, ...], guards: Guards, location: Location | None
) -> None:
    for dim, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
        reach = next(filter(None, (reach_outside(lane, extent, guards) for lane in _ends(index))), "")
        if reach:
            raise UserError(
                f"{asked}: {buffer.name}[{', '.join(map(plain, indices))}] leaves '{buffer.name}'",
                because=f"index {dim}, {plain(index)}, {reach}; '{buffer.name}' has extent {plain(extent)} there",
                legal=f"0 to {plain(make.sub(extent, 1))}, or an if_scope around it",
                location=location,
            )


def _ends(index: Expr) -> tuple[Expr, ...]:
    """Return the first and the last lane of a vector of neighbours, a scalar itself, nothing of other vectors."""
    if isinstance(index, E.Ramp):
        last = make.mul(index.stride, make.const(index.lanes - 1, index.base.dtype))
        return index.base, make.add(index.base, last)
    return (index,) if index.dtype.lanes == 1 else ()
