"""The derivative of one formula by the elements it reads, in reverse: each node of it is looked at once.

    A[i] * exp(B[i]), seed g          A[i]: g * exp(B[i])        B[i]: g * (A[i] * exp(B[i]))

What a condition protects is differentiated under that condition, so that the derivative reads no more than the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...errors import UserError
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.visit import conjuncts, walk
from ..reads import operands_first
from .derivatives import DERIVATIVES


class Flow(NamedTuple):
    """How the result changes with a node: `adjoint`, where `guard` holds, and not at all elsewhere."""

    guard: Expr
    adjoint: Expr


Ways = dict[Expr, Expr]
"""The adjoints of a node by their guards."""


def partials(
    roots: Sequence[tuple[Expr, Flow]],
    is_leaf: Callable[[Expr], bool],
    known: Mapping[Expr, Expr],
    asked: str,
) -> dict[Expr, Flow]:
    """Return how what the `roots` flow into changes with each leaf, in the order of the leaves.

    known  reads what is computed already, in place of nodes whose value a derivative needs
    asked  begins the refusal of a function of which no derivative is known
    """
    order = list(dict.fromkeys(node for root, _ in roots for node in operands_first(root)))
    moving = _moving(order, is_leaf)
    flows: dict[Expr, Ways] = {}
    for root, seed in roots:
        _join(flows, root, seed)
    for node in reversed(order):
        if node in moving and node in flows and not is_leaf(node):
            for below, flow in _step(node, _together(flows[node]), moving, known, asked):
                _join(flows, below, flow)
    return {node: _together(flows[node]) for node in order if node in moving and is_leaf(node) and node in flows}


def _moving(order: Iterable[Expr], is_leaf: Callable[[Expr], bool]) -> set[Expr]:
    """Return the nodes that change with a leaf smoothly: what is a float all the way.

    Integers and conditions pass nothing on, but to a function that is not known, which may read their bits.
    """
    above: set[Expr] = set()
    moving: set[Expr] = set()
    for node in order:
        leaf, below = is_leaf(node), node.operands()
        if leaf or any(operand in above for operand in below):
            above.add(node)
        source = above if _is_unknown(node) else moving
        if node.dtype.is_float and (leaf or any(operand in source for operand in below)):
            moving.add(node)
    return moving


def _is_unknown(node: Expr) -> bool:
    return isinstance(node, E.Call) and node.name not in DERIVATIVES


def choose(condition: Expr, value: Expr, otherwise: Expr | None = None) -> Expr:
    """Return value where the condition holds, else 0 or what is given.

    Lazily where indices take part, as those protect reads; what only the data decide is a select.
    """
    lazy = any(not any(isinstance(node, E.TensorRead) for node in walk(part)) for part in conjuncts(condition))
    choice = make.if_then_else if lazy else make.select
    return choice(condition, value, make.const(0, value.dtype) if otherwise is None else otherwise)


def _join(flows: dict[Expr, Ways], node: Expr, flow: Flow) -> None:
    """Add one more way in which the result depends on `node`."""
    ways = flows.setdefault(node, {})
    other = ways.get(flow.guard)
    ways[flow.guard] = flow.adjoint if other is None else plus(other, flow.adjoint)


def _together(ways: Ways) -> Flow:
    """Return the sum of the ways, as a choice where it is one."""
    (guard, adjoint), *others = ways.items()
    if len(others) == 1 and others[0][0] is make.logical_not(guard):
        return Flow(make.TRUE, choose(guard, adjoint, others[0][1]))
    if not others:
        return Flow(guard, adjoint)
    total = choose(guard, adjoint)
    for other, more in others:
        total = plus(total, choose(other, more))
    return Flow(make.logical_or(*ways), total)


def plus(a: Expr, b: Expr) -> Expr:
    """Return a + b, as a difference where b is a negative, as a product where both are one."""
    if a is b:
        return make.mul(a, make.const(2, a.dtype))
    if isinstance(b, E.Mul) and isinstance(b.b, E.Const) and b.b.value == -1:
        return make.sub(a, b.a)
    return make.add(a, b)


def times(g: Expr, partial: Expr) -> Expr:
    """Return g * partial, with a unit left out."""
    return partial if isinstance(g, E.Const) and g.value == 1 else make.mul(g, partial)


def _step(
    node: Expr, flow: Flow, moving: set[Expr], known: Mapping[Expr, Expr], asked: str
) -> Iterable[tuple[Expr, Flow]]:
    """Yield the moving operands of `node`, each with its share of what flows into the node."""
    if isinstance(node, (E.Select, E.IfElse)):
        sides = ((node.yes, node.condition), (node.no, make.logical_not(node.condition)))
        yield from (
            (side, Flow(make.logical_and(flow.guard, test), flow.adjoint)) for side, test in sides if side in moving
        )
        return
    rule = _RULES.get(type(node))
    if rule is None or _is_unknown(node):
        name = node.name if isinstance(node, E.Call) else type(node).__name__
        raise UserError(
            asked,
            because=f"no derivative of '{name}' is known",
            legal="the functions of te, whose derivatives are known",
        )
    for position, below in enumerate(node.operands()):
        share = rule(node, position, known.get(node, node), flow.adjoint) if below in moving else None
        if share is not None:
            yield below, Flow(flow.guard, share)


def _call(node: E.Call, position: int, y: Expr, g: Expr) -> Expr | None:
    partial = DERIVATIVES[node.name][position](y, *node.args)
    return None if partial is None else times(g, partial)


def _quotient(node: E.Div, position: int, y: Expr, g: Expr) -> Expr:
    return make.div(g, node.b) if position == 0 else make.neg(make.div(times(g, y), node.b))


def _extreme(passes: Callable[[Expr, Expr], Expr]) -> Callable[..., Expr]:
    """All flows to the side that is chosen; at a tie to the second, or to a constant."""

    def rule(node: E.Binary, position: int, _: Expr, g: Expr) -> Expr:
        tie_to_first = isinstance(node.a, E.Const)
        first, second = (node.b, node.a) if tie_to_first else (node.a, node.b)
        second_is_chosen = passes(first, second)
        nothing = make.const(0, g.dtype)
        if (position == 0) is tie_to_first:
            return make.select(second_is_chosen, g, nothing)
        return make.select(second_is_chosen, nothing, g)

    return rule


_RULES: dict[type, Callable[..., Expr | None]] = {
    E.Add: lambda node, position, y, g: g,
    E.Sub: lambda node, position, y, g: g if position == 0 else make.neg(g),
    E.Mul: lambda node, position, y, g: times(g, node.operands()[1 - position]),
    E.Div: _quotient,
    E.Max: _extreme(make.le),
    E.Min: _extreme(lambda first, second: make.le(second, first)),
    E.Cast: lambda node, position, y, g: make.cast(node.value.dtype, g),
    E.Call: _call,
}
"""What of the adjoint g of a node, whose value is y, reaches its operand of that position; None is 0."""
