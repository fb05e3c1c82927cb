"""Guards go below what all threads of a block must come to, wherever some of them have no work of their own there.

if i < n:                    v = alloc(...)
    v = alloc(...)           if i < n: a
    a               ->       meet
    meet                     if i < n: b
    b
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..errors import ScheduleError
from ..ir import make
from ..ir.stmt import Across, Alloc, For, If, Seq, Stmt
from .accesses import loaded, stored
from .kernel_checks import last_store

Meets = Callable[[Stmt], bool]
"""Whether threads meet in a statement."""


def below(guard: If, meets: Meets, what: str) -> Stmt:
    """Return the same with the guard one level further down; ScheduleError, which says `what`, where it cannot go."""
    if loaded(guard.condition) & stored(guard):
        raise apart(guard, f"the condition {guard.condition!r}, which reads what is written under it,", what)
    if guard.otherwise is not None:
        other = If(make.logical_not(guard.condition), guard.otherwise, loc=guard.loc)
        return Seq((guard.copy(otherwise=None), other))
    match guard.then:
        case Seq(stmts=stmts):
            return Seq(tuple(If(guard.condition, part, loc=guard.loc) for part in _in_pieces(stmts, meets)))
        case If(otherwise=None) as inner:
            return inner.copy(condition=make.logical_and(guard.condition, inner.condition))
        case If() as inner:
            return guard.copy(then=below(inner, meets, what))
        case Across() | Alloc() | For() as inner:
            return inner.copy(body=If(guard.condition, inner.body, loc=guard.loc))
        case inner:
            raise apart(inner, f"the condition {guard.condition!r}", what)


def _in_pieces(stmts: Iterable[Stmt], meets: Meets) -> list[Stmt]:
    """Return statements in a row as few as they can be with those in which threads meet apart."""
    pieces: list[list[Stmt]] = []
    for stmt in stmts:
        if pieces and not meets(stmt) and not meets(pieces[-1][-1]):
            pieces[-1].append(stmt)
        else:
            pieces.append([stmt])
    return [piece[0] if len(piece) == 1 else Seq(tuple(piece)) for piece in pieces]


def apart(node: Stmt, where: str, what: str) -> ScheduleError:
    """Return the refusal of threads that meet where some of them do not come."""
    return ScheduleError(
        f"{what} of {last_store(node)} where not all of them come",
        because=f"{where} differs from thread to thread, and they wait for each other",
        legal="compute_at outside it, or no loop bound to threads inside",
        location=node.loc,
    )
