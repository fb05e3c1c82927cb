"""Primitives that say where a stage is computed, where its result is kept, and when it is stored."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..errors import ScheduleError, UserTypeError
from ..ir import make
from ..ir.axis import IterVar
from ..ir.matrix import FRAGMENT_SCOPES
from ..ir.node import Expr
from ..ir.visit import walk
from ..te.buffer import SCOPES
from ..te.extern_op import ExternOp
from ..te.hybrid import HybridOp
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp
from .axis import as_axis, check_has_loops, loops_of, why_no_leaf
from .opaque import has_own_loops
from .primitive import Change, primitive
from .quantity import check_quantity
from .relation import carrying
from .stage import INLINE, At, StageState
from .view import StageView


class Reason(NamedTuple):
    """Why something cannot be, and what would be legal instead."""

    because: str
    legal: str


@primitive
def compute_at(stage: StageView, target: StageView, axis: IterVar) -> Change[None]:
    """Compute the stage in a loop of a stage that reads it: in each iteration, what that iteration reads.

    A later split of the loop moves the place into the inner one, a fuse into the fused one. Whether the loop is around
    all readers is checked when the schedule is lowered.

        for i in range(n):
            B[i] = ...            for i in range(n):                                  # s[B].compute_at(s[C], i)
        for i in range(n):   ->       B[i] = ...
            C[i] = B[i] + 1           C[i] = B[i] + 1
    """
    if not isinstance(target, StageView):
        because = f"it is of type {type(target).__name__}"
        raise UserTypeError(f"compute_at: {target!r} is no stage", because, "s[C], the stage of C in the schedule s")
    found = as_axis(target, "compute_at", axis)
    reason = _no_place(stage, target, found)
    if reason is not None:
        asked = f"compute_at: '{stage.name}' cannot be placed at loop '{found.name}' of '{target.name}'"
        raise ScheduleError(asked, reason.because, reason.legal)
    return stage.state.replace(attach=At(target.origin, found)), None


@primitive
def compute_inline(stage: StageView) -> Change[None]:
    """Compute the stage nowhere: put its formula in place of each read of it.

    It has neither loops nor memory then.

        B[i] = A[i] * 2
        C[i] = B[i] + 1      ->    C[i] = A[i] * 2 + 1
    """
    reason = _no_inlining(stage)
    if reason is not None:
        raise ScheduleError(
            f"compute_inline: '{stage.name}' {reason.because} and cannot be inlined", legal=reason.legal
        )
    return stage.state.replace(attach=INLINE), None


@primitive
def compute_root(stage: StageView) -> Change[None]:
    """Compute the stage in loops of its own, before all that read it; in a scan's body, so in each step.

    This is where a stage is when nothing else was said.

        for i in range(n):
            B[i] = ...            for i in range(n):
            C[i] = B[i] + 1  ->       B[i] = ...
                                  for i in range(n):
                                      C[i] = B[i] + 1
    """
    if isinstance(stage.op, PlaceholderOp):
        check_has_loops(stage, "compute_root")
    return stage.state.replace(attach=stage.state.default_attach), None


@primitive
def set_scope(stage: StageView, scope: str) -> Change[None]:
    """Keep the result in global memory, in memory that a block's threads share, or in each thread's own.

    Where nothing is said, the loops around the stage decide: local in threadIdx, shared in blockIdx, else global.

        B: f32[64]    ->    B: f32[64] in shared
    """
    state = stage.state
    asked = f"set_scope: '{stage.name}' in {scope!r}"
    check_scope(asked, scope)
    check_has_loops(stage, "set_scope")
    if state.is_output and scope != "global":
        raise ScheduleError(asked, "it is an output, which the caller keeps in global memory", "global")
    if state.feeds is not None:
        scan = state.feeds.name
        raise ScheduleError(asked, f"it is written into the result of scan '{scan}'", f"s[{scan}].set_scope")
    if scope in FRAGMENT_SCOPES and (state.layout is not None or state.rolling):
        because = "a fragment's elements lie as the instruction wants, and where they lie was said already"
        raise ScheduleError(asked, because, "a memory of elements: global, shared, local")
    return state.replace(scope=scope), None


@primitive
def set_store_predicate(stage: StageView, predicate: Expr) -> Change[None]:
    """Store the result only where a condition over data axes, thread axes and sizes holds.

    Where it does not hold, the result keeps what it was.

        B[0] = ...    ->    if threadIdx_x == 0: B[0] = ...
    """
    check_has_loops(stage, "set_store_predicate")
    condition = make.convert(predicate)
    if not condition.dtype.is_bool or condition.dtype.lanes > 1:
        asked = f"set_store_predicate: {predicate!r} on '{stage.name}'"
        raise UserTypeError(asked, f"it is {condition.dtype}, not a condition", "a comparison, such as axis == 0")
    check_quantity(stage.plan, f"set_store_predicate: {condition!r} on '{stage.name}'", condition, stage.origin)
    _check_elements(stage, condition)
    return stage.state.replace(store_predicate=condition), None


def check_scope(asked: str, scope: Any) -> None:
    """Raise ScheduleError unless `scope` is the name of a memory."""
    if scope not in SCOPES:
        raise ScheduleError(asked, "no memory is called so", SCOPES)


def _check_elements(stage: StageView, condition: Expr) -> None:
    """Raise ScheduleError for a condition on a value that a reduction folds: an element is stored for all of them."""
    state = stage.state
    made = state.definition
    folded = carrying(made.reduce_axis, state.relations) if isinstance(made, ComputeOp) else set[IterVar]()
    named = set(walk(condition))
    found = next((axis for axis in state.axes if axis in folded and axis.var in named), None)
    if found is not None:
        raise ScheduleError(
            f"set_store_predicate: {condition!r} on '{stage.name}'",
            because=f"'{found.name}' is reduced: an element is stored for all its values",
            legal="data axes, or where= in the reduction",
        )


def _no_place(stage: StageView, target: StageView, axis: IterVar) -> Reason | None:
    """Say why the stage cannot be in that loop of `target`."""
    if target.plan is not stage.plan:
        return Reason(
            f"'{target.name}' is a stage of another schedule", f"a stage that reads '{stage.name}' in this one"
        )
    cycle = _cycle(stage, target)
    if cycle:
        return Reason(f"compute_at cycle: {'→'.join(cycle)}", f"a stage that reads '{stage.name}'")
    return _fixed(stage) or _no_loop(target, axis) or _not_read(stage, target) or _leaves_scan(stage, target)


def _cycle(stage: StageView, target: StageView) -> list[str]:
    """Return the names from `target` to the stage and back, where the target is computed inside the stage.

    A stage is only ever placed at one that reads it, so the walk is needed only for a target that stands before it.
    """
    position = stage.plan.position
    names, op = [target.name], target.origin
    while op is not stage.origin and position[target.origin] < position[stage.origin]:
        attach = stage.plan.states[op].attach
        if not isinstance(attach, At):
            return []
        op = attach.op
        names.append(op.name)
    return [*names, target.name] if op is stage.origin else []


def _fixed(stage: StageView) -> Reason | None:
    """Say why the stage cannot be in any loop of another."""
    name, scan = stage.name, stage.state.feeds
    if isinstance(stage.op, PlaceholderOp):
        return Reason(f"'{name}' is a placeholder: its values come from the caller", "compute_at for a computed stage")
    if stage.state.is_output:
        return Reason(f"'{name}' is an output, and outputs are computed at the root", "compute_at for what it reads")
    if stage.state.is_update and scan is not None:
        because = f"'{name}' is the update of scan '{scan.name}', and is computed in its time loop"
        return Reason(because, "compute_at for what it reads")
    if scan is not None:
        because = f"'{name}' is the init of scan '{scan.name}', and is computed before its time loop"
        return Reason(because, "compute_at for what it reads")
    if isinstance(stage.op, ExternOp):
        return Reason(f"'{name}' is {_kind(stage.op)}, which runs once and as a whole", "compute_root")
    if isinstance(stage.op, ScanOp):
        return Reason(f"'{name}' is a scan, and scans inside other stages' loops are not available yet", "compute_root")
    return None


def _no_loop(target: StageView, axis: IterVar) -> Reason | None:
    """Say why `axis` is no loop of the target."""
    if isinstance(target.op, PlaceholderOp):
        return Reason(f"'{target.name}' is a placeholder and has no loops", "a stage that is computed")
    if isinstance(target.op, ExternOp):
        because = f"'{target.name}' is {_kind(target.op)}: its loops are its own, and it reads its inputs whole"
        return Reason(because, "compute_root, or a loop of another stage that is around all readers")
    if target.state.attach is INLINE:
        return Reason(f"'{target.name}' is inlined and has no loops", f"s[{target.name}].compute_root() first")
    if axis in target.state.by_intrinsic:
        tensorized = target.state.tensorized
        assert tensorized is not None
        because = f"the intrinsic '{tensorized.intrin.name}' takes the place of that loop"
        return Reason(because, f"a loop outside '{tensorized.axis.name}' of '{target.name}'")
    because = why_no_leaf(target, axis)
    return Reason(f"'{axis.name}' is no loop of it: {because}", loops_of(target)) if because else None


def _not_read(stage: StageView, target: StageView) -> Reason | None:
    """Say that the target does not need the stage."""
    if stage.plan.reads(target.origin, stage.origin):
        return None
    readers = [f"s[{reader.name}]" for reader in stage.plan.readers[stage.origin]]
    return Reason(f"'{target.name}' does not read '{stage.name}'", f"a stage that does: {', '.join(readers)}")


def _leaves_scan(stage: StageView, target: StageView) -> Reason | None:
    """Say that the place is outside the scan at whose steps the stage is computed."""
    plan, scan = stage.plan, stage.state.group
    around: Operation | None = plan.states[target.origin].group
    while around is not None and around is not scan:
        around = plan.states[around].group
    if around is scan or scan is None:
        return None
    readers = [f"s[{reader.name}]" for reader in plan.readers[stage.origin] if plan.states[reader].group is not None]
    because = f"'{stage.name}' depends on the state of scan '{scan.name}', and is computed at each of its steps"
    return Reason(because, f"a stage of the same step: {', '.join(readers)}")


def _no_inlining(stage: StageView) -> Reason | None:
    """Say what about the stage keeps it from being inlined."""
    op, state = stage.op, stage.state
    if not isinstance(op, ComputeOp):
        return Reason(f"is {_kind(op)}", "compute_inline of a compute")
    reader = next((reader for reader in stage.plan.readers[stage.origin] if has_own_loops(reader)), None)
    if reader is not None:
        return Reason(f"is read by the opaque operation '{reader.name}', which needs it in memory,", "compute_root")
    if op.reduce_axis:
        return Reason("has a reduction", "use compute_at")
    if state.is_output:
        return Reason("is an output", "compute_inline of what it reads")
    if op.num_outputs > 1:
        return Reason(f"has {op.num_outputs} outputs", "use compute_at")
    if state.feeds is not None:
        role = "update" if state.is_update else "init"
        return Reason(f"is the {role} of scan '{state.feeds.name}'", "compute_inline of what it reads")
    guests = stage.plan.guests[stage.origin]
    if guests:
        names = ", ".join(f"'{guest.name}'" for guest in sorted(guests, key=stage.plan.position.__getitem__))
        return Reason(f"has {names} computed in its loops", "inline it first, or place them elsewhere")
    if _scheduled(state):
        return Reason("is already scheduled", "inline it first, and schedule the stages that read it")
    return None


_KINDS: Final = {
    ScanOp: "a scan",
    PlaceholderOp: "a placeholder",
    HybridOp: "a hybrid function",
    ExternOp: "an opaque operation",
}
"""What an operation is that has no formula, the special kinds first."""


def _kind(op: Operation) -> str:
    return next(said for known, said in _KINDS.items() if isinstance(op, known))


def _scheduled(state: StageState) -> bool:
    """Return whether a primitive said anything of the stage that inlining would lose."""
    changed = state.leaves is not state.axes or bool(state.loops or state.scope or state.layout or state.padding)
    changed = changed or bool(state.alignments) or state.double_buffered
    return changed or state.store_predicate is not None or state.tensorized is not None
