"""A loop that does something in one iteration only, whose number is known, becomes that iteration.

    for j in range(n):                               j = idx[i]
        if idx[i] == i32(j):                ->       if 0 <= j < n:
            C[j] = C[j] + A[i]                           C[j] = C[j] + A[i]

So a sum over all i where idx[i] == j, with the loop over j inside, is a scatter: one update for each i.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..arith import can_prove
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import has_effect
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import For, If, Let, LoopKind, Stmt
from ..ir.subst import fresh_loops, substitute_stmt
from ..ir.visit import conjuncts, rewrite
from ..target import Target
from .accesses import loaded, stored, uses

_ONE_BY_ONE: Final = (LoopKind.SERIAL, LoopKind.PARALLEL, LoopKind.UNROLLED)


def run(func: Func, target: Target) -> Func:
    """Return `func` with such loops replaced."""
    return func.with_body(rewrite(func.body, stmts={For: _loop}))


class Only(NamedTuple):
    """The one number that a loop's variable can have where `part` of its guard holds, if `fits` does."""

    part: Expr
    number: Expr
    fits: Expr


def _loop(loop: For) -> Stmt:
    if loop.kind not in _ONE_BY_ONE or not isinstance(loop.body, If) or loop.body.otherwise is not None:
        return loop
    parts = list(conjuncts(loop.body.condition))
    only = next((found for found in (_only(part, loop) for part in parts) if found is not None), None)
    if only is None or has_effect(only.number) or loaded(only.number) & stored(loop.body):
        return loop
    others = make.logical_and(*(part for part in parts if part is not only.part))
    var = E.Var(loop.var.name, loop.var.dtype)
    then = loop.body.then if others is make.TRUE else loop.body.copy(condition=others)
    body = loop if only.fits is make.TRUE else fresh_loops(loop)
    inside = make.logical_and(make.le(loop.min, var), make.lt(make.sub(var, loop.min), loop.extent))
    once = If(inside, substitute_stmt(then, {loop.var: var}), loc=loop.loc)
    solved = Let(var, make.index(only.number), once, loc=loop.loc)
    return solved if only.fits is make.TRUE else If(only.fits, solved, body, loc=loop.loc)


def _only(condition: Expr, loop: For) -> Only | None:
    """Return the only value of a loop's variable for which a condition can hold, where the loop does not change it."""
    if not isinstance(condition, E.Eq):
        return None
    for counted, other in ((condition.a, condition.b), (condition.b, condition.a)):
        fits = _fits(counted, loop)
        if fits is not make.FALSE and not uses(other, {loop.var}) and other.dtype.is_integer:
            return Only(condition, other, fits)
    return None


def _fits(node: Expr, loop: For) -> Expr:
    """Return under which condition an expression is the loop's variable: in a type of data, that all values fit."""
    if node is loop.var:
        return make.TRUE
    if not isinstance(node, E.Cast) or node.value is not loop.var or not node.dtype.is_integer:
        return make.FALSE
    least, greatest = node.dtype.limits()
    last = make.sub(make.add(loop.min, loop.extent), 1)
    conditions = (make.le(make.index(least), loop.min), make.le(last, make.index(greatest)))
    return make.logical_and(*(condition for condition in conditions if not can_prove(condition)))
