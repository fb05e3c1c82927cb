"""For which iterations of a loop does a guard hold, whatever the loops inside do?

x*16 + i < n, i in [0, 16)   ->  x < n // 16
1 <= x + k, k in [0, 3)      ->  1 <= x
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..arith import Facts, affine, bounds_of, defined
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.node import Expr
from ..ir.visit import walk
from .accesses import repeatable


class Held(NamedTuple):
    """A guard holds from `first` on, or before `end`; None is no bound on that side.

    `exact`: it holds in no other iteration, since no loop inside has a say.
    """

    guard: Expr
    first: Expr | None
    end: Expr | None
    exact: bool


def held(
    guard: E.Compare, var: E.Var, inside: Collection[E.Var], fixed: Collection[E.Var], facts: Facts
) -> Held | None:
    """Return when `guard` holds as the loop over `var` goes on; None where that is no stretch of iterations.

    `inside` are the variables of the loops inside; the answer may name neither them nor those of `fixed`.

    coefficient*x + rest < 0, the rest at its greatest  ->  x < ceil(-rest / coefficient)
    """
    running = [node for node in walk(guard) if node in inside]
    ranges = {v: Range(v.min, v.extent) for v in running if v.min is not None and v.extent is not None}
    _, greatest = bounds_of(make.sub(guard.a, guard.b), ranges, facts)
    if greatest is None:
        return None
    form = affine(greatest)
    coefficient, rest = form.terms.get(var, 0), form.without(var).expr()
    named = set(walk(rest))
    if coefficient == 0 or var in named or not repeatable(rest) or any(v in named for v in (*inside, *fixed)):
        return None
    rest = defined(rest if isinstance(guard, E.Lt) else make.sub(rest, 1), facts)
    if coefficient > 0:
        return Held(guard, None, make.floordiv(make.sub(coefficient - 1, rest), coefficient), not running)
    return Held(guard, make.add(make.floordiv(rest, -coefficient), 1), None, not running)
