"""Simplification: bottom-up, with facts for what stands under a condition, on an explicit stack.

    (io * 4 + ii) // 4      ->  io                      0 <= ii < 4
    x // 8 * 8 + x % 8      ->  x
    i * 4 + 3 < j * 4       ->  i < j
    a if i < n else b       ->  a                       where i < n is known

Index arithmetic takes the direct ways of `canonical`, `division` and `compare`; everything else the tables in `rules`.
The result means what the expression meant wherever the facts hold, and simplifying it again gives the same object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from .affine import number
from .canonical import canonical_product, canonical_sum
from .compare import simplify_comparison, simplify_extreme
from .division import simplify_floordiv, simplify_floormod
from .facts import NO_FACTS, Facts
from .implied import is_total, without_implied, without_implying
from .interval import interval, type_range
from .lanes import ramp_divided
from .prove import proves
from .rules import arithmetic, choice, division, extrema, logic
from .sums import is_linear, leaves

Task = tuple[Expr, Facts]


def simplify(root: Expr, facts: Facts = NO_FACTS) -> Expr:
    """Return `root` simplified where `facts` hold; the same object when there is nothing to do."""
    known = facts.simplified.get(root)
    if known is not None:
        return known
    facts.forget_if_large()
    becomes: dict[Task, Expr] = {}
    asked: dict[Task, list[Task]] = {}
    stack: list[Task] = [(root, facts)]
    while stack:
        task = node, where = stack[-1]
        if node in where.simplified:
            stack.pop()
            continue
        new = becomes.get(task)
        if new is None:
            needs = asked.get(task) or _needs(node, where)
            waiting = [part for part in needs if part[0] not in part[1].simplified and type(part[0]) is not E.Const]
            if waiting:
                stack.extend(reversed(waiting))
                if type(node) not in _NEEDS:
                    asked[task] = needs
                continue
            new = _step(node, where, needs)
            if new is not node and (new, where) not in becomes and new not in where.simplified:
                becomes[task] = new
                stack.append((new, where))
                continue
        where.simplified[node] = where.simplified.get(new, node)
        stack.pop()
    return facts.simplified[root]


def can_prove(condition: Expr, facts: Facts = NO_FACTS) -> bool:
    """Return whether `condition` is proved to hold (in every lane); False says nothing."""
    facts.forget_if_large()
    if proves(condition, facts):
        return True
    simple = simplify(condition, facts)
    return _is_true(simple) or (simple is not condition and proves(simple, facts))


def _is_true(value: Expr) -> bool:
    return value is make.TRUE or (isinstance(value, E.Broadcast) and value.value is make.TRUE)


def _needs(node: Expr, facts: Facts) -> list[Task]:
    """Return what must be simplified before `node`, and under which facts."""
    if is_linear(node):
        return [(leaf, facts) for leaf in leaves(node)]
    verb = _NEEDS.get(type(node))
    return [(part, facts) for part in node.operands()] if verb is None else verb(node, facts)


def _after(first: Expr, facts: Facts, rest: Callable[[Expr], list[Task]]) -> list[Task]:
    """Return `first`, and once that is simplified what stands under it too."""
    simple = first if type(first) is E.Const else facts.simplified.get(first)
    return [(first, facts)] if simple is None else [(first, facts), *rest(simple)]


def _and_needs(node: E.And, facts: Facts) -> list[Task]:
    return _after(node.a, facts, lambda a: [(node.b, facts.assume(a))])


def _or_needs(node: E.Or, facts: Facts) -> list[Task]:
    return _after(node.a, facts, lambda a: [(node.b, facts.assume(make.logical_not(a)))])


def _choice_needs(node: E.Select | E.IfElse, facts: Facts) -> list[Task]:
    def branches(condition: Expr) -> list[Task]:
        if isinstance(node, E.Select) and not (is_total(node.yes) and is_total(node.no)):
            return [(node.yes, facts), (node.no, facts)]
        return [(node.yes, facts.assume(condition)), (node.no, facts.assume(make.logical_not(condition)))]

    return _after(node.condition, facts, branches)


_NEEDS: dict[type, Callable[[Any, Facts], list[Task]]] = {
    E.And: _and_needs,
    E.Or: _or_needs,
    E.Select: _choice_needs,
    E.IfElse: _choice_needs,
}


_DIVISIONS = (E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod)


def _step(node: Expr, facts: Facts, needs: list[Task]) -> Expr:
    """Return what one step makes of `node`, whose parts are simplified; itself when it is simple."""
    if is_linear(node):
        return canonical_sum(node, facts.simplified, facts)
    operands = node.operands()
    if operands:
        simple = [where.simplified.get(part, part) for part, where in needs]
        if any(x is not y for x, y in zip(operands, simple, strict=True)):
            return node.with_operands(simple)
        if all(isinstance(part, E.Const) for part in operands):
            return _folded(node)
    if facts.truths and node in facts.truths:
        return make.broadcast(make.TRUE if facts.truths[node] else make.FALSE, node.dtype.lanes)
    verb = _STEPS.get(type(node))
    new = node if verb is None else verb(node, facts)
    return _only_value(node, facts) if new is node else new


def _only_value(node: Expr, facts: Facts) -> Expr:
    """Return the constant that an integer is where its interval leaves no other."""
    if isinstance(node, (E.Const, E.Broadcast)) or not node.dtype.is_integer:
        return node
    value = interval(node).value
    if value is None and node in facts.ranges:
        value = facts.term_interval(node).value
    return node if value is None else number(value, node.dtype)


_FOLDS: dict[type, Callable[..., Expr]] = {
    E.Add: make.add, E.Sub: make.sub, E.Mul: make.mul, E.Div: make.div,
    E.FloorDiv: make.floordiv, E.FloorMod: make.floormod, E.TruncDiv: make.truncdiv, E.TruncMod: make.truncmod,
    E.Min: make.minimum, E.Max: make.maximum, E.Lt: make.lt, E.Le: make.le, E.Eq: make.eq, E.Ne: make.ne,
}  # fmt: skip


def _folded(node: Expr) -> Expr:
    """Return what an operation on constants gives; a division by zero stays, to be refused where it stands."""
    if isinstance(node, E.Cast):
        return make.cast(node.dtype, node.value)
    fold = _FOLDS.get(type(node))
    if fold is None or not isinstance(node, E.Binary):
        verb = _STEPS.get(type(node))
        return node if verb is None else verb(node, NO_FACTS)
    if isinstance(node, _DIVISIONS) and node.b is number(0, node.dtype):
        return node
    return fold(node.a, node.b)


def _in_order(*verbs: Callable[[Any, Facts], Expr | None]) -> Callable[[Any, Facts], Expr]:
    """Return a step that is the first of `verbs` to change the node."""

    def step(node: Expr, facts: Facts) -> Expr:
        for verb in verbs:
            new = verb(node, facts)
            if new is not None and new is not node:
                return new
        return node

    return step


def _product(node: E.Mul, _: Facts) -> Expr:
    return canonical_product(node) if node.dtype.is_integer else node


def _cast(node: E.Cast, _: Facts) -> Expr:
    """Drop a cast that changes nothing: cast(index, cast(int32, i)) -> i where i fits in int32."""
    inner = node.value
    if isinstance(inner, E.Broadcast):
        return E.Broadcast(E.Cast(node.dtype.element, inner.value), inner.lanes)
    if not isinstance(inner, E.Cast) or not (inner.dtype.is_integer and inner.value.dtype.is_integer):
        return node
    span = interval(inner.value)
    if inner.dtype.kind != "index" and not span.within(type_range(inner.dtype)):
        return node
    return make.cast(node.dtype, inner.value)


def _load(node: E.Load, _: Facts) -> Expr:
    if isinstance(node.mask, E.Broadcast) and node.mask.value is make.TRUE:
        return E.Load(node.buffer, node.indices, make.TRUE)
    return node


def _ramp(node: E.Ramp, _: Facts) -> Expr:
    return E.Broadcast(node.base, node.lanes) if node.stride is number(0, node.stride.dtype) else node


_CALLS: dict[str, Callable[[E.Call], Expr]] = {
    "shift_left": lambda node: E.Mul(node.args[0], _power(node)),
    "shift_right": lambda node: E.FloorDiv(node.args[0], _power(node)),
}


def _power(node: E.Call) -> Expr:
    count = node.args[1]
    assert isinstance(count, E.Const)
    return number(1 << int(count.value), node.dtype)


def _call(node: E.Call, _: Facts) -> Expr:
    """Turn a shift of an index by a constant into * or //, which index arithmetic knows."""
    verb = _CALLS.get(node.name)
    known = verb is not None and node.dtype.kind == "index" and isinstance(node.args[1], E.Const)
    return verb(node) if verb is not None and known else node


_STEPS: dict[type, Callable[[Any, Facts], Expr]] = {
    E.Add: _in_order(arithmetic.ADD),
    E.Sub: _in_order(arithmetic.SUB),
    E.Mul: _in_order(arithmetic.MUL, _product),
    E.Div: _in_order(division.DIV),
    E.FloorDiv: _in_order(division.FLOORDIV, ramp_divided, simplify_floordiv),
    E.FloorMod: _in_order(division.FLOORMOD, ramp_divided, simplify_floormod),
    E.TruncDiv: _in_order(division.TRUNCDIV),
    E.TruncMod: _in_order(division.TRUNCMOD),
    E.Min: _in_order(simplify_extreme, extrema.MIN),
    E.Max: _in_order(simplify_extreme, extrema.MAX),
    E.Lt: simplify_comparison,
    E.Le: simplify_comparison,
    E.Eq: simplify_comparison,
    E.Ne: simplify_comparison,
    E.And: _in_order(logic.AND, without_implied),
    E.Or: _in_order(logic.OR, without_implying),
    E.Not: _in_order(logic.NOT),
    E.Select: _in_order(choice.SELECT),
    E.IfElse: _in_order(choice.IF_ELSE),
    E.Cast: _cast,
    E.Load: _load,
    E.Ramp: _ramp,
    E.Call: _call,
}
