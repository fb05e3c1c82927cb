"""What two indices are digits of: where the digits of two numbers are equal, the numbers are.

    x // 5 == y // 5 and x % 5 == y % 5  ->  x == y

Simplified digits need not show their number: (12*a + b) % 5 is written (2*a + b) % 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from .affine import affine, lane
from .simplify import simplify

Pair = tuple[Expr, Expr]
"""Two expressions that are equal; a variable may have one value in the first, another in the second."""


def wholes(indices: Iterable[Pair], agrees: Callable[[Expr], bool]) -> list[Pair]:
    """Return the given pairs, and with them all that they are digits of. `agrees` tells what has one value in both."""
    known = dict.fromkeys(indices)
    pending = [pair for pair in known if _are_remainders(*pair)]
    while joined := {pair: whole for pair in pending if (whole := _whole(*pair, list(known), agrees))}:
        known.update(dict.fromkeys(joined.values()))
        pending = [pair for pair in pending if pair not in joined]
        pending += [whole for whole in joined.values() if _are_remainders(*whole)]
    return list(known)


def _are_remainders(x: Expr, y: Expr) -> bool:
    return isinstance(x, E.FloorMod) and isinstance(y, E.FloorMod) and x.b is y.b


def _whole(x: Expr, y: Expr, known: list[Pair], agrees: Callable[[Expr], bool]) -> Pair | None:
    """Return a = b for remainders x = a % n and y = b % n whose quotients are known to be equal."""
    (a, n), (b, _) = x.operands(), y.operands()
    if not agrees(n):
        return None
    quotients = simplify(make.floordiv(a, n)), simplify(make.floordiv(b, n))
    if quotients in known or (quotients[0] is quotients[1] and agrees(quotients[0])):
        return a, b
    found = (pair for pair in _divided(n, known) if _congruent(pair[0], a, n) and _congruent(pair[1], b, n))
    return next(found, None)


def _divided(n: Expr, known: list[Pair]) -> Iterator[Pair]:
    """Yield numbers whose quotients by n are known to be equal."""
    for x, y in known:
        if isinstance(x, E.FloorDiv) and isinstance(y, E.FloorDiv) and x.b is y.b:
            if x.b is n:
                yield x.a, y.a
            elif isinstance(x.b, E.Const) and isinstance(n, E.Const) and n.value and x.b.value % n.value == 0:
                factor = make.const(x.b.value // n.value, n.dtype)
                yield simplify(make.floordiv(x.a, factor)), simplify(make.floordiv(y.a, factor))


def _congruent(a: Expr, b: Expr, n: Expr) -> bool:
    """Return whether a % n = b % n, by their affine forms."""
    if a is b:
        return True
    if not isinstance(n, E.Const) or not n.value:
        return False
    rest = affine(a).plus(affine(b), -1)
    return all(part % n.value == 0 for part in (*rest.terms.values(), rest.constant))


_ARITHMETIC: Final = (E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.Min, E.Max)


def in_one_lane(index: Expr) -> Expr:
    """Return what an index is in one lane, over the variable for the lane's number; unchanged where that is unknown."""
    if index.dtype.lanes == 1:
        return index
    if isinstance(index, E.Broadcast):
        return index.value
    if isinstance(index, E.Ramp):
        return make.add(index.base, make.mul(index.stride, lane(index.lanes)))
    if not isinstance(index, _ARITHMETIC):
        return index
    parts = [in_one_lane(part) for part in index.operands()]
    return index if any(part.dtype.lanes > 1 for part in parts) else type(index)(*parts)
