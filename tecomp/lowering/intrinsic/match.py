"""What the intrinsic's tensors, sizes and numbers are, where its formula is that of a stage's innermost loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...arith import can_prove, simplify
from ...bounds.program import Program, data_axes
from ...bounds.run_over import ZERO, StageBounds
from ...ir import expr as E
from ...ir import make
from ...ir.axis import IterVar
from ...ir.node import Expr
from ...ir.subst import substitute
from ...te.index import Indexer
from ...te.tensor import domain
from ...te.tensor_intrin import TensorIntrin
from .counters import Counter, Tile, tiles
from .mismatch import Attempt, formulas, parted, refuse, unlike_extents
from .unify import Found, Unifier
from .view import View, view_of


class Matched(NamedTuple):
    """Where each buffer of the intrinsic lies, inputs first, and what its variables are."""

    views: tuple[View, ...]
    variables: Mapping[E.Var, Expr]


class _Assigned(NamedTuple):
    """What each axis of the intrinsic runs with, and what its sizes came to be."""

    axes: Mapping[E.Var, Expr]
    sizes: Mapping[E.Var, Expr]


def match(program: Program, stage: StageBounds, inner: Sequence[IterVar], intrin: TensorIntrin) -> Matched:
    """Return how the intrinsic computes what the loops `inner` of a stage compute; ScheduleError where it does not."""
    attempts: list[Attempt] = []
    for tile in tiles(stage, inner):
        found = _Matcher(program, stage, tile, intrin).find(attempts)
        if found is not None:
            return found
    raise refuse(program, stage, inner, intrin, attempts)


class _Matcher:
    def __init__(self, program: Program, stage: StageBounds, tile: Tile, intrin: TensorIntrin) -> None:
        self.program, self.stage, self.tile, self.intrin = program, stage, tile, intrin
        self.indexer = Indexer()
        self.own = intrin.op
        self.counters = frozenset(counter.var for counter in tile.counters)

    def find(self, attempts: list[Attempt]) -> Matched | None:
        """Return the first way to match; otherwise note how far it went."""
        ended: list[Attempt] = []
        for assigned in self.assignments([*self.own.axis, *self.own.reduce_axis], _Assigned({}, {})):
            unifier = Unifier(self.counters)
            results, found = self.results(assigned), next(self.ways(unifier, assigned), None)
            if results is not None and found is not None:
                return self.matched(found, results, assigned)
            difference = unifier.difference if found is None else None
            ended.append(parted(self.tile, difference, assigned.axes, self.stage))
        attempts += ended or [unlike_extents(self.tile, self.intrin)]
        return None

    def assignments(self, axes: list[IterVar], so_far: _Assigned) -> Iterator[_Assigned]:
        """Yield each way to let every axis of the intrinsic run with a counter of its own, of its extent and kind."""
        if not axes:
            if len(set(so_far.axes.values()) - {ZERO}) == len(self.tile.counters):
                yield self.from_first(so_far)
            return
        axis = axes[0]
        extent = self.indexer.extent(domain(axis).extent)
        if isinstance(extent, E.Const) and extent.value == 1:
            yield from self.assignments(axes[1:], self.with_axis(so_far, axis, ZERO, so_far.sizes))
            return
        taken = set(so_far.axes.values())
        for counter in self.tile.counters:
            sizes = None if counter.var in taken else self.same_extent(counter, axis, extent, so_far.sizes)
            if sizes is not None:
                yield from self.assignments(axes[1:], self.with_axis(so_far, axis, counter.var, sizes))

    def with_axis(self, so_far: _Assigned, axis: IterVar, value: Expr, sizes: Mapping[E.Var, Expr]) -> _Assigned:
        return _Assigned({**so_far.axes, axis.var: value}, sizes)

    def same_extent(
        self, counter: Counter, axis: IterVar, extent: Expr, sizes: Mapping[E.Var, Expr]
    ) -> Mapping[E.Var, Expr] | None:
        """Return the sizes known where a counter is as long as an axis and of its kind; None where it is not."""
        if counter.reduces != (axis in self.own.reduce_axis):
            return None
        if isinstance(extent, E.Var) and extent not in sizes:
            return {**sizes, extent: counter.extent}
        return sizes if can_prove(make.eq(counter.extent, substitute(extent, sizes))) else None

    def from_first(self, assigned: _Assigned) -> _Assigned:
        """Let each axis begin where it was declared to."""
        own = (*self.own.axis, *self.own.reduce_axis)
        firsts = {axis.var: substitute(self.indexer.extent(domain(axis).min), assigned.sizes) for axis in own}
        axes = {var: make.add(firsts[var], value) for var, value in assigned.axes.items()}
        return assigned._replace(axes=axes)

    def ways(self, unifier: Unifier, assigned: _Assigned) -> Iterator[Found]:
        """Yield each way in which the stage's formulas are the intrinsic's."""
        whole = formulas(self.program, self.stage)[0]
        first = self.own.body[0]
        patterns = [*first.source, first.condition] if isinstance(first, E.Reduce) else list(self.own.body)
        if not _fold_alike(first, whole) or len(patterns) != len(self.stage.body):
            unifier.differ(first, whole, Found({}, {}), _folds(first, whole))
            return
        own = [self.written(pattern, assigned) for pattern in patterns]
        unifier.numbers = frozenset((*self.indexer.sizes.values(), *self.intrin.scalar_params)) - assigned.sizes.keys()
        yield from unifier.all(own, [self.tile.over(part) for part in self.stage.body], Found({}, {}))

    def written(self, part: Expr, assigned: _Assigned) -> Expr:
        """Return a formula of the intrinsic over the counters."""
        return simplify(substitute(self.indexer.data(part, assigned.axes), assigned.sizes))

    def results(self, assigned: _Assigned) -> list[View] | None:
        """Return where the results lie: the elements that the loops store to, each once."""
        at = [self.tile.over(self.stage.values[axis]) for axis in data_axes(self.stage.op)]
        own = [simplify(assigned.axes[axis.var]) for axis in self.own.axis]
        views = [view_of(tensor, at, own, self.counters) for tensor in self.stage.op.outputs]
        kept = [view for view in views if view is not None]
        return kept if len(kept) == len(views) else None

    def matched(self, found: Found, results: list[View], assigned: _Assigned) -> Matched:
        inputs = tuple(found.views[tensor] for tensor in self.intrin.inputs)
        values = {**assigned.sizes, **found.numbers}
        variables = {var: values[index] for var, index in self.indexer.sizes.items() if index in values}
        variables |= {var: values[var] for var in self.intrin.scalar_params if var in values}
        return Matched((*inputs, *results), variables)


def _fold_alike(own: Expr, other: Expr) -> bool:
    """Return whether both are reductions by one operation, or neither is one."""
    if not isinstance(own, E.Reduce) or not isinstance(other, E.Reduce):
        return type(own) is not E.Reduce and type(other) is not E.Reduce
    mine, theirs = own.combiner, other.combiner
    if [var.dtype for var in mine.lhs] != [var.dtype for var in theirs.lhs]:
        return False
    if any(x is not y for x, y in zip(mine.identity, theirs.identity, strict=True)):
        return False
    sides = ((theirs.lhs, theirs.rhs), (theirs.rhs, theirs.lhs))
    return any(
        all(
            substitute(result, dict(zip((*left, *right), (*mine.lhs, *mine.rhs), strict=True))) is wanted
            for result, wanted in zip(theirs.result, mine.result, strict=True)
        )
        for left, right in sides
    )


def _folds(own: Expr, other: Expr) -> str:
    """Say how two formulas fold values, where they do so differently."""
    texts = [
        f"folds by {part.combiner.name}" if isinstance(part, E.Reduce) else "folds nothing" for part in (other, own)
    ]
    return f"the stage {texts[0]}, the intrinsic {texts[1]}"
