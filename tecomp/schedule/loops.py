"""Primitives that change which loops there are, and their order."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, SupportsIndex

from ..dtype import INT32
from ..errors import ScheduleError, UserTypeError
from ..ir import make
from ..ir.axis import AxisKind, IterVar, Range
from ..ir.expr import Const, Var
from ..ir.node import Expr
from .axis import cannot, check_has_loops, leaf, names, plain_leaf
from .extent import computes_all, constant, declared_domains
from .hybrid import check_order
from .opaque import check_runs_once, has_own_loops
from .primitive import Change, primitive
from .quantity import check_quantity
from .ragged import check_inside
from .relation import Fuse, Singleton, Split
from .stage import StageState
from .view import StageView

LONGEST_NAME: Final = 160
"""Characters of the names of two axes, from which on the fused one is called after their first parts only."""


@primitive
def split(
    stage: StageView,
    axis: IterVar,
    factor: int | Expr | None = None,
    nparts: int | Expr | None = None,
    disable_predication: bool = False,
) -> Change[tuple[IterVar, IterVar]]:
    """Split a loop in two; return (outer, inner).

    `factor` is how many iterations the inner loop has, or `nparts` how many the outer one has; give one of both. It may
    be an expression over sizes, and need not divide the extent: the rest is guarded. With `disable_predication` there
    is no guard: the length must divide the extent, and where only a call can tell, the call is refused if it does not.

        for i in range(n):            for i.outer in range((n + 3) // 4):
            C[i] = ...          ->        for i.inner in range(4):                    # factor=4
                                              if i.outer * 4 + i.inner < n:
                                                  C[i.outer * 4 + i.inner] = ...
    """
    if not isinstance(disable_predication, bool):
        because = f"it is of type {type(disable_predication).__name__}"
        raise UserTypeError(f"split: disable_predication={disable_predication!r}", because, "True or False")
    return _split(stage, axis, factor, nparts, disable_predication)


@primitive
def fuse(stage: StageView, *axes: IterVar) -> Change[IterVar]:
    """Make one loop of loops directly inside one another; return it.

    The axes may be named in any order: the fused loop runs through them in the order of the loops. With one axis
    nothing changes. With none, a loop of one iteration is put around the stage, so that a 0-D stage has one to bind.

        for i in range(4):            for i.j.fused in range(4 * m):
            for j in range(m):  ->        C[i.j.fused // m, i.j.fused % m] = ...
                C[i, j] = ...
    """
    if not axes and has_own_loops(stage.op):
        check_runs_once(stage)
        return _singleton(stage.state)
    check_has_loops(stage, "fuse")
    state = stage.state
    if not axes:
        return _singleton(state)
    loops = [plain_leaf(stage, "fuse", axis) for axis in axes]
    _check_distinct(stage, "fuse", loops)
    loops.sort(key=state.positions().__getitem__)
    _check_adjacent(stage, loops)
    fused = loops[0]
    for inner in loops[1:]:
        state, fused = _fuse(state, fused, inner)
    return state, fused


@primitive
def reorder(stage: StageView, *axes: IterVar) -> Change[None]:
    """Put loops into the order given; the other loops stay where they are.

    Reduce axes may stand outside of data axes.

        for i in range(n):            for k in range(l):
            for j in range(m):  ->        for j in range(m):                          # reorder(k, i)
                for k in range(l):            for i in range(n):
    """
    return _reorder(stage, axes), None


@primitive
def tile(
    stage: StageView, x: IterVar, y: IterVar, x_factor: int | Expr, y_factor: int | Expr
) -> Change[tuple[IterVar, IterVar, IterVar, IterVar]]:
    """Split two loops and put both inner ones inside; return (x.outer, y.outer, x.inner, y.inner).

    The factors are the lengths of the inner loops, as in `split`.

        for x in range(64):           for x.outer in range(8):
            for y in range(64): ->        for y.outer in range(16):                   # tile(x, y, 8, 4)
                                              for x.inner in range(8):
                                                  for y.inner in range(4):
    """
    state, (x_outer, x_inner) = _split(stage, x, x_factor, None)
    state, (y_outer, y_inner) = _split(stage.after(state), y, y_factor, None)
    tiles = (x_outer, y_outer, x_inner, y_inner)
    return _reorder(stage.after(state), tiles), tiles


def _split(
    stage: StageView, axis: IterVar, factor: Any, nparts: Any, whole: bool = False
) -> tuple[StageState, tuple[IterVar, IterVar]]:
    parent = plain_leaf(stage, "split", axis)
    if (factor is None) == (nparts is None):
        count = "neither" if factor is None else "both"
        raise ScheduleError(
            f"split: '{parent.name}' of '{stage.name}' with {count} of factor and nparts",
            because="one of them says how long the inner or the outer loop is, and the other length follows",
            legal="factor=4 (four iterations inside), or nparts=4 (four outside)",
        )
    outer, inner = derived(parent, f"{parent.name}.outer"), derived(parent, f"{parent.name}.inner")
    inside, outside = (None if length is None else _length(stage, parent, length) for length in (factor, nparts))
    split = Split(parent, outer, inner, inside, outside, whole)
    if whole:
        _check_divides(stage, split)
    return _replaced(stage.state, split), (outer, inner)


def _check_divides(stage: StageView, split: Split) -> None:
    """Raise ScheduleError where a length is known not to divide the loop's extent."""
    if not computes_all(stage.state):
        return
    length = split.nparts if split.factor is None else split.factor
    assert length is not None
    extent, pieces = constant(declared_domains(stage.state)[split.parent].extent), constant(length)
    if extent is not None and pieces is not None and pieces <= extent and extent % pieces:
        raise ScheduleError(
            f"split: '{split.parent.name}' of '{stage.name}' without predication",
            because=f"{pieces} does not divide its extent {extent}",
            legal="a length that divides the extent, or the split with its guard",
        )


def _length(stage: StageView, axis: IterVar, length: Any) -> Expr:
    """Return a factor or nparts as an expression; raise where it is no positive integer over sizes."""
    asked = f"split: '{axis.name}' of '{stage.name}' by {length!r}"
    number = isinstance(length, SupportsIndex) and not isinstance(length, bool)
    value = make.convert(operator.index(length)) if number else length
    if not isinstance(value, Expr) or not value.dtype.is_integer or value.dtype.lanes > 1:
        kind = value.dtype if isinstance(value, Expr) else type(length).__name__
        raise UserTypeError(asked, f"it is of type {kind}", "a positive integer, or an integer expression over sizes")
    if isinstance(value, Const) and value.value <= 0:
        raise ScheduleError(asked, "a loop of that many iterations computes nothing", "a positive integer")
    check_quantity(stage.plan, asked, value)
    return value


def _singleton(state: StageState) -> tuple[StageState, IterVar]:
    axis = single_axis()
    relations = (*state.relations, Singleton(axis))
    return state.replace(axes=(*state.axes, axis), leaves=(axis, *state.leaves), relations=relations), axis


def single_axis() -> IterVar:
    """Return a new axis of one value."""
    zero, one = make.const(0), make.const(1)
    return IterVar(Range(zero, one), Var("singleton", INT32, zero, one), AxisKind.DATA)


def _fuse(state: StageState, outer: IterVar, inner: IterVar) -> tuple[StageState, IterVar]:
    fused = fused_axis(outer, inner)
    return _replaced(state, Fuse(outer, inner, fused)), fused


def fused_axis(outer: IterVar, inner: IterVar) -> IterVar:
    """Return a new axis for two neighbours; what holds a part of a reduction is a reduction."""
    kind = outer.kind if outer.kind is not AxisKind.DATA else inner.kind
    dtype = make.promoted(outer.dtype, inner.dtype)
    name = f"{outer.name}.{inner.name}"
    if len(name) > LONGEST_NAME:
        name = ".".join(axis.name.partition(".")[0] for axis in (outer, inner))
    return IterVar(None, Var(f"{name}.fused", dtype, make.const(0, dtype)), kind)


def _reorder(stage: StageView, axes: Sequence[IterVar]) -> StageState:
    check_has_loops(stage, "reorder")
    loops = [leaf(stage, "reorder", axis) for axis in axes]
    _check_distinct(stage, "reorder", loops)
    moved = set(loops)
    supply = iter(loops)
    state = stage.state
    state = state.replace(leaves=tuple(next(supply) if axis in moved else axis for axis in state.leaves))
    check_inside("reorder", state)
    check_order(stage.state, state)
    return state


def derived(parent: IterVar, name: str) -> IterVar:
    """Return a new axis made of `parent`; its extent is known once the stage's region is."""
    return IterVar(None, Var(name, parent.dtype, make.const(0, parent.dtype)), parent.kind)


def _replaced(state: StageState, relation: Split | Fuse) -> StageState:
    """Return the record with the relation's children standing where its parents stood."""
    first = state.positions()[relation.parents[0]]
    after = state.leaves[first + len(relation.parents) :]
    return state.replace(
        axes=(*state.axes, *relation.children),
        leaves=(*state.leaves[:first], *relation.children, *after),
        relations=(*state.relations, relation),
    )


def _check_distinct(stage: StageView, verb: str, axes: Sequence[IterVar]) -> None:
    seen: set[IterVar] = set()
    for axis in axes:
        if axis in seen:
            raise cannot(verb, axis, stage, "it is named twice", "each loop once")
        seen.add(axis)


def _check_adjacent(stage: StageView, axes: Sequence[IterVar]) -> None:
    """Raise ScheduleError where another loop stands between these, given in the order of the loops."""
    position = stage.state.positions()
    for outer, inner in pairwise(axes):
        between = stage.state.leaves[position[outer] + 1 : position[inner]]
        if between:
            raise ScheduleError(
                f"cannot fuse '{outer.name}' and '{inner.name}' of '{stage.name}'",
                because=f"between them stands {names(between)}; the loops are {names(stage.state.leaves)}",
                legal="reorder first, so that they follow one another",
            )
