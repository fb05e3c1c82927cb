"""Which parts of an expression get a name of their own before it, so that its text stays short and flat.

An expression is a graph: a part used twice would be printed twice, its own shared parts four times, and so on; and C++
compilers give up on parentheses thousands deep. What stands only behind a condition has to stay behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from ..ir import expr as E
from ..ir import make
from ..ir.foreign import is_opaque
from ..ir.node import Expr

DEEP: Final = 48
"""Operators within one another in one piece of text."""
LARGE: Final = 12
"""Nodes of a part that is worth naming when it is used twice."""
HUGE: Final = 400
"""Nodes in a branch that is printed inline."""


class Part(NamedTuple):
    """A part to name; `branches` says that it becomes an if statement."""

    node: Expr
    branches: bool


class _Shape(NamedTuple):
    """How large and deep the text of an expression would be."""

    size: int
    depth: int


_NAME: Final = _Shape(1, 1)


def eager(node: Expr) -> list[Expr]:
    """Return the operands that are evaluated whenever `node` is."""
    if isinstance(node, E.IfElse):
        return [node.condition]
    if isinstance(node, (E.And, E.Or)):
        return [node.a]
    if isinstance(node, E.Load) and node.mask is not make.TRUE:
        return [node.mask]
    return node.operands()


def always(roots: Iterable[Expr], named: Collection[Expr] = ()) -> dict[Expr, int]:
    """Return each part of `roots` that is evaluated whenever they are, operands first, and how often it is used there.

    Nothing below what is `named` counts.
    """
    uses: dict[Expr, int] = {}
    ordered: dict[Expr, None] = {}
    stack = list(roots)
    for root in stack:
        uses[root] = uses.get(root, 0) + 1
    while stack:
        node = stack[-1]
        waiting = [] if node in named else [part for part in eager(node) if part not in ordered]
        if node not in ordered and waiting:
            stack += waiting
            continue
        stack.pop()
        if node in ordered:
            continue
        ordered[node] = None
        for part in () if node in named else eager(node):
            uses[part] = uses.get(part, 0) + 1
    return {node: uses[node] for node in ordered}


def temporaries(roots: Iterable[Expr], named: Collection[Expr] = ()) -> list[Part]:
    """Return the parts of `roots` to name, operands first."""
    roots = list(roots)
    uses = always(roots, named)
    shapes: dict[Expr, _Shape] = {}
    chosen: list[Part] = []
    for node, count in uses.items():
        if node in named or isinstance(node, (E.Var, E.Const, E.Address)):
            shapes[node] = _NAME
            continue
        shape = shapes[node] = _shape(node, shapes)
        branches = _heavy(node, shapes)
        if branches or shape.depth > DEEP or (count > 1 and (shape.size > LARGE or is_opaque(node))):
            shapes[node] = _NAME
            chosen.append(Part(node, branches))
    return chosen


def lazy(node: Expr) -> list[Expr]:
    """Return the operands that are evaluated under a condition."""
    certain = set(eager(node))
    return [part for part in node.operands() if part not in certain]


def _heavy(node: Expr, shapes: dict[Expr, _Shape]) -> bool:
    """Return whether `node` has a branch too large to print inline."""
    branches = [_whole(part, shapes) for part in lazy(node)]
    return any(branch.size > HUGE or branch.depth > DEEP for branch in branches)


def _shape(node: Expr, shapes: dict[Expr, _Shape]) -> _Shape:
    parts = [_whole(part, shapes) for part in node.operands()]
    return _Shape(1 + sum(part.size for part in parts), 1 + max((part.depth for part in parts), default=0))


def _whole(root: Expr, shapes: dict[Expr, _Shape]) -> _Shape:
    """Return the shape of `root` printed in one piece; what stands behind a condition has no names inside."""
    stack = [root]
    while stack:
        node = stack[-1]
        waiting = [] if node in shapes else [part for part in node.operands() if part not in shapes]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if node not in shapes:
            parts = [shapes[part] for part in node.operands()]
            shapes[node] = _Shape(1 + sum(p.size for p in parts), 1 + max((p.depth for p in parts), default=0))
    return shapes[root]
