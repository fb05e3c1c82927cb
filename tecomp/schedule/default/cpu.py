"""The default schedule of one stage on a CPU."""

from __future__ import annotations

from typing import Final

from ...ir.axis import IterVar
from ...te.tensor import ComputeOp
from ...te.tensor_compute import TensorComputeOp
from ..schedule import Schedule, Stage
from ..stage import INLINE
from .shape import data_loops, is_contiguous, is_ragged, joined, length, product

VECTOR_BYTES: Final = 64
ROWS: Final = 4
"""The rows of a result that are reduced together, so that what is loaded serves all of them."""
WORTH_THREADS: Final = 1 << 15
"""Elements computed from which on threads pay."""


def plan_stage(schedule: Schedule, stage: Stage) -> None:
    """Schedule one stage; what a scan does at each step stays in one thread."""
    if not isinstance(stage.op, ComputeOp) or stage.state.attach is INLINE:
        return
    axes = data_loops(stage)
    if isinstance(stage.op, TensorComputeOp):
        _parallel(stage, axes)
    elif not stage.op.reduce_axis:
        _elementwise(stage, axes)
    elif is_ragged(stage) or not axes:
        _parallel(stage, axes)
    elif is_contiguous(stage, axes[-1]) or not _row_reduction(schedule, stage, axes):
        _tiled(schedule, stage, axes)


def _elementwise(stage: Stage, axes: list[IterVar]) -> None:
    """Outer loops parallel, the last one in vectors."""
    if not axes:
        return
    lanes = _lanes(stage)
    outer = axes[:-1]
    last, extent = axes[-1], length(axes[-1])
    if extent is not None and 2 <= extent <= lanes:
        stage.vectorize(last)
    elif extent is None or extent > lanes:
        if not outer:
            chunk, last = stage.split(last, factor=64 * lanes)
            outer = [chunk]
        stage.vectorize(stage.split(last, factor=lanes)[1])
    _parallel(stage, outer, product(axes))


def _row_reduction(schedule: Schedule, stage: Stage, axes: list[IterVar]) -> bool:
    """Fold a row that is contiguous in memory lane by lane, and the lanes at its end; False where it is not."""
    made = stage.op
    assert isinstance(made, ComputeOp)
    last = list(made.reduce_axis)[-1]
    lanes = _lanes(stage)
    extent = length(last)
    if made.num_outputs > 1 or not is_contiguous(stage, last) or (extent is not None and extent < 2 * lanes):
        return False
    partial = schedule.rfactor(made.output(0), stage.split(last, factor=lanes)[1], factor_axis=made.output(0).ndim)
    folded = schedule[partial]
    lane = partial.op.axis[-1]
    folded.compute_at(stage, axes[-1])
    folded.reorder(*(axis for axis in folded.leaf_iter_vars if axis is not lane), lane)
    folded.vectorize(lane)
    total, reduced = product(axes), product(list(made.reduce_axis))
    _parallel(stage, axes, None if total is None or reduced is None else total * reduced)
    return True


def _tiled(schedule: Schedule, stage: Stage, axes: list[IterVar]) -> None:
    """Keep a few rows of vectors of results in registers while they are reduced."""
    made = stage.op
    assert isinstance(made, ComputeOp)
    lanes = _lanes(stage)
    if stage.state.group is not None or made.num_outputs > 1 or (length(axes[-1]) or lanes) < lanes:
        _parallel(stage, axes)
        return
    kept = schedule[schedule.cache_write(made.output(0), "global")]
    columns, inner = stage.split(axes[-1], factor=lanes)
    outer, rows = [*axes[:-1], columns], [inner]
    if len(axes) > 1:
        row, few = stage.split(axes[-2], factor=ROWS)
        outer, rows = [*axes[:-2], row, columns], [few, inner]
    stage.reorder(*outer, *rows)
    stage.vectorize(inner)
    kept.compute_at(stage, columns)
    assert isinstance(kept.op, ComputeOp)
    data = kept.op.axis
    kept.reorder(*kept.op.reduce_axis, *data[-len(rows) :])
    kept.vectorize(data[-1])
    if len(rows) > 1:
        kept.unroll(data[-2])
    total, reduced = product(axes), product(list(kept.op.reduce_axis))
    _parallel(stage, outer, None if total is None or reduced is None else total * reduced)


def _parallel(stage: Stage, axes: list[IterVar], work: int | None = None) -> None:
    """Share the outer loops out among threads, where that pays; how much work there is may not be known."""
    if axes and stage.state.group is None and (work is None or work >= WORTH_THREADS):
        stage.parallel(joined(stage, axes))


def _lanes(stage: Stage) -> int:
    return max(VECTOR_BYTES // stage.op.output(0).dtype.bytes, 2)
