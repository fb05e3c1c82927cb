"""Sums as they are spelled: + - and * by constants, collected into terms in the ring of their type.

Exact for index, modulo 2**bits for wrapping integers, so collecting terms is right under wrap-around too. Lanes: ramps
and broadcasts of one sum join into one ramp.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..dtype import DType
from ..ir import expr as E
from ..ir.node import Expr
from .affine import Affine

_LINEAR = (E.Add, E.Sub, E.Mul)


def collect(root: Expr, simplified: Mapping[Expr, Expr] | None = None) -> Affine:
    """Return `root` as terms and a constant, each leaf replaced by what `simplified` says of it.

    Coefficients are not reduced modulo the type: where no operation wraps, the form is the exact value. Terms stand in
    order of first occurrence.
    """
    terms: dict[Expr, int] = {}
    total = 0
    for leaf, coefficient in _leaves(root).items():
        value = leaf if simplified is None else simplified.get(leaf, leaf)
        inside = {value: 1} if value is leaf or type(value) not in _LINEAR else _leaves(value)
        for term, factor in inside.items():
            number = constant(term)
            if number is None:
                terms[term] = terms.get(term, 0) + coefficient * factor
            else:
                total += coefficient * factor * number
    return Affine({term: c for term, c in terms.items() if c}, total)


def leaves(root: Expr) -> list[Expr]:
    """Return what `root` adds up, in order of first occurrence: nothing of it is a sum or a multiple by a constant."""
    return list(_leaves(root))


def constant(node: Expr) -> int | None:
    """Return the integer that a constant holds (in every lane), None for anything else."""
    if isinstance(node, E.Broadcast):
        node = node.value
    return int(node.value) if isinstance(node, E.Const) and not isinstance(node.value, float) else None


def _leaves(root: Expr) -> dict[Expr, int]:
    """Return each leaf of a sum with its coefficient."""
    weights: dict[Expr, int] = {}
    inner: set[Expr] = set()
    stack = [(root, 1)]
    while stack:
        node, weight = stack.pop()
        parts = _split(node)
        if not parts:
            weights[node] = weights.get(node, 0) + weight
        elif node in inner:
            return _shared_leaves(root)
        else:
            inner.add(node)
            stack.extend((part, weight * factor) for part, factor in reversed(parts))
    return weights


def _split(node: Expr) -> tuple[tuple[Expr, int], ...]:
    """Return the parts that a linear node joins, with their factors; nothing for a leaf."""
    kind = type(node)
    if kind is E.Add:
        return (node.a, 1), (node.b, 1)  # type: ignore[attr-defined]
    if kind is E.Sub:
        return (node.a, 1), (node.b, -1)  # type: ignore[attr-defined]
    if kind is E.Mul:
        factor = constant(node.b)  # type: ignore[attr-defined]
        if factor is not None:
            return ((node.a, factor),)  # type: ignore[attr-defined]
        factor = constant(node.a)  # type: ignore[attr-defined]
        if factor is not None:
            return ((node.b, factor),)  # type: ignore[attr-defined]
    return ()


def _shared_leaves(root: Expr) -> dict[Expr, int]:
    """Do the same where sums are shared, each of them once: coefficients are pushed down in topological order."""
    parts: dict[Expr, tuple[tuple[Expr, int], ...]] = {}
    order: list[Expr] = []
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            order.append(node)
        elif node not in parts:
            parts[node] = below = _split(node)
            stack.append((node, True))
            stack.extend((part, False) for part, _ in reversed(below))
    weights = dict.fromkeys(order, 0)
    weights[root] = 1
    for node in reversed(order):
        for part, factor in parts[node]:
            weights[part] += weights[node] * factor
    return {node: weights[node] for node in order if not parts[node]}


def in_ring(form: Affine, dtype: DType) -> Affine:
    """Return the form with its numbers brought into the ring of `dtype`, signs kept where they fit."""
    if dtype.kind == "index":
        return form
    size = 1 << dtype.bits
    half = size >> 1 if dtype.kind == "int" else 0

    def reduced(number: int) -> int:
        if half:
            return (number + half - 1) % size - half + 1
        return number % size if number >= 0 else -(-number % size)

    terms = {term: reduced(c) for term, c in form.terms.items()}
    return Affine({term: c for term, c in terms.items() if c}, reduced(form.constant))


def join_lanes(form: Affine, dtype: DType) -> Affine:
    """Return a vector form with its ramps and broadcasts joined: one ramp or broadcast, and the other terms."""
    base, stride, others = Affine({}, 0), Affine({}, 0), dict[Expr, int]()
    for term, coefficient in form.terms.items():
        if isinstance(term, E.Ramp):
            base, stride = base.plus(collect(term.base), coefficient), stride.plus(collect(term.stride), coefficient)
        elif isinstance(term, E.Broadcast):
            base = base.plus(collect(term.value), coefficient)
        else:
            others[term] = coefficient
    if len(others) == len(form.terms):
        return form
    element = dtype.element
    base, stride = in_ring(base.shifted(form.constant), element), in_ring(stride, element)
    start, step = base.expr(element), stride.expr(element)
    if not stride.terms and stride.constant == 0:
        if not base.terms:
            return Affine(others, base.constant)
        return Affine({E.Broadcast(start, dtype.lanes): 1, **others})
    return Affine({E.Ramp(start, step, dtype.lanes): 1, **others})


def is_linear(node: Expr) -> bool:
    """Return whether `node` adds or subtracts integers, or multiplies one by a constant."""
    return type(node) in _LINEAR and node.dtype.is_integer and bool(_split(node))
