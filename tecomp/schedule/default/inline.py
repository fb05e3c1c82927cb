"""Which stages are inlined: those whose formula costs less to compute again than its value to keep."""

from __future__ import annotations

from typing import Final

from ...ir import expr as E
from ...ir.visit import walk
from ...te.tensor import ComputeOp, Operation, Tensor
from ..schedule import Schedule, Stage

MOST_NODES: Final = 64
"""The greatest formula that inlining may make of one stage."""
CHEAP: Final = (E.TensorRead, E.Var, E.Const, E.Cast, E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.Min, E.Max)
"""What may be computed for each value that is reduced, again and again: arithmetic, without branches or calls."""


def inline_cheap(schedule: Schedule) -> None:
    """Inline what is elementwise, small, and read once or cheap."""
    sizes: dict[Operation, int] = {}
    for stage in schedule.stages:
        if not isinstance(stage.op, ComputeOp):
            continue
        reads = [node.tensor.op for part in stage.op.body for node in walk(part) if isinstance(node, E.TensorRead)]
        size = sum(1 for part in stage.op.body for _ in walk(part)) + sum(sizes.get(op, 0) for op in reads)
        if _may_be_inlined(schedule, stage) and size <= MOST_NODES:
            stage.compute_inline()
            sizes[stage.origin] = size


def _may_be_inlined(schedule: Schedule, stage: Stage) -> bool:
    made, state = stage.op, stage.state
    assert isinstance(made, ComputeOp)
    if made.reduce_axis or made.num_outputs > 1 or state.is_output or state.feeds is not None:
        return False
    readers = [schedule.states[reader].definition for reader in schedule.readers[stage.origin]]
    if not all(isinstance(reader, ComputeOp) for reader in readers):
        return False
    cheap = all(isinstance(node, CHEAP) for part in made.body for node in walk(part))
    return cheap or sum(_count(reader, made.output(0)) for reader in readers) == 1


def _count(reader: Operation, tensor: Tensor) -> int:
    """Return how often a stage needs a tensor for one of its elements: many times where it reduces."""
    assert isinstance(reader, ComputeOp)
    reads = sum(isinstance(node, E.TensorRead) and node.tensor is tensor for part in reader.body for node in walk(part))
    return reads * (2 if reader.reduce_axis else 1)
