"""Integer expressions as sums of variables, read as exact integers: what indices are once they are lowered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import expr as E
from ..ir.node import Expr
from .reads import operands_first


class Linear:
    """sum(coefficient * variable) + constant."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[E.Var, int], constant: int = 0) -> None:
        self.terms, self.constant = terms, constant

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """Return self + factor * other."""
        terms = dict(self.terms)
        for var, coefficient in other.terms.items():
            terms[var] = terms.get(var, 0) + factor * coefficient
        return Linear({var: c for var, c in terms.items() if c}, self.constant + factor * other.constant)


def linear(root: Expr) -> Linear | None:
    """Return `root` as a sum of variables, None where it is none."""
    done: dict[Expr, Linear | None] = {}
    for node in operands_first(root):
        verb = _FORMS.get(type(node))
        below = [done[operand] for operand in node.operands()]
        done[node] = None if verb is None or None in below else verb(node, *below)
    return done[root]


def same_number(one: Expr, other: Expr) -> bool:
    """Return whether two extents are the same number, whatever the sizes."""
    if one is other:
        return True
    a, b = linear(one), linear(other)
    if a is None or b is None:
        return False
    difference = a.plus(b, -1)
    return not difference.terms and difference.constant == 0


def _const(node: E.Const) -> Linear | None:
    return Linear({}, int(node.value)) if node.dtype.is_integer else None


def _product(_: Expr, a: Linear, b: Linear) -> Linear | None:
    if a.terms and b.terms:
        return None
    factor, form = (a.constant, b) if not a.terms else (b.constant, a)
    return Linear({}).plus(form, factor)


_FORMS: dict[type, Callable[..., Any]] = {
    E.Var: lambda node: Linear({node: 1}) if node.dtype.is_integer else None,
    E.Const: _const,
    E.Add: lambda _, a, b: a.plus(b),
    E.Sub: lambda _, a, b: a.plus(b, -1),
    E.Mul: _product,
    E.Cast: lambda node, a: a if node.dtype.kind in ("int", "index") and node.dtype.bits >= 32 else None,
}
