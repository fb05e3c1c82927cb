"""Which axes a primitive may take: leaves of the stage, and of a kind that bears what is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import AxisKind, IterVar
from ..ir.stmt import LoopKind
from ..location import Location
from ..te.extern_op import ExternOp
from ..te.hybrid import HybridOp
from ..te.tensor import PlaceholderOp, ScanOp
from .hybrid import LOOP_PRIMITIVES, why_fixed, why_in_order
from .stage import INLINE, UNMARKED, LoopMark
from .view import StageView

_COMBINE = "its iterations combine into one element, so they cannot run at once"
_STEP = "each step of a scan reads the steps before it, so they run one after the other"
UNBEARABLE: Final[dict[tuple[str, AxisKind], str]] = {
    ("vectorize", AxisKind.REDUCE): _COMBINE,
    ("parallel", AxisKind.REDUCE): _COMBINE,
    ("vectorize", AxisKind.ORDERED): _STEP,
    ("parallel", AxisKind.ORDERED): _STEP,
    ("bind", AxisKind.ORDERED): _STEP,
    ("reorder", AxisKind.ORDERED): _STEP,
}
"""What an axis of some kind cannot bear, and why."""
_OTHERWISE: Final[dict[tuple[str, AxisKind], str]] = {
    ("vectorize", AxisKind.REDUCE): "; or s.rfactor, for a data axis to vectorize",
    ("parallel", AxisKind.REDUCE): '; reduce_update="atomic"; or s.rfactor, for a data axis to parallelize',
}
"""How what was asked can be had in another way."""

_SAID: Final = {
    "parallel": "parallelize",
    "pragma": "give a pragma to",
    "transform_layout": "transform the layout along",
}
"""How a sentence says a primitive whose name is no verb."""

_WITH_THE_SCAN: Final = ("split", "fuse", "unroll", "pragma")
"""What can be done to time, where the scan has it."""


def leaf(stage: StageView, verb: str, axis: Any) -> IterVar:
    """Return `axis`, a loop of the stage that bears `verb`; raise ScheduleError otherwise."""
    check_has_loops(stage, verb)
    found = as_axis(stage, verb, axis)
    reason = why_no_leaf(stage, found)
    if reason:
        raise ScheduleError(f"{verb}: '{found.name}' is no loop of '{stage.name}'", reason, loops_of(stage))
    if stage.state.is_update and found is stage.state.time_axis:
        raise _time_of_update(stage, verb, found)
    if found in stage.state.by_intrinsic:
        raise _taken(stage, verb, found)
    unbearable = UNBEARABLE.get((verb, found.kind)) or why_in_order(stage.state, verb, found)
    if unbearable:
        legal = data_axes_of(stage) + _OTHERWISE.get((verb, found.kind), "")
        raise cannot(verb, found, stage, unbearable, legal)
    return found


def plain_leaf(stage: StageView, verb: str, axis: Any) -> IterVar:
    """Return `axis`, a leaf whose loop nothing special was asked for yet; raise ScheduleError otherwise."""
    found = leaf(stage, verb, axis)
    mark = stage.state.mark(found)
    if mark != UNMARKED:
        order = f"{verb} first, then mark what comes of it" if verb in ("split", "fuse") else "one of both"
        raise cannot(verb, found, stage, f"it is already {describe(mark)}", order)
    return found


def check_has_loops(stage: StageView, verb: str) -> None:
    """Raise ScheduleError for a stage that is not computed in loops."""
    if isinstance(stage.op, PlaceholderOp):
        because, legal = "it is a placeholder: its values come from the caller", "schedule the stages that read it"
    elif isinstance(stage.op, HybridOp):
        if verb in LOOP_PRIMITIVES:
            return
        because = "it is a hybrid function, of which only loops can be changed"
        raise ScheduleError(f"{verb} of '{stage.name}'", because, LOOP_PRIMITIVES)
    elif isinstance(stage.op, ExternOp):
        if verb == "bind" and stage.state.leaves:
            return
        because, legal = "it is an opaque operation, whose loops are its own", "schedule the stages around it"
    elif stage.state.attach is INLINE:
        because, legal = "it is inlined into the stages that read it", f"s[{stage.name}].compute_root() first"
    else:
        return
    raise ScheduleError(f"{verb}: '{stage.name}' has no loops", because, legal)


def as_axis(stage: StageView, verb: str, axis: Any) -> IterVar:
    """Return `axis`; UserTypeError where it is none."""
    if isinstance(axis, IterVar):
        return axis
    because = f"it is of type {type(axis).__name__}"
    if isinstance(axis, (list, tuple)):
        because += ", and each axis is an argument of its own"
    raise UserTypeError(f"{verb}: {axis!r} is no axis", because, loops_of(stage))


def why_no_leaf(stage: StageView, axis: IterVar) -> str:
    """Say why `axis` is no loop of the stage; nothing when it is one."""
    state = stage.state
    if axis in state.positions():
        return ""
    for relation in state.relations:
        if any(axis is parent for parent in relation.parents):
            made = " and ".join(f"'{child.name}'" for child in relation.children)
            return f"it was {'split' if len(relation.children) > 1 else 'fused'} into {made}"
    fixed = why_fixed(stage.origin, axis)
    if fixed:
        return fixed
    if axis.kind is AxisKind.THREAD:
        return "it is a thread axis: loops are bound to it"
    if isinstance(stage.op, ScanOp) and any(axis is dimension for dimension in stage.op.spatial_axis_):
        loops = dict.fromkeys(f"s[{tensor.op.name}]" for tensor in (*stage.op.init, *stage.op.update))
        return f"it names a dimension of the result, whose loops are in {', '.join(loops)}"
    owner = stage.plan.owner.get(axis.var)
    return f"it is an axis of '{owner.name}'" if owner is not None else "it is an axis of no stage of this schedule"


def cannot(
    verb: str,
    axis: IterVar,
    stage: StageView,
    because: str,
    legal: str = "",
    *,
    to: str = "",
    location: Location | None = None,
) -> ScheduleError:
    """Return the refusal of `verb` on an axis (and `to` what)."""
    kind = "reduce axis " if axis.kind is AxisKind.REDUCE else ""
    asked = f"cannot {_SAID.get(verb, verb)} {kind}'{axis.name}' of '{stage.name}'{to and f' to {to}'}"
    return ScheduleError(asked, because, legal, location=location)


def describe(mark: LoopMark) -> str:
    """Say how a marked loop runs."""
    if mark.thread is not None:
        return f"bound to {mark.thread.thread_tag}"
    if mark.prefetches:
        return "marked to prefetch " + ", ".join(f"'{ahead.tensor.name}'" for ahead in mark.prefetches)
    if mark.kind is LoopKind.SERIAL:
        return "marked with pragma " + ", ".join(name for name, _ in mark.pragmas)
    return mark.kind.value


def names(axes: Iterable[IterVar]) -> str:
    """List axes by name, outermost first."""
    return ", ".join(axis.name for axis in axes) or "none"


def loops_of(stage: StageView) -> str:
    """List the loops of a stage."""
    return f"the loops of '{stage.name}': {names(stage.state.leaves)}"


def data_axes_of(stage: StageView) -> str:
    """List the loops whose iterations may run at once."""
    state = stage.state
    if isinstance(stage.op, ScanOp):
        return f"a data axis of {', '.join(dict.fromkeys(f's[{update.op.name}]' for update in stage.op.update))}"
    data = [axis for axis in state.leaves if axis.kind is AxisKind.DATA and axis is not state.time_axis]
    return f"a data axis of '{stage.name}': {names(data)}" if data else "a serial or an unrolled loop"


def _taken(stage: StageView, verb: str, axis: IterVar) -> ScheduleError:
    """Return the refusal of a loop in whose place an intrinsic stands."""
    tensorized = stage.state.tensorized
    assert tensorized is not None
    because = f"the intrinsic '{tensorized.intrin.name}' takes the place of the loops from '{tensorized.axis.name}' on"
    outside = stage.state.leaves[: stage.state.leaves.index(tensorized.axis)]
    return cannot(verb, axis, stage, because, f"{verb} first, then tensorize; the loops outside are {names(outside)}")


def _time_of_update(stage: StageView, verb: str, axis: IterVar) -> ScheduleError:
    scan = stage.state.feeds
    assert scan is not None
    because = f"it is the time of scan '{scan.name}', one point in each step; the steps run in order"
    on_scan = f"s[{scan.name}].{verb} on {scan.name}.op.scan_axis"
    return cannot(verb, axis, stage, because, on_scan if verb in _WITH_THE_SCAN else data_axes_of(stage))
