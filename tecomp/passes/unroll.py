"""Unroll: loops of kind UNROLLED and constant extent become their iterations, one after the other.

    for k in unrolled(2):          B[i, 0] = A[i, 0] + 1
        B[i, k] = A[i, k] + 1  ->  B[i, 1] = A[i, 1] + 1

A loop that would become more than MOST_STATEMENTS stores and calls keeps its kind, and the back end's compiler decides.
"""

from __future__ import annotations

from typing import Final

from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.stmt import Evaluate, For, LoopKind, Seq, Stmt, Store
from ..ir.subst import fresh_loops, substitute_stmt
from ..target import Target
from .hoist import in_front

MOST_STATEMENTS: Final = 1024
"""Stores and calls that one outermost loop may become."""


def run(func: Func, target: Target) -> Func:
    """Return `func` with its UNROLLED loops expanded, in time linear in the program that comes out."""
    return func.with_body(_expand(func.body)[0])


def _expand(node: Stmt) -> tuple[Stmt, int]:
    """Return `node` expanded, inner loops first, and how many stores and calls are in it."""
    if isinstance(node, (Store, Evaluate)):
        return node, 1
    count = 0

    def below(part: Stmt) -> Stmt:
        nonlocal count
        new, more = _expand(part)
        count += more
        return new

    new = node.map(below, lambda expr: expr)
    if not (isinstance(new, For) and new.kind is LoopKind.UNROLLED and isinstance(new.extent, E.Const)):
        return new, count
    extent = max(int(new.extent.value), 0)
    if extent > 1 and extent * count > MOST_STATEMENTS:
        return new, count
    return _inside(in_front(new), extent), extent * count


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
