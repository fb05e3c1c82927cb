"""Conditions that stand beside one another: one that another implies is dropped.

    x < 5 and x < 3  ->  x < 3
    x < 3 or x < 5   ->  x < 5

The right side of `and` and `or` is simplified under what the left side says; here the right side speaks of the left.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from .facts import Facts
from .prove import proves
from .sums import constant

_MOST = 8
"""Conditions of one chain that are held against its last."""


def without_implied(node: E.And, facts: Facts) -> Expr:
    """Return a conjunction less what its last part implies; `node` when that is nothing."""
    if not is_total(node.b):
        return node
    known = facts.assume(node.b)
    left = _parts(node.a, E.And)
    kept = _kept(left, lambda part: proves(part, known))
    return node if len(kept) == len(left) else make.logical_and(*kept, node.b)


def without_implying(node: E.Or, facts: Facts) -> Expr:
    """Return a disjunction less what implies its last part; `node` when that is nothing."""
    if not is_total(node.b):
        return node
    left = _parts(node.a, E.Or)
    known = facts.assume(make.logical_not(node.b))
    kept = _kept(left, lambda part: proves(make.logical_not(part), known))
    return node if len(kept) == len(left) else make.logical_or(*kept, node.b)


def _kept(parts: list[Expr], is_implied: Callable[[Expr], bool]) -> list[Expr]:
    """Return the parts that are not implied, and those before a part that may fail, which they may protect."""
    protected = max((at for at, part in enumerate(parts) if not is_total(part)), default=0)
    return [part for at, part in enumerate(parts) if at < protected or not is_implied(part)]


def _parts(node: Expr, chain: type[E.And] | type[E.Or]) -> list[Expr]:
    """Return what a chain joins, in order; its first links as one part where there are many."""
    found: list[Expr] = []
    while isinstance(node, chain) and len(found) < _MOST:
        found.append(node.b)
        node = node.a
    return [node, *reversed(found)]


def is_total(root: Expr) -> bool:
    """Return whether `root` can be evaluated anywhere: it reads nothing, and its divisors are constants but 0.

    What guards a read or a division, a lazy choice or logic, counts as no part of such an expression either.
    """
    stack, count = [root], 0
    while stack:
        node = stack.pop()
        count += 1
        if count > _LARGE or isinstance(node, _PARTIAL) or (isinstance(node, _DIVISIONS) and not constant(node.b)):
            return False
        stack += node.operands()
    return True


_LARGE = 64
_PARTIAL = (E.Load, E.TensorRead, E.Reduce, E.Call, E.IfElse, E.And, E.Or)
_DIVISIONS = (E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod)
