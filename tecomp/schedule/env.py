"""env_threads: one kernel runs all steps of a scan, on threads that live from the first step to the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import AxisKind, IterVar
from ..ir.stmt import LoopKind
from ..te.axis import THREAD_TAGS, VIRTUAL_TAGS
from ..te.tensor import ScanOp
from .extent import constant, show
from .primitive import Change, primitive
from .stage import LoopMark
from .view import StageView

THREADS = tuple(tag for tag in THREAD_TAGS if tag not in VIRTUAL_TAGS)
"""The axes of a GPU's grid and block."""


@primitive
def env_threads(stage: StageView, threads: Sequence[IterVar]) -> Change[None]:
    """Run all steps of a scan in one kernel of these threads, which wait for each other where a step needs that.

    Each thread axis has its extent: te.thread_axis((0, 24), "blockIdx.x"). The loops of stages of the scan are bound to
    the same axes. A stage placed at one of them, s[W].compute_at(s[scan], thread), is computed once before all steps,
    by each thread what that thread needs: weights stay in registers, or in shared memory, over time.

        for t in range(1, m):                           with launch(blockIdx_x=24, threadIdx_x=96):
            with launch(blockIdx_x=24, ...):                W_local[...] = W[...]
                h[t, ...] = h[t - 1, ...] ...     ->        for t in range(1, m):
                                                                h[t, ...] = h[t - 1, ...] ...
                                                                barrier_grid()
    """
    asked = f"env_threads of '{stage.name}'"
    if not isinstance(stage.op, ScanOp):
        raise ScheduleError(asked, "only a scan has steps that threads could outlive", "s[scan].env_threads(...)")
    if stage.state.env:
        names = ", ".join(axis.thread_tag for axis in stage.state.env)
        raise ScheduleError(asked, f"its threads were given already: {names}", "all thread axes in one call")
    found = _threads(asked, threads)
    state = stage.state
    for axis in found:
        state = state.with_mark(axis, LoopMark(LoopKind.THREAD, axis))
    return state.replace(env=found, axes=(*state.axes, *found), leaves=(*found, *state.leaves)), None


def _threads(asked: str, threads: Any) -> tuple[IterVar, ...]:
    """Return the thread axes, each of which has a constant extent and stands for one index."""
    if not isinstance(threads, (list, tuple)) or not threads:
        raise UserTypeError(f"{asked}: {threads!r}", "that is no list of thread axes", "[te.thread_axis(...), ...]")
    seen: set[str] = set()
    for axis in threads:
        legal = 'te.thread_axis((0, 64), "threadIdx.x")'
        if not isinstance(axis, IterVar) or axis.kind is not AxisKind.THREAD or axis.thread_tag not in THREADS:
            raise UserTypeError(f"{asked}: {axis!r}", "that is no axis of a GPU's grid or block", legal)
        if axis.dom is None or constant(axis.dom.extent) is None:
            extent = "no extent" if axis.dom is None else f"the extent {show(axis.dom.extent)}"
            because = f"{axis.thread_tag} has {extent}, and how many threads live over all steps must be known"
            raise ScheduleError(asked, because, legal)
        if axis.thread_tag in seen:
            raise ScheduleError(asked, f"{axis.thread_tag} is given twice", "each index once")
        if constant(axis.dom.min) != 0:
            raise ScheduleError(
                asked, f"{axis.thread_tag} starts at {show(axis.dom.min)}, and threads count from 0", legal
            )
        seen.add(axis.thread_tag)
    return tuple(threads)
