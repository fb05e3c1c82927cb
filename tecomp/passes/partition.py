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
Loops over threads, and loops around them, stay whole; so do UNROLLED ones whose parts would not be of constant length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ..arith import NO_FACTS, Facts, can_prove, constant_upper, simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import For, If, Launch, LoopKind, Seq, Stmt
from ..ir.subst import fresh_loops, substitute_stmt
from ..ir.visit import walk
from ..target import Target
from .accesses import bound_vars
from .guard_range import Held, held
from .guards import comparisons, decided

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
        found = self.guards(node, whole)
        free = self.unguarded(found, whole)
        if free is None or (node.kind is LoopKind.UNROLLED and not _is_constant(free)):
            return self.below(node)
        var = _variable(node.var, free)
        body = substitute_stmt(decided(node.body, {one.guard: True for one in found}), {node.var: var})
        main = self.below(node.copy(var=var, body=body), less=1)
        before = self.rest(
            node,
            Stretch(whole.first, self.earlier(free.first, whole.end)),
            {one.guard: False for one in found if one.exact and one.first is free.first},
        )
        last = free.end if self.proves(free.first, free.end) else make.maximum(free.first, free.end)
        after = self.rest(
            node,
            Stretch(simplify(last, self.facts), whole.end),
            {one.guard: False for one in found if one.exact and one.end is free.end},
        )
        return Seq((*before, main, *after), loc=node.loc)

    def rest(self, node: For, stretch: Stretch, known: Mapping[Expr, bool]) -> list[Stmt]:
        """Return the loop over iterations that keep their guards but those `known`; nothing when there are none."""
        if self.proves(stretch.end, stretch.first):
            return []
        var = _variable(node.var, stretch)
        kind = LoopKind.SERIAL if node.kind is LoopKind.PARALLEL and self.is_short(stretch) else node.kind
        body = decided(node.body, known) if known else node.body
        if isinstance(body, Seq) and not body.stmts:
            return []
        return [node.copy(var=var, kind=kind, body=fresh_loops(substitute_stmt(body, {node.var: var})))]

    def is_short(self, stretch: Stretch) -> bool:
        most = constant_upper(stretch.extent, self.facts)
        return most is not None and most < FEW

    def proves(self, low: Expr, high: Expr) -> bool:
        return can_prove(make.le(low, high), self.facts)

    def guards(self, node: For, whole: Stretch) -> list[Held]:
        """Return the guards of the body that hold in a stretch of iterations worth being alone."""
        if isinstance(node.extent, E.Const) and node.extent.value < FEW:
            return []
        inside = bound_vars(node.body)
        found = (held(one, node.var, inside, self.at_once, self.facts) for one in comparisons(node.body, node.var))
        return [
            Held(one.guard, self.simple(one.first), self.simple(one.end), one.exact)
            for one in found
            if one is not None and not self.mostly_outside(one, whole)
        ]

    def simple(self, value: Expr | None) -> Expr | None:
        return None if value is None else simplify(value, self.facts)

    def unguarded(self, found: list[Held], whole: Stretch) -> Stretch | None:
        """Return the iterations in which all the guards hold; None when there is no guard, or no such iteration."""
        first, end = whole
        for one in found:
            first = first if one.first is None else self.later(first, one.first)
            end = end if one.end is None else self.earlier(end, one.end)
        return None if not found or self.proves(end, first) else Stretch(first, end)

    def later(self, x: Expr, y: Expr) -> Expr:
        return x if self.proves(y, x) else y if self.proves(x, y) else make.maximum(x, y)

    def earlier(self, x: Expr, y: Expr) -> Expr:
        return x if self.proves(x, y) else y if self.proves(y, x) else make.minimum(x, y)

    def mostly_outside(self, one: Held, whole: Stretch) -> bool:
        """Return whether the guard is known to fail in half of the iterations or more."""
        first = whole.first if one.first is None else one.first
        end = whole.end if one.end is None else one.end
        return can_prove(make.le(make.mul(make.sub(end, first), 2), whole.extent), self.facts)


def _shared(loop: For) -> bool:
    """Return whether a loop launches kernels, or threads of a block divide work in it: a copy would cost much."""
    return any(isinstance(node, For) and node.kind is LoopKind.THREAD for node in walk(loop.body))


def _is_constant(stretch: Stretch) -> bool:
    return isinstance(stretch.first, E.Const) and isinstance(stretch.end, E.Const)


def _variable(old: E.Var, stretch: Stretch) -> E.Var:
    return E.Var(old.name, INDEX, stretch.first, stretch.extent)
