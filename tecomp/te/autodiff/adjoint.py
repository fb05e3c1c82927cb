"""Adjoints: how the output of a gradient changes with each element of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...arith import simplify
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.subst import substitute
from .partials import choose, plus
from .solve import solve
from .stages import Stages, distinct

Index = Sequence[Expr]


class Scatter(NamedTuple):
    """What a reader adds to the adjoint of a tensor: `weight` at `at`, for each value of `axes` where `guard` holds.

    It is what differentiation gives: A[i + k] * W[k] adds W[k] * g[i] at i + k of the adjoint of A. A scatter without
    axes is one element of the adjoint, for each element of the output.
    """

    reader: str
    axes: tuple[E.Var, ...]
    at: tuple[Expr, ...]
    guard: Expr
    weight: Expr


class Adjoint(NamedTuple):
    """The whole adjoint of a tensor: `value` at each value of `axes`, one for each dimension."""

    axes: tuple[E.Var, ...]
    value: Expr

    def at(self, index: Index) -> Expr:
        """Return the adjoint of the element at `index`."""
        return substitute(self.value, dict(zip(self.axes, index, strict=True)))


class Term(NamedTuple):
    """A summand of an adjoint: the sum of `value` over `free`, where `condition` holds."""

    reader: str
    free: tuple[E.Var, ...]
    condition: Expr
    value: Expr


def gathered(scatter: Scatter, target: Index) -> Term | None:
    """Return what a scatter adds to the element at `target`, None where that is nothing.

    weight(i) at f(i), for all i      ->      weight(i) for the i where f(i) == target
    """
    found = solve(scatter.at, target, scatter.axes)
    guard, weight = (substitute(part, found.values) for part in (scatter.guard, scatter.weight))
    condition = simplify(make.logical_and(*found.conditions, guard))
    return None if condition is make.FALSE else Term(scatter.reader, found.free, condition, weight)


def collect(
    stages: Stages, name: str, axes: Sequence[E.Var], target: Index, scatters: Sequence[Scatter], zero: Expr
) -> Expr:
    """Return the sum of what `scatters` add to the element at `target`, over `axes`.

    A sum over free axes is a stage of its own. `zero` is the value where nothing is added.
    """
    terms = [term for term in (gathered(scatter, target) for scatter in scatters) if term is not None]
    names = distinct(f"{name}.{term.reader}" if len(terms) > 1 else name for term in terms)
    total: Expr | None = None
    for term, whole in zip(terms, names, strict=True):
        part = choose(term.condition, term.value)
        if term.free:
            tensor = stages.total(whole, axes, term.value, term.free, term.condition)
            part = E.TensorRead(tensor, tuple(axes))
        total = part if total is None else plus(total, part)
    return zero if total is None else total
