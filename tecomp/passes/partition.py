"""Partition: split a loop where its guards begin or cease to hold, so that most iterations run without them.

    for io in range((n + 15) // 16):        for io in range(n // 16):
        for ii in vectorized(16):               for ii in vectorized(16):
            if io*16 + ii < n:          ->          B[io*16 + ii] = A[io*16 + ii]
                B[...] = A[...]             for io in range(n // 16, (n + 15) // 16):
                                                for ii in vectorized(16):
                                                    if io*16 + ii < n:
                                                        B[...] = A[...]

A guard that needs its loop's first iterations (padding: 1 <= x) gives a third loop, before. Only the loop without
guards is looked into further, and no nest is split more than MOST_NESTED times: the program grows by a constant factor.
Loops over threads, and loops around them, stay whole.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..arith import NO_FACTS, Facts, affine, bounds_of, can_prove, constant_upper, simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import For, If, Launch, LoopKind, Seq, Stmt
from ..ir.subst import fresh_loops, substitute_stmt
from ..ir.visit import walk
from ..target import Target
from .accesses import bound_vars, has, uses
from .guards import comparisons, without

MOST_NESTED: Final = 3
"""Loops of one nest that are split."""
SPLIT_KINDS: Final = (LoopKind.SERIAL, LoopKind.PARALLEL, LoopKind.UNROLLED)
FEW: Final = 4
"""A loop of fewer iterations is not worth splitting."""


class Stretch(NamedTuple):
    """The iterations first, first + 1, ..., end - 1."""

    first: Expr
    end: Expr

    @property
    def extent(self) -> Expr:
        """How many they are; 0 or less is none."""
        return simplify(make.sub(self.end, self.first))


def run(func: Func, target: Target) -> Func:
    """Return `func` with its loops split where guards change."""
    facts = NO_FACTS
    for condition, _ in func.requires:
        facts = facts.assume(condition)
    return func.with_body(_Partition(facts, frozenset(), MOST_NESTED).stmt(func.body))


class _Partition:
    """Splits below one point of the program: what holds there, the variables of lanes and threads, and how many
    splits are left."""

    def __init__(self, facts: Facts, at_once: frozenset[E.Var], left: int) -> None:
        self.facts, self.at_once, self.left = facts, at_once, left

    def stmt(self, node: Stmt) -> Stmt:
        if self.left == 0:
            return node
        match node:
            case For() if node.kind in SPLIT_KINDS and not _shared(node):
                return self.loop(node)
            case For():
                return self.below(node, at_once=self.at_once | {node.var})
            case Launch():
                return self.below(node, at_once=self.at_once | {var for _, var in node.threads})
            case If():
                return self.branch(node)
            case _:
                return self.below(node)

    def below(
        self, node: Stmt, facts: Facts | None = None, at_once: frozenset[E.Var] | None = None, less: int = 0
    ) -> Stmt:
        inner = _Partition(facts or self.facts, self.at_once if at_once is None else at_once, self.left - less)
        return node.map(inner.stmt, lambda expr: expr)

    def branch(self, node: If) -> Stmt:
        then = _Partition(self.facts.assume(node.condition), self.at_once, self.left).stmt(node.then)
        otherwise = node.otherwise
        if otherwise is not None:
            facts = self.facts.assume(make.logical_not(node.condition))
            otherwise = _Partition(facts, self.at_once, self.left).stmt(otherwise)
        same = then is node.then and otherwise is node.otherwise
        return node if same else node.copy(then=then, otherwise=otherwise)

    def loop(self, node: For) -> Stmt:
        whole = Stretch(node.min, make.add(node.min, node.extent))
        free = self.unguarded(node, whole)
        if free is None:
            return self.below(node)
        stretch, guards = free
        var = _variable(node.var, stretch)
        body = substitute_stmt(without(node.body, guards), {node.var: var})
        main = self.below(node.copy(var=var, body=body), less=1)
        before = self.rest(node, Stretch(whole.first, self.earlier(stretch.first, whole.end)))
        last = stretch.end if self.proves(stretch.first, stretch.end) else make.maximum(stretch.first, stretch.end)
        after = self.rest(node, Stretch(simplify(last, self.facts), whole.end))
        return Seq((*before, main, *after), loc=node.loc)

    def rest(self, node: For, stretch: Stretch) -> list[Stmt]:
        """Return the loop over iterations that keep their guards; nothing when there are none."""
        if self.proves(stretch.end, stretch.first):
            return []
        var = _variable(node.var, stretch)
        kind = LoopKind.SERIAL if node.kind is LoopKind.PARALLEL and self.is_short(stretch) else node.kind
        body = fresh_loops(substitute_stmt(node.body, {node.var: var}))
        return [node.copy(var=var, kind=kind, body=body)]

    def is_short(self, stretch: Stretch) -> bool:
        most = constant_upper(stretch.extent, self.facts)
        return most is not None and most < FEW

    def proves(self, low: Expr, high: Expr) -> bool:
        return can_prove(make.le(low, high), self.facts)

    def unguarded(self, node: For, whole: Stretch) -> tuple[Stretch, set[Expr]] | None:
        """Return the iterations in which guards of the body hold, and those guards; None where not worth it."""
        if isinstance(node.extent, E.Const) and node.extent.value < FEW:
            return None
        first, end = whole
        dropped: set[Expr] = set()
        for guard in comparisons(node.body, node.var):
            held = self.holds(guard, node)
            if held is None or self.mostly_outside(held, whole):
                continue
            dropped.add(guard)
            first = first if held.first is None else self.later(first, held.first)
            end = end if held.end is None else self.earlier(end, held.end)
        stretch = Stretch(simplify(first, self.facts), simplify(end, self.facts))
        if not dropped or self.proves(stretch.end, stretch.first):
            return None
        return stretch, dropped

    def later(self, x: Expr, y: Expr) -> Expr:
        return x if self.proves(y, x) else y if self.proves(x, y) else make.maximum(x, y)

    def earlier(self, x: Expr, y: Expr) -> Expr:
        return x if self.proves(x, y) else y if self.proves(y, x) else make.minimum(x, y)

    def holds(self, guard: E.Compare, node: For) -> Held | None:
        """Return for which values of the loop's variable `guard` holds in all iterations of the loops inside.

        coefficient*x + rest < 0, the rest at its greatest  ->  x < ceil(-rest / coefficient)
        """
        inside = {var for var in bound_vars(node.body) if var.min is not None and var.extent is not None}
        ranges = {var: Range(var.min, var.extent) for var in inside if var.min is not None and var.extent is not None}
        difference = make.sub(guard.a, guard.b)
        _, greatest = bounds_of(difference, {v: r for v, r in ranges.items() if uses(guard, {v})}, self.facts)
        if greatest is None:
            return None
        form = affine(greatest)
        coefficient, rest = form.terms.get(node.var, 0), form.without(node.var).expr()
        if coefficient == 0 or uses(rest, {node.var} | bound_vars(node.body) | self.at_once) or has(rest, E.Load):
            return None
        rest = rest if isinstance(guard, E.Lt) else make.sub(rest, 1)
        if coefficient > 0:
            return Held(None, make.floordiv(make.sub(coefficient - 1, rest), coefficient))
        return Held(make.add(make.floordiv(rest, -coefficient), 1), None)

    def mostly_outside(self, held: Held, whole: Stretch) -> bool:
        """Return whether the guard is known to fail in half of the iterations or more."""
        first = whole.first if held.first is None else held.first
        end = whole.end if held.end is None else held.end
        return can_prove(make.le(make.mul(make.sub(end, first), 2), whole.extent), self.facts)


class Held(NamedTuple):
    """From `first` on, or up to before `end`; None is no bound on that side."""

    first: Expr | None
    end: Expr | None


def _shared(loop: For) -> bool:
    """Return whether a loop launches kernels, or threads of a block divide work in it: a copy would cost much."""
    return any(isinstance(node, For) and node.kind is LoopKind.THREAD for node in walk(loop.body))


def _variable(old: E.Var, stretch: Stretch) -> E.Var:
    return E.Var(old.name, INDEX, stretch.first, stretch.extent)
