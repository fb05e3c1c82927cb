"""The primitive that gives the innermost loops of a stage to an instruction."""

from __future__ import annotations

from typing import Any

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import IterVar
from ..ir.stmt import LoopKind
from ..te.tensor import ComputeOp
from ..te.tensor_intrin import TensorIntrin
from .axis import cannot, describe, leaf
from .primitive import Change, primitive
from .stage import UNMARKED, At, Tensorized
from .view import StageView


@primitive
def tensorize(stage: StageView, axis: IterVar, intrin: TensorIntrin) -> Change[None]:
    """Compute what the loops from `axis` inward compute by an instruction, `te.decl_tensor_intrin`.

    What they compute must be what the instruction was declared to: that is looked at when the schedule is lowered, by
    value, whatever split, fuse and reorder made of the loops. Where a loop reaches past the end of its axis, the
    instruction does the tiles that are full, and the loops the rest. With loops that reduce outside of `axis`, the
    instruction needs a `reduce_update`.

        for i.outer in range(n // 16):                 for i.outer in range(n // 16):
            for i.inner in range(16):             ->       C[i.outer*16 : +16] = A[i.outer*16 : +16] + ...
                C[i.outer*16 + i.inner] = ...
    """
    if not isinstance(intrin, TensorIntrin):
        because = f"it is of type {type(intrin).__name__}"
        raise UserTypeError(f"tensorize: {intrin!r} is no tensor intrinsic", because, "te.decl_tensor_intrin(...)")
    found = check_loops(stage, axis, intrin.name)
    _check_results(stage, intrin)
    return stage.state.replace(tensorized=Tensorized(found, intrin)), None


def check_loops(stage: StageView, axis: Any, by: str) -> IterVar:
    """Return the first of the loops that an intrinsic called `by` may take the place of; ScheduleError otherwise."""
    other = stage.state.tensorized
    if other is not None:
        because = f"'{other.intrin.name}' takes the place of its loops from '{other.axis.name}' on, and a stage has one"
        raise _refusal(stage, by, because, "one intrinsic for each stage")
    found = leaf(stage, "tensorize", axis)
    if not isinstance(stage.op, ComputeOp):
        because = f"'{stage.name}' is a {type(stage.op).__name__}, which has no formula to compare"
        raise _refusal(stage, by, because, "a compute")
    for loop in stage.state.leaves[stage.state.leaves.index(found) :]:
        _check_loop(stage, found, loop)
    return found


def _check_results(stage: StageView, intrin: TensorIntrin) -> None:
    """Raise ScheduleError where the intrinsic gives something else, whatever the loops are."""
    own, other = ([str(tensor.dtype) for tensor in op.outputs] for op in (stage.op, intrin.op))
    if own != other:
        because = f"'{stage.name}' gives {', '.join(own)}, the intrinsic {', '.join(other)}"
        raise _refusal(stage, intrin.name, because, f"an intrinsic that gives {', '.join(own)}")


def _check_loop(stage: StageView, axis: IterVar, loop: IterVar) -> None:
    """Raise ScheduleError for a loop from `axis` inward that runs in another way, or has a stage in it."""
    mark = stage.state.mark(loop)
    if mark != UNMARKED:
        because = f"'{loop.name}' is {describe(mark)}, and the intrinsic takes the place of that loop"
        if mark.kind is LoopKind.THREAD:
            because = f"'{loop.name}' is {describe(mark)}, and one thread runs the whole intrinsic"
        raise cannot("tensorize", axis, stage, because, f"tensorize a loop inside '{loop.name}'")
    plan = stage.plan
    for guest in sorted(plan.guests[stage.origin], key=plan.position.__getitem__):
        if isinstance(plan.states[guest].attach, At) and plan.attach_axis(guest) is loop:
            because = f"'{guest.name}' is computed in '{loop.name}', and the intrinsic takes the place of that loop"
            raise cannot("tensorize", axis, stage, because, f"s[{guest.name}].compute_at a loop outside '{axis.name}'")


def _refusal(stage: StageView, by: str, because: str, legal: Any) -> ScheduleError:
    return ScheduleError(f"tensorize: '{stage.name}' by '{by}'", because, legal)
