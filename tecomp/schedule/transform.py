"""transform_layout: the elements of a tensor lie elsewhere in memory, and the loops that compute them follow."""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir import make
from ..ir.axis import IterVar
from ..ir.matrix import FRAGMENT_SCOPES
from ..te.tensor import ComputeOp, PlaceholderOp, ScanOp
from .axis import plain_leaf
from .index_map import IndexMap, Mapping, index_map
from .layout import Digit, Layout
from .loops import derived, fused_axis, single_axis
from .numbers import NoDigits, layout_of
from .one_to_one import colliding, why_gaps, why_not_once
from .primitive import Change, primitive
from .relation import Fuse, Relation, Singleton, Split
from .stage import INLINE
from .storage import reading_code
from .view import StageView

Axes = tuple[IterVar, ...]


def transform_layout(stage: StageView, mapping: Mapping) -> Axes:
    """Let the element at some indices lie where `mapping`, a function of them, says; return the stage's new loops.

    The function gives a list of indices, made of its parameters by sums, products, // and % with constants: each
    element must lie in a place of its own, and fill the memory with the others. te.AXIS_SEPARATOR parts the indices
    into the dimensions of memory: those between two of them are one, and without any each is a dimension. Of an
    argument this is the shape of the array that the caller passes. What a stage computes stays the same, and its
    data axes keep their names: reads of the tensor follow by themselves. In memory of its own a tensor may have gaps,
    where a constant does not divide an extent.

        for i in range(8):              for i.outer in range(2):                   # lambda i, j: [i // 4, j, i % 4]
            for j in range(m):              for j in range(m):
                B[i, j] = ...   ->              for i.inner in range(4):
                                                    B[i.outer, j, i.inner] = ...
    """
    asked = f"transform_layout: '{stage.name}'"
    found = index_map(asked, mapping, [f"i{number}" for number in range(stage.origin.output(0).ndim)])
    return _transform_layout(stage, found)


def check_layout(stage: StageView) -> None:
    """Raise ScheduleError where no other layout may be given now."""
    names = [f"i{dim}" for dim in range(stage.origin.output(0).ndim)]
    same = index_map("transform_layout", lambda *at: list(at), names)
    _transform_layout.__wrapped__(stage, same)  # pyright: ignore[reportFunctionMemberAccess] (looks, changes nothing)


@primitive
def _transform_layout(stage: StageView, mapping: IndexMap) -> Change[Axes]:
    asked = f"transform_layout: '{stage.name}'"
    _check_own_layout(stage, asked)
    layout = _layout(stage, asked, mapping)
    state = stage.state.replace(layout=layout)
    if isinstance(stage.op, PlaceholderOp):
        return state, ()
    assert isinstance(stage.op, ComputeOp)
    for axis in stage.op.axis:
        plain_leaf(stage, "transform_layout", axis)
    relations, loops = _loops(stage.op.axis, layout)
    known = set(state.axes)
    made = tuple(child for relation in relations for child in relation.children if child not in known)
    others = tuple(leaf for leaf in state.leaves if leaf not in stage.op.axis)
    state = state.replace(axes=(*state.axes, *made), leaves=(*loops, *others), relations=(*state.relations, *relations))
    return state, loops


def _check_own_layout(stage: StageView, asked: str) -> None:
    """Raise ScheduleError for a tensor whose elements cannot lie elsewhere."""
    state, plan = stage.state, stage.plan
    extern = reading_code(stage)
    stepped = next((group.scan for group in plan.scans if stage.origin in group.states), state.feeds)
    reasons = {
        "it is a scan, whose rows are in the order of its steps": isinstance(stage.op, ScanOp),
        f"it lies in the memory of scan '{stepped and stepped.name}'": stepped is not None,
        f"'{extern}' has the address of its memory": bool(extern),
        "it is inlined, and lies nowhere": state.attach is INLINE,
        "it is padded, and what lies beyond its end has no place": bool(state.padding),
        "it is a rolling buffer, whose elements go round": state.rolling,
        "storage_align said how far its elements lie apart": bool(state.alignments),
        "it is a fragment, whose elements lie as the instruction wants": state.scope in FRAGMENT_SCOPES,
        "it was transformed already": state.layout is not None,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason is not None:
        raise ScheduleError(asked, reason, "an input or a compute, once, before its loops are scheduled")


def _layout(stage: StageView, asked: str, mapping: IndexMap) -> Layout:
    """Return the digits of a map that is one to one; ScheduleError for another."""
    shape = stage.origin.output(0).shape
    try:
        layout = layout_of(mapping, shape)
    except NoDigits as problem:
        because = colliding(mapping, shape) or f"{problem.args[0]!r} is no number made of digits of the indices"
        legal = "sums of i, i // c and i % c, each counting on from those below it"
        raise ScheduleError(asked, because, legal) from None
    because = why_not_once(layout, mapping, shape)
    if because:
        raise ScheduleError(asked, because, "each digit of each index once, such as i // c beside i % c")
    gaps = why_gaps(layout, mapping, shape)
    if gaps and (stage.state.is_output or isinstance(stage.op, PlaceholderOp)):
        raise ScheduleError(asked, f"{gaps}, and the array is the caller's", "constants that divide the extents")
    return layout._replace(gaps=gaps)


def _loops(axes: Axes, layout: Layout) -> tuple[list[Relation], Axes]:
    """Return how the axes are split and fused into one loop for each index of the map, and these loops.

    An axis of one value that the map does not use goes into the first of them.
    """
    relations: list[Relation] = []
    digits: dict[Digit, IterVar] = {}
    for number, axis in enumerate(axes):
        rest = axis
        for digit in layout.digits(number):
            if digit.extent is None:
                digits[digit] = rest
                continue
            outer, inner = derived(rest, f"{rest.name}.outer"), derived(rest, f"{rest.name}.inner")
            relations.append(Split(rest, outer, inner, make.const(digit.extent), None))
            digits[digit], rest = inner, outer
    loops: list[IterVar] = []
    for places in layout.numbers:
        parts = [digits[digit] for digit in places]
        if not parts:
            parts = [single_axis()]
            relations.append(Singleton(parts[0]))
        fused = parts[0]
        for part in parts[1:]:
            outer, fused = fused, fused_axis(fused, part)
            relations.append(Fuse(outer, part, fused))
        loops.append(fused)
    for number, axis in enumerate(axes):
        if not layout.digits(number):
            inner, loops[0] = loops[0], fused_axis(axis, loops[0])
            relations.append(Fuse(axis, inner, loops[0]))
    return relations, tuple(loops)
