"""Check accesses: nothing outside of a buffer is read or written; the place found last is kept in an array.

    B[i] = A[at[i]]    ->    if 0 <= at[i] and at[i] < n:
                                 B[i] = A[at[i]]
                             else:
                                 faults[0], faults[1] = 3, at[i]     # site 3, its index

`faults` is one more argument, of zeros: site 0 is none. What can be proved to lie inside, the passes that follow do not
ask. An access under a condition is asked under it, one in an index before that index is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ..dtype import INT64
from ..errors import UnsupportedError
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Buffer, If, Note, Seq, Stmt, Store
from ..location import Location
from ..target import Target

MOST_DIMENSIONS: Final = 15
NAME: Final = "faults"


class Site(NamedTuple):
    """An access that is checked: what it does to which buffer, on which line of the user's."""

    verb: str
    buffer: Buffer
    loc: Location | None


class _Access(NamedTuple):
    """Elements that a statement reads or writes, where `reached` holds."""

    reached: Expr
    buffer: Buffer
    indices: tuple[Expr, ...]
    verb: str


def run(func: Func, target: Target) -> Func:
    """Return `func` with each access guarded, and the array of faults as its last argument."""
    faults = Note(NAME, (make.index(1 + MOST_DIMENSIONS),), INT64)
    body = _Checking(faults).stmt(func.body)
    return Func(func.name, (*func.params, faults), (*func.outputs, faults), body, func.level, func.requires)


def sites(func: Func) -> list[Site]:
    """Return the accesses of `func` in the order of their numbers, from 1."""
    checking = _Checking(Note(NAME, (), INT64))
    checking.stmt(func.body)
    return checking.sites


class _Checking:
    def __init__(self, faults: Buffer) -> None:
        self.faults = faults
        self.sites: list[Site] = []

    def stmt(self, node: Stmt) -> Stmt:
        """Return `node` with its own accesses guarded, and those of the statements in it."""
        found = [access for expr in node.expressions() for access in _reads(expr)]
        if isinstance(node, Store):
            found.append(_Access(_safe(*node.indices), node.buffer, node.indices, "written"))
        found = [access for access in found if access.indices]
        first = len(self.sites) + 1
        self.sites += [Site(access.verb, access.buffer, node.loc) for access in found]
        new = node.map(self.stmt, lambda expr: expr)
        if not found:
            return new
        inside = make.logical_and(*(_implies(access.reached, _inside(access)) for access in found))
        reports = [self.report(first + number, access, node.loc) for number, access in enumerate(found)]
        return If(inside, new, Seq(tuple(reports)), loc=node.loc)

    def report(self, site: int, access: _Access, loc: Location | None) -> Stmt:
        """Return the note of a fault: its site, and the indices that it has."""
        values = [make.const(site, INT64), *(make.cast(INT64, index) for index in access.indices)]
        notes = [
            Store(self.faults, (make.index(place),), value, make.TRUE, loc=loc) for place, value in enumerate(values)
        ]
        return If(make.logical_and(access.reached, make.logical_not(_inside(access))), Seq(tuple(notes)), loc=loc)


def _reads(root: Expr) -> Iterator[_Access]:
    """Yield the reads of an expression, each with what must hold for it to be evaluated."""
    stack: list[tuple[Expr, Expr]] = [(root, make.TRUE)]
    while stack:
        node, reached = stack.pop()
        if isinstance(node, E.Load):
            yield _Access(make.logical_and(reached, _safe(*node.indices)), node.buffer, node.indices, "read")
        if isinstance(node, (E.IfElse, E.Select)):
            test = make.logical_and(reached, _safe(node.condition))
            stack.append((node.condition, reached))
            stack.append((node.yes, make.logical_and(test, node.condition)))
            stack.append((node.no, make.logical_and(test, make.logical_not(node.condition))))
        elif isinstance(node, (E.And, E.Or)):
            first = node.a if isinstance(node, E.And) else make.logical_not(node.a)
            stack += [(node.a, reached), (node.b, make.logical_and(reached, _safe(node.a), first))]
        else:
            stack += [(operand, reached) for operand in node.operands()]


def _safe(*parts: Expr) -> Expr:
    """Return whether all that the expressions read lies inside its buffer."""
    return make.logical_and(
        *(_implies(access.reached, _inside(access)) for part in parts for access in _reads(part) if access.indices)
    )


def _implies(condition: Expr, then: Expr) -> Expr:
    return make.logical_or(make.logical_not(condition), then)


def _inside(access: _Access) -> Expr:
    ends = [
        condition
        for index, extent in zip(access.indices, access.buffer.shape, strict=True)
        for end in _ends(index)
        for condition in (make.le(0, end), make.lt(end, extent))
    ]
    return make.logical_and(*ends)


def _ends(index: Expr) -> Iterator[Expr]:
    """Yield the first and last value of an index."""
    if index.dtype.lanes == 1:
        yield index
    elif isinstance(index, E.Broadcast):
        yield index.value
    elif isinstance(index, E.Ramp):
        yield from (index.base, make.add(index.base, make.mul(index.stride, index.lanes - 1)))
    else:
        raise UnsupportedError(
            f"checking the index {index!r}", "each of its lanes is another element", "accesses without vectors"
        )
