"""default_schedule: a legal schedule for every graph, of the primitives that anyone would use; `s.text()` shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...target import Target
from ...te.tensor import Operation, Tensor
from ..schedule import Schedule, create_schedule
from . import cpu, cuda
from .inline import inline_cheap


def default_schedule(outputs: Any, target: str | Target | None = None) -> Schedule:
    """Return a schedule of `outputs`, tensors or operations, for a target: "llvm", "cuda", or that of the `with` block.

    On a CPU outer loops are parallel and inner ones vectorized, reductions are kept in registers. On a GPU every stage
    is a kernel: one thread for an element, or for long reductions a block for each. Stages that cost less to compute
    than to keep are inlined, and one thread runs the statements of a te.extern that do not say which threads do. It is
    a schedule like any other, to be looked at, or to go on from.
    """
    given: Sequence[Any] = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    ops: list[Operation] = [output.op if isinstance(output, Tensor) else output for output in given]
    goal = Target.of(target if target is not None else Target.current() or "llvm")
    schedule = create_schedule(list(dict.fromkeys(ops)))
    inline_cheap(schedule)
    plan = cuda.plan_stage if goal.kind == "cuda" else cpu.plan_stage
    for stage in schedule.stages:
        plan(schedule, stage)
    return schedule


__all__ = ["default_schedule"]
