"""The default schedule of one stage on a GPU."""

from __future__ import annotations

from typing import Final

from ...ir.axis import AxisKind, IterVar
from ...ir.stmt import For, LoopKind
from ...ir.visit import walk
from ...te.axis import thread_axis
from ...te.hybrid import HybridOp
from ...te.tensor import ComputeOp
from ...te.tensor_compute import TensorComputeOp
from ..opaque import has_own_loops, runs_itself
from ..schedule import Schedule, Stage
from ..stage import INLINE
from .shape import data_loops, is_contiguous, is_ragged, joined, product

THREADS: Final = 256
"""Threads in a block, one for an element."""
FOLDING: Final = 128
"""Threads of a block that fold one element together."""


def plan_stage(schedule: Schedule, stage: Stage) -> None:
    """Make a kernel of one stage; at each step of a scan, of each stage computed there."""
    if isinstance(stage.op, HybridOp) and not _has_threads(stage):
        _plan_hybrid(stage)
    elif has_own_loops(stage.op) and not runs_itself(stage.op):
        _bind(stage, stage.fuse(), "threadIdx.x")
    if not isinstance(stage.op, ComputeOp) or stage.state.attach is INLINE:
        return
    axes = data_loops(stage)
    if _is_long(stage, axes):
        last = list(stage.op.reduce_axis)[-1]
        _bind(stage, joined(stage, axes), "blockIdx.x")
        _bind(stage, stage.split(last, factor=FOLDING)[1], "threadIdx.x")
        return
    block, thread = stage.split(joined(stage, axes), factor=THREADS)
    _bind(stage, block, "blockIdx.x")
    _bind(stage, thread, "threadIdx.x")


def _plan_hybrid(stage: Stage) -> None:
    """Let a thread run each iteration of an independent loop of a hybrid function; without one, one runs all."""
    leaves, marked = stage.leaf_iter_vars, stage.state.loops
    loop = next((leaf for leaf in leaves if leaf.kind is AxisKind.DATA and leaf not in marked), None)
    if loop is None:
        _bind(stage, stage.fuse(), "threadIdx.x")
        return
    stage.reorder(*dict.fromkeys((loop, *leaves)))
    block, thread = stage.split(loop, factor=THREADS)
    _bind(stage, block, "blockIdx.x")
    _bind(stage, thread, "threadIdx.x")


def _has_threads(stage: Stage) -> bool:
    """Return whether a hybrid function says itself what threads do."""
    op = stage.op
    assert isinstance(op, HybridOp)
    inside = any(isinstance(node, For) and node.kind is LoopKind.THREAD for node in walk(op.body))
    return inside or any(mark.kind is LoopKind.THREAD for mark in stage.state.loops.values())


def _is_long(stage: Stage, axes: list[IterVar]) -> bool:
    """Return whether a block folds each element: many values lie side by side, along the reduction and not the data."""
    made = stage.op
    assert isinstance(made, ComputeOp)
    if not made.reduce_axis or is_ragged(stage) or isinstance(made, TensorComputeOp):
        return False
    extent = product([made.reduce_axis[-1]])
    if extent is not None and extent < 2 * FOLDING:
        return False
    return not axes or is_contiguous(stage, made.reduce_axis[-1])


def _bind(stage: Stage, axis: IterVar, tag: str) -> None:
    stage.bind(axis, thread_axis(tag))
