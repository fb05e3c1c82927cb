"""Expressions of one vectorized loop, for all lanes together, reading nothing in lanes that a condition leaves out."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, NamedTuple

from ..arith import can_prove
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Buffer, Stmt, Store
from ..ir.visit import rewrite
from . import lanes
from .accesses import allocated, has

Request = tuple[Expr, Expr]
"""An expression and the mask (TRUE: every lane) under which it is evaluated."""
Build = Callable[[Any, Any], Expr]
Steps = Generator[Request, Any, Expr]


class Wide(NamedTuple):
    """A buffer with a dimension for the lane, and the mask under which the program allocates it.

    Under that mask all lanes may be touched: those left out hold anything, and nobody asks.
    """

    buffer: Buffer
    born: Expr

    def mask(self, mask: Expr) -> Expr:
        """Return the mask that an access under `mask` needs."""
        return make.TRUE if mask is self.born else mask


class LaneExprs:
    """What each scalar expression is in all lanes: itself when all lanes agree, else a vector.

    `values` are the variables that differ from lane to lane, `wide` the buffers with a dimension for the lane,
    `inhabited` the masks known to hold in at least one lane.
    """

    def __init__(self, var: E.Var, ramp: E.Ramp) -> None:
        self.lanes = ramp.lanes
        self.values: dict[E.Var, Expr] = {var: ramp}
        self.number = E.Ramp(make.const(0, INDEX), make.const(1, INDEX), ramp.lanes)
        self.wide: dict[Buffer, Wide] = {}
        self.inhabited: set[Expr] = {make.TRUE}
        self.memo: dict[Request, Expr] = {}

    def under(self, root: Expr, mask: Expr) -> Expr:
        """Return `root` in all lanes; lanes outside `mask` hold anything, and read nothing."""
        running: list[tuple[Request, Steps]] = [((root, mask), self.steps(root, mask))]
        reply: Expr | None = None
        while running:
            request, steps = running[-1]
            try:
                wanted = steps.send(reply)
            except StopIteration as done:
                self.memo[request] = reply = done.value
                running.pop()
                continue
            reply = self.memo.get(wanted)
            if reply is None:
                running.append((wanted, self.steps(*wanted)))
        assert reply is not None
        return reply

    def steps(self, node: Expr, mask: Expr) -> Steps:
        """Yield the requests for what `node` consists of, and return it."""
        return _STEPS.get(type(node), LaneExprs.elementwise)(self, node, mask)

    def elementwise(self, node: Expr, mask: Expr) -> Steps:
        if isinstance(node, E.Var):
            return self.values.get(node, node)
        operands: list[Expr] = []
        for operand in node.operands():
            operands.append((yield operand, mask))
        return lanes.spread_value(lanes.build(node, operands))

    def load(self, node: E.Load, mask: Expr) -> Steps:
        indices: list[Expr] = []
        for index in node.indices:
            indices.append((yield index, mask))
        own = yield node.mask, mask
        wide = self.wide.get(node.buffer)
        if wide is not None:
            return E.Load(wide.buffer, (*indices, self.number), self.spread_mask(wide.mask(mask), own))
        uniform = all(index.dtype.lanes == 1 for index in indices)
        safe = not indices or mask in self.inhabited or (uniform and _inside(node.buffer, indices))
        if uniform and own.dtype.lanes == 1 and safe:
            return E.Load(node.buffer, tuple(indices), own)
        if uniform:
            indices[-1] = make.broadcast(indices[-1], self.lanes)
        return E.Load(node.buffer, tuple(indices), self.spread_mask(mask, own))

    def spread_mask(self, mask: Expr, own: Expr) -> Expr:
        """Return both masks as one of all lanes, or TRUE."""
        joined = both(mask, own)
        return joined if joined is make.TRUE else make.broadcast(joined, self.lanes)

    def choice(self, node: E.IfElse, mask: Expr) -> Steps:
        condition = yield node.condition, mask
        if condition.dtype.lanes == 1:
            return lanes.build(node, [condition, (yield node.yes, mask), (yield node.no, mask)])
        yes = yield node.yes, both(mask, condition)
        no = yield node.no, both(mask, opposite(condition))
        return E.Select(condition, make.broadcast(yes, self.lanes), make.broadcast(no, self.lanes))

    def conjunction(self, node: E.And, mask: Expr) -> Steps:
        a = yield node.a, mask
        b = yield node.b, both(mask, a) if a.dtype.lanes > 1 else mask
        if a.dtype.lanes < b.dtype.lanes:
            b = yield node.b, self.spread_mask(mask, a)
        return both(a, b)

    def disjunction(self, node: E.Or, mask: Expr) -> Steps:
        a = yield node.a, mask
        b = yield node.b, both(mask, opposite(a)) if a.dtype.lanes > 1 else mask
        if a.dtype.lanes < b.dtype.lanes:
            b = yield node.b, self.spread_mask(mask, opposite(a))
        return either(a, b)

    def division(self, node: E.Binary, mask: Expr) -> Steps:
        """A divisor that differs from lane to lane is 1 in those left out: it might be zero there.

        One that all lanes share is what a lane that counts divides by, where there is such a lane.
        """
        a = yield node.a, mask
        b = yield node.b, mask
        if b.dtype.lanes > 1 or mask not in self.inhabited:
            b = self.nonzero(b, mask)
        return lanes.spread_value(lanes.build(node, [a, b]))

    def nonzero(self, divisor: Expr, mask: Expr) -> Expr:
        """Return a divisor of all lanes that is 1 outside `mask`."""
        if mask is make.TRUE or isinstance(lanes.spread_value(divisor), E.Const):
            return divisor
        one = make.broadcast(make.const(1, divisor.dtype.element), self.lanes)
        return E.Select(make.broadcast(mask, self.lanes), make.broadcast(divisor, self.lanes), one)

    def one_lane(self, root: Stmt, lane: Expr) -> Stmt:
        """Return `root` as it is, its accesses to buffers with a dimension for the lane at that lane."""
        own = allocated(root)
        wide = {old: new.buffer for old, new in self.wide.items() if old not in own}

        def load(node: E.Load) -> Expr:
            return node if node.buffer not in wide else E.Load(wide[node.buffer], (*node.indices, lane), node.mask)

        def store(node: Store) -> Stmt:
            if node.buffer not in wide:
                return node
            return node.copy(buffer=wide[node.buffer], indices=(*node.indices, lane))

        return rewrite(root, {E.Load: load}, {Store: store}) if wide else root


_DIVISIONS: Final = (E.FloorDiv, E.FloorMod, E.TruncDiv, E.TruncMod)
_STEPS: Final[dict[type[Expr], Callable[[LaneExprs, Any, Expr], Steps]]] = {
    E.Load: LaneExprs.load,
    E.IfElse: LaneExprs.choice,
    E.And: LaneExprs.conjunction,
    E.Or: LaneExprs.disjunction,
    **dict.fromkeys(_DIVISIONS, LaneExprs.division),
}


def both(a: Expr, b: Expr) -> Expr:
    """Return a and b, lane by lane."""
    return _joined(a, b, make.TRUE, make.logical_and, E.And, make.bitwise_and)


def either(a: Expr, b: Expr) -> Expr:
    """Return a or b, lane by lane."""
    return _joined(a, b, make.FALSE, make.logical_or, E.Or, make.bitwise_or)


def _joined(a: Expr, b: Expr, neutral: Expr, scalar: Build, lazy: Build, strict: Build) -> Expr:
    """Vectors that read or divide join strictly: all lanes are evaluated, and the masks inside `b` must stay."""
    if a is neutral or b is neutral or a is b:
        return b if a is neutral else a
    count = max(a.dtype.lanes, b.dtype.lanes)
    if count == 1:
        return scalar(a, b)
    join = strict if has(b, E.Load, *_DIVISIONS) else lazy
    return join(make.broadcast(a, count), make.broadcast(b, count))


def opposite(condition: Expr) -> Expr:
    """Return not condition, lane by lane."""
    return make.logical_not(condition) if condition.dtype.lanes == 1 else E.Not(condition)


def some_lane(condition: Expr) -> Expr | None:
    """Return a scalar that holds exactly where `condition` does in some lane; None where no simple one is known.

    ramp(b, 1, 8) < broadcast(n, 8) holds in some lane where b < n.
    """
    return _at_an_end(condition, greatest=False)


def all_lanes(condition: Expr) -> Expr | None:
    """Return a scalar that holds exactly where `condition` does in all lanes; None where no simple one is known.

    ramp(b, 1, 8) < broadcast(n, 8) holds in all lanes where b + 7 < n.
    """
    if isinstance(condition, E.And) or (isinstance(condition, E.Call) and condition.name == "bitwise_and"):
        a, b = map(all_lanes, condition.operands())
        return None if a is None or b is None else make.logical_and(a, b)
    if has(condition, E.Load):
        return None
    value = lanes.spread_value(condition)
    return value if value.dtype.lanes == 1 else _at_an_end(condition, greatest=True)


def _at_an_end(condition: Expr, greatest: bool) -> Expr | None:
    """Return a < b of indices in the lane where a - b is greatest or least, the first or the last one."""
    if not isinstance(condition, (E.Lt, E.Le)) or condition.a.dtype.element is not INDEX:
        return None
    a, b = lanes.step(condition.a), lanes.step(condition.b)
    if a is None or b is None:
        return None
    slope = make.sub(a[1], b[1])
    if not isinstance(slope, E.Const):
        return None
    last = condition.dtype.lanes - 1
    at = make.const(last if (slope.value >= 0) is greatest else 0, INDEX)
    return lanes.SCALAR[type(condition)](make.add(a[0], make.mul(a[1], at)), make.add(b[0], make.mul(b[1], at)))


def _inside(buffer: Buffer, indices: list[Expr]) -> bool:
    """Whether the element exists whatever the variables are."""
    zero = make.const(0, INDEX)
    return all(
        can_prove(make.le(zero, index)) and can_prove(make.lt(index, extent))
        for index, extent in zip(indices, buffer.shape, strict=True)
    )
