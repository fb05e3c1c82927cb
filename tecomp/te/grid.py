"""Index expressions evaluated at many values of their axes at once, in search of one at which something is wrong.

A value found is a proof: at these values of the axes, with all conditions holding, the program would do it. Where there
are too many values the ends of each axis and the neighbours of the constants in the expressions are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arith.interval import interval
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.visit import conjuncts, walk
from .reads import operands_first

Array = NDArray[Any]
Spans = Mapping[E.Var, tuple[int, int | None]]
"""Axes known to take only the values from the first to the last one; a last one of None is not known."""

ALL_POINTS = 4096
"""Up to so many points every one is tried."""
MOST_POINTS = 1 << 16


class Grid(NamedTuple):
    """Values of the axes, each along a dimension of its own, and the conditions under which a point exists."""

    values: dict[E.Var, Array]
    conditions: tuple[Expr, ...]

    def holds(self) -> Array | None:
        """Return at which points all conditions hold; None where the data or a size decides."""
        held: Array = np.array(True)
        for condition in self.conditions:
            value = evaluate(condition, self.values)
            if value is None:
                return None
            held = held & value
        return np.broadcast_to(held, self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return np.broadcast_shapes(*(value.shape for value in self.values.values()))

    def point(self, at: Sequence[int]) -> dict[E.Var, int]:
        """Return the values of the axes at one point."""
        return {var: int(np.broadcast_to(value, self.shape)[tuple(at)]) for var, value in self.values.items()}


def grid(exprs: Iterable[Expr], guards: Iterable[Expr], spans: Spans) -> Grid | None:
    """Return points at which to evaluate `exprs`, None when they use more than axes or have too many axes."""
    conditions = [part for guard in guards for part in conjuncts(guard)]
    domains: dict[E.Var, range] = {}
    pending = [*exprs, *conditions]
    constants: set[int] = set()
    while pending:
        for node in walk(pending.pop()):
            if isinstance(node, E.Const) and isinstance(node.value, int):
                constants.add(node.value)
            if not isinstance(node, E.Var) or node in domains:
                continue
            domain = _domain(node, spans)
            if domain is None:
                return None
            domains[node], limits = domain
            conditions.extend(limits)
            pending.extend(limits)
    chosen = _choose(domains, constants)
    if chosen is None:
        return None
    axes = np.ix_(*chosen) if chosen else ()
    return Grid(dict(zip(domains, axes, strict=True)), tuple(conditions))


def _domain(var: E.Var, spans: Spans) -> tuple[range, list[Expr]] | None:
    """Return the values that an axis may take, and conditions for them; None for what is no axis of known range."""
    if var in spans:
        first, last = spans[var]
        return range(first, first + 1 if last is None else last + 1), []
    if var.min is None or var.extent is None:
        return None
    if isinstance(var.min, E.Const) and isinstance(var.extent, E.Const):
        return range(int(var.min.value), int(var.min.value + var.extent.value)), []
    used = [node for end in (var.min, var.extent) for node in walk(end)]
    if any(isinstance(node, (E.TensorRead, E.Load)) for node in used):
        return None
    if any(isinstance(node, E.Var) and node.extent is not None for node in used):
        return _dependent_domain(var, var.min, var.extent)
    return (range(int(var.min.value), int(var.min.value) + 1), []) if isinstance(var.min, E.Const) else None


def _dependent_domain(var: E.Var, first: Expr, extent: Expr) -> tuple[range, list[Expr]] | None:
    """Return all values that `var` takes at some values of the axes its ends depend on, and when it takes them."""
    low, count = interval(first), interval(extent)
    if low.lo is None or low.hi is None or count.hi is None:
        return None
    return range(low.lo, low.hi + max(count.hi, 0)), [make.le(first, var), make.lt(make.sub(var, first), extent)]


def _choose(domains: Mapping[E.Var, range], constants: set[int]) -> list[Array] | None:
    """Return the values to try of each axis: all, or the telling ones, or the ends; None when even those are many."""
    near = {constant + step for constant in constants for step in (-1, 0, 1)}
    everything = list(domains.values())
    telling = [sorted({*_ends(domain), *(value for value in near if value in domain)}) for domain in everything]
    ends = [_ends(domain) for domain in everything]
    for choice, most in ((everything, ALL_POINTS), (telling, MOST_POINTS), (ends, MOST_POINTS)):
        if prod(map(len, choice)) <= most:
            return [np.array(values, np.int64) for values in choice]
    return None


def _ends(domain: range) -> list[int]:
    return sorted({domain[at] for at in (0, 1, -2, -1) if -len(domain) <= at < len(domain)})


def evaluate(root: Expr, values: Mapping[E.Var, Array]) -> Array | None:
    """Return the exact integers or bools that `root` takes; None where it reads data or a variable without values."""
    done: dict[Expr, Array | None] = {}
    with np.errstate(all="ignore"):
        for node in operands_first(root):
            done[node] = _evaluate(node, [done[operand] for operand in node.operands()], values)
    return done[root]


def _evaluate(node: Expr, operands: list[Array | None], values: Mapping[E.Var, Array]) -> Array | None:
    if isinstance(node, E.Var):
        return values.get(node)
    if isinstance(node, E.Const):
        return np.array(node.value) if not isinstance(node.value, float) else None
    verb = _VERBS.get(type(node))
    if verb is None or node.dtype.is_float or any(operand is None for operand in operands):
        return None
    if isinstance(node, E.Cast) and (node.dtype.kind != "int" or node.dtype.bits < 32):
        return None
    return verb(*operands)


def _trunc_div(a: Array, b: Array) -> Array:
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


_VERBS: dict[type, Callable[..., Array]] = {
    E.Add: np.add, E.Sub: np.subtract, E.Mul: np.multiply, E.Min: np.minimum, E.Max: np.maximum,
    E.FloorDiv: np.floor_divide, E.FloorMod: np.mod, E.TruncDiv: _trunc_div,
    E.TruncMod: lambda a, b: a - b * _trunc_div(a, b),
    E.Eq: np.equal, E.Ne: np.not_equal, E.Lt: np.less, E.Le: np.less_equal,
    E.And: np.logical_and, E.Or: np.logical_or, E.Not: np.logical_not,
    E.Select: np.where, E.IfElse: np.where,
    E.Cast: lambda a: a.astype(np.int64),  # to 32 or 64 bits: what is exact stays so
}  # fmt: skip
