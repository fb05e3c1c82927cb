"""Expressions that can be evaluated anywhere, where no loop sees to it that a divisor is not 0."""

from __future__ import annotations

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.visit import rewrite_expr
from .facts import NO_FACTS, Facts
from .simplify import can_prove


def defined(value: Expr, facts: Facts = NO_FACTS) -> Expr:
    """Return an index expression with every divisor at least 1.

    The values of a fused axis are divided by an extent that may be 0; its loop then does not run. Whoever takes such a
    value out of the loop (a region, the end of a loop's main part) needs it defined all the same:

    (j + 5) // k        ->    (j + 5) // max(k, 1)
    """

    def division(node: E.FloorDiv | E.FloorMod) -> Expr:
        if can_prove(make.le(1, node.b), facts):
            return node
        return type(node)(node.a, make.maximum(node.b, 1))

    return rewrite_expr(value, {E.FloorDiv: division, E.FloorMod: division})
