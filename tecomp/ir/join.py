"""Two partial results of a reduction become one: the combiner's expressions, and the stores of what they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..location import Location
from . import expr as E
from . import make
from .node import Expr
from .stmt import Buffer, Let, Seq, Stmt, Store
from .subst import substitute

Place = tuple[Buffer, tuple[Expr, ...]]


class Join(NamedTuple):
    """A combiner by itself: `result` is the join of the partial results that `lhs` and `rhs` name."""

    lhs: tuple[E.Var, ...]
    rhs: tuple[E.Var, ...]
    result: tuple[Expr, ...]
    identity: tuple[Expr, ...]
    name: str = "join"


_STRICT: Final = (E.Add, E.Mul, E.Min, E.Max)
"""Of two operands, both are evaluated, and in either order they give the same value to the last bit."""


def is_symmetric(combiner: E.Combiner) -> bool:
    """Return whether both orders of two partial results give the same value, to the last bit: x + y, and no argmax."""
    parts = zip(combiner.result, combiner.lhs, combiner.rhs, strict=True)
    return all(_is(result, (*_STRICT, E.And, E.Or), lhs, rhs) for result, lhs, rhs in parts)


def joined(combiner: E.Combiner, lhs: Sequence[Expr], rhs: Sequence[Expr]) -> list[Expr]:
    """Return the join of two partial results."""
    names = dict(zip((*combiner.lhs, *combiner.rhs), (*lhs, *rhs), strict=True))
    return [substitute(result, names) for result in combiner.result]


def join_into(
    places: Sequence[Place], combiner: E.Combiner, values: Sequence[Expr], name: str, loc: Location | None
) -> Stmt:
    """Return the stores that join `values`, each evaluated once or more, to what stands at `places`.

    sum:     B[i] = B[i] + value
    argmax:  name_v0 = select(..., I[i], value0); name_v1 = select(..., V[i], value1); I[i] = name_v0; V[i] = name_v1
    """
    so_far = [make.load(buffer, indices) for buffer, indices in places]
    return stores_together(places, joined(combiner, so_far, values), name, loc)


def join_once(
    places: Sequence[Place], combiner: E.Combiner, values: Sequence[Expr], name: str, loc: Location | None
) -> Stmt:
    """Return the same with each value evaluated once, whatever stands at `places`: where that could differ, by name.

    sum:  B = B + value        any:  name_other = value; B = B or name_other
    """
    if len(values) == 1 and _is(combiner.result[0], _STRICT, combiner.lhs[0], combiner.rhs[0]):
        return join_into(places, combiner, values, name, loc)
    stem = f"{name}_other"
    names = [stem] if len(values) == 1 else [f"{stem}{number}" for number in range(len(values))]
    others = [E.Var(one, value.dtype) for one, value in zip(names, values, strict=True)]
    return _named(others, values, join_into(places, combiner, others, name, loc))


def stores(places: Sequence[Place], values: Sequence[Expr], loc: Location | None) -> Stmt:
    """Return the stores of values none of which reads a place stored to before it."""
    made = [
        Store(buffer, indices, value, make.TRUE, loc=loc)
        for (buffer, indices), value in zip(places, values, strict=True)
    ]
    return made[0] if len(made) == 1 else Seq(tuple(made))


def stores_together(places: Sequence[Place], values: Sequence[Expr], name: str, loc: Location | None) -> Stmt:
    """Return the stores of values each of which may read every place: all are computed before the first is stored."""
    if len(values) == 1:
        return stores(places, values, loc)
    held = [E.Var(f"{name}_v{number}", value.dtype) for number, value in enumerate(values)]
    return _named(held, values, stores(places, held, loc))


def _named(names: Sequence[E.Var], values: Sequence[Expr], body: Stmt) -> Stmt:
    for var, value in reversed(list(zip(names, values, strict=True))):
        body = Let(var, value, body, loc=body.loc)
    return body


def _is(result: Expr, kinds: tuple[type[E.Binary], ...], lhs: E.Var, rhs: E.Var) -> bool:
    """Return whether `result` is one of these operations on just the two."""
    return isinstance(result, kinds) and {result.a, result.b} == {lhs, rhs}
