"""Unroll: loops of kind UNROLLED and constant extent become their iterations, one after the other.

    for k in unrolled(2):          B[i, 0] = A[i, 0] + 1
        B[i, k] = A[i, k] + 1  ->  B[i, 1] = A[i, 1] + 1

Two pragmas decide for a loop and those inside it, the nearest of each first, and end here:

    auto_unroll_max_step=16   serial loops that become no more than 16 stores and calls are UNROLLED too
    unroll_explicit=False     UNROLLED loops keep their kind, and the back end's compiler decides

A loop that would become more than MOST_STATEMENTS stores and calls keeps its kind too, and stays a loop.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.stmt import Evaluate, For, LoopKind, Seq, Stmt, Store
from ..ir.subst import fresh_loops, substitute_stmt
from ..target import Target
from .hoist import in_front

MOST_STATEMENTS: Final = 1024
"""Stores and calls that one outermost loop may become."""


class Hints(NamedTuple):
    """The pragmas in force: a field each, of that name. Those of no pragma hold where the program says nothing."""

    auto_unroll_max_step: int = 0
    unroll_explicit: bool = True

    def inside(self, loop: For) -> Hints:
        """Return what is in force in `loop`, itself included."""
        return self._replace(**{name: value for name, value in loop.pragmas if name in self._fields})

    def left(self, loop: For) -> tuple[tuple[str, Any], ...]:
        """Return the loop's other pragmas."""
        return tuple(pragma for pragma in loop.pragmas if pragma[0] not in self._fields)


class _Expanded(NamedTuple):
    """A statement after its loops, how many stores and calls it has written out, and whether a loop is left in it."""

    stmt: Stmt
    steps: int
    loops: bool


def run(func: Func, target: Target, hints: Hints = Hints()) -> Func:  # noqa: B008 (it is immutable)
    """Return `func` with its UNROLLED loops expanded, in time linear in the program that comes out.

    `hints` hold where no pragma does.
    """
    return func.with_body(_expand(func.body, hints).stmt)


def _expand(node: Stmt, hints: Hints) -> _Expanded:
    """Return `node` expanded, inner loops first."""
    if isinstance(node, (Store, Evaluate)):
        return _Expanded(node, 1, False)
    inside = hints.inside(node) if isinstance(node, For) else hints
    found: list[_Expanded] = []

    def below(part: Stmt) -> Stmt:
        found.append(_expand(part, inside))
        return found[-1].stmt

    new = node.map(below, lambda expr: expr)
    steps, loops = sum(part.steps for part in found), any(part.loops for part in found)
    return _loop(new, steps, loops, inside) if isinstance(new, For) else _Expanded(new, steps, loops)


def _loop(loop: For, steps: int, loops: bool, hints: Hints) -> _Expanded:
    """Return a loop whose body, of so many steps, is expanded already."""
    others = hints.left(loop)
    if len(others) < len(loop.pragmas):
        loop = loop.copy(pragmas=others)
    extent = max(int(loop.extent.value), 0) if isinstance(loop.extent, E.Const) else None
    if extent is None:
        return _Expanded(loop, steps, True)
    if loop.kind is LoopKind.SERIAL and not loops and 0 < extent * steps <= hints.auto_unroll_max_step:
        loop = loop.copy(kind=LoopKind.UNROLLED)
    if loop.kind is not LoopKind.UNROLLED:
        return _Expanded(loop, steps, True)
    if not hints.unroll_explicit:
        return _Expanded(loop, extent * steps, loops)
    if extent > 1 and extent * steps > MOST_STATEMENTS:
        return _Expanded(loop, steps, True)
    return _Expanded(_inside(in_front(loop), extent), extent * steps, loops)


def _inside(node: Stmt, extent: int) -> Stmt:
    """Return the iterations of the loop, inside what all of them share."""
    if isinstance(node, For) and node.kind is LoopKind.UNROLLED:
        return _iterations(node, extent)
    return node.map(lambda part: _inside(part, extent), lambda expr: expr)


def _iterations(loop: For, extent: int) -> Stmt:
    copies: list[Stmt] = []
    for i in range(extent):
        body = substitute_stmt(loop.body, {loop.var: make.add(loop.min, i)})
        copies.append(fresh_loops(body) if i else body)
    return copies[0] if extent == 1 else Seq(tuple(copies), loc=loop.loc)
