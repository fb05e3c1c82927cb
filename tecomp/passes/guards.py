"""The conditions of a statement: finding the comparisons in them, and leaving out those that are known to hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import If, Seq, Stmt
from ..ir.visit import conjuncts, rewrite, walk


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


def decided(body: Stmt, known: Mapping[Expr, bool]) -> Stmt:
    """Return `body`, where `known` says of conditions whether they hold, without asking for them."""

    def truth(node: Expr) -> Expr:
        return node if node not in known else make.TRUE if known[node] else make.FALSE

    def joined(node: E.And) -> Expr:
        constant = isinstance(node.a, E.Const) or isinstance(node.b, E.Const)
        return make.logical_and(node.a, node.b) if constant else node

    def choice(node: Any) -> Expr:
        return node.no if node.condition is make.FALSE else node.yes if node.condition is make.TRUE else node

    def branch(node: If) -> Stmt:
        if node.condition is make.FALSE:
            return Seq(()) if node.otherwise is None else node.otherwise
        return node.then if node.condition is make.TRUE else node

    exprs = {E.Lt: truth, E.Le: truth, E.And: joined, E.IfElse: choice, E.Select: choice}
    return rewrite(body, exprs, {If: branch})
