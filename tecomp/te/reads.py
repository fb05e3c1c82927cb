"""What a body reads and divides by, and under which conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr

Guards = tuple[Expr, ...]

MOST_CONTEXTS = 8
"""Of an expression that is read under more sets of conditions, the further ones are not looked at."""
MOST_GUARDS = 32
"""What stands under more conditions than this is not looked at."""

DIVISIONS = (E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod)


class Access(NamedTuple):
    """What is looked for, such as a TensorRead or an integer division, evaluated only where all guards hold."""

    node: Expr
    guards: Guards


def operands_first(root: Expr) -> list[Expr]:
    """Return the expressions of `root`, each once and after those below it; without recursion."""
    order: list[Expr] = []
    placed: set[Expr] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        waiting = [below for below in node.operands() if below not in placed] if node not in placed else []
        if waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        if node not in placed:
            placed.add(node)
            order.append(node)
    return order


def accesses(root: Expr, kinds: tuple[type[Expr], ...] = (E.TensorRead, *DIVISIONS)) -> Iterator[Access]:
    """Yield the expressions of these kinds in `root`, each with the conditions that protect it, once a set of them."""
    contexts: dict[Expr, dict[Guards, None]] = {root: {(): None}}
    for node in reversed(operands_first(root)):
        here = contexts.pop(node, {})
        if isinstance(node, kinds):
            yield from (Access(node, guards) for guards in here)
        for below, extra in _guarded_operands(node):
            _extend(contexts.setdefault(below, {}), here, extra)


def _extend(known: dict[Guards, None], contexts: Iterable[Guards], extra: Guards) -> None:
    """Add each context with the `extra` guards; one without guards makes the others needless."""
    for guards in contexts:
        if () in known:
            return
        longer = (*guards, *extra)
        if not longer:
            known.clear()
        if len(known) < MOST_CONTEXTS and len(longer) <= MOST_GUARDS:
            known[longer] = None


def _guarded_operands(node: Expr) -> Iterable[tuple[Expr, Guards]]:
    split = _GUARDED.get(type(node))
    return split(node) if split is not None else [(below, ()) for below in node.operands()]


def _choice(node: E.Select | E.IfElse) -> Iterable[tuple[Expr, Guards]]:
    test = node.condition
    return [(test, ()), (node.yes, (test,)), (node.no, (make.logical_not(test),))]


def _reduce(node: E.Reduce) -> Iterable[tuple[Expr, Guards]]:
    guards = () if node.condition is make.TRUE else (node.condition,)
    return [(node.condition, ()), *((part, guards) for part in node.source), *((part, ()) for part in node.init)]


_GUARDED: dict[type, Callable[[Any], Iterable[tuple[Expr, Guards]]]] = {
    E.IfElse: _choice,
    E.Select: _choice,
    E.And: lambda node: [(node.a, ()), (node.b, (node.a,))],
    E.Or: lambda node: [(node.a, ()), (node.b, (make.logical_not(node.a),))],
    E.Reduce: _reduce,
}
