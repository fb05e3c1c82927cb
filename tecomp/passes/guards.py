"""The conditions of a statement: finding the comparisons in them, and leaving out those that are known to hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import If, Stmt
from ..ir.visit import rewrite, walk


def comparisons(body: Stmt, var: E.Var) -> list[E.Compare]:
    """Return the `a < b` and `a <= b` naming `var` that conditions in `body` need to hold."""
    found: dict[E.Compare, None] = {}
    for node in walk(body):
        if isinstance(node, (If, E.IfElse, E.Select)):
            for part in conjuncts(node.condition):
                if (
                    isinstance(part, (E.Lt, E.Le))
                    and part.a.dtype is INDEX
                    and any(below is var for below in walk(part))
                ):
                    found[part] = None
    return list(found)


def conjuncts(condition: Expr) -> Iterator[Expr]:
    """Yield the conditions that all must hold for `condition` to hold."""
    stack = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, E.And):
            stack += [node.b, node.a]
        else:
            yield node


def without(body: Stmt, known: set[Expr]) -> Stmt:
    """Return `body`, where all of `known` hold, without asking for them."""

    def holds(node: Expr) -> Expr:
        return make.TRUE if node in known else node

    def joined(node: E.And) -> Expr:
        return make.logical_and(node.a, node.b) if make.TRUE in (node.a, node.b) else node

    def choice(node: Any) -> Expr:
        return node.yes if node.condition is make.TRUE else node

    def branch(node: If) -> Stmt:
        return node.then if node.condition is make.TRUE else node

    exprs = {E.Lt: holds, E.Le: holds, E.And: joined, E.IfElse: choice, E.Select: choice}
    return rewrite(body, exprs, {If: branch})
