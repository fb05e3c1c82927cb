"""Primitives that say how the memory of a result is laid out, and in how many copies it is held."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import IterVar
from ..ir.matrix import FRAGMENT_SCOPES
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp
from .axis import as_axis, check_has_loops, names
from .primitive import Change, primitive
from .stage import Alignment, StageState
from .view import StageView


@primitive
def storage_align(stage: StageView, axis: IterVar, factor: int, offset: int) -> Change[None]:
    """Let neighbours along a dimension of the result lie `offset` elements apart, modulo `factor`.

    What lies further in is padded for it; on one axis the last call holds. A column of a tile in shared memory whose
    rows are 32 words apart is in one bank, one whose rows are 33 words apart in 32 of them.

        S: f32[32, 32] in shared    ->    S: f32[32, 32] in shared, strides [33, 1]           # (S.op.axis[0], 32, 1)
    """
    _check_own_memory(stage, "storage_align")
    found = as_axis(stage, "storage_align", axis)
    asked = f"storage_align: '{found.name}' of '{stage.name}' by factor={factor!r}, offset={offset!r}"
    dimensions = _dimensions(stage.origin)
    if found not in dimensions:
        raise ScheduleError(asked, f"'{found.name}' is no dimension of '{stage.name}'", f"one of {names(dimensions)}")
    _check_own_layout(stage, asked)
    for value in (factor, offset):
        if not isinstance(value, SupportsIndex) or isinstance(value, bool):
            raise UserTypeError(asked, f"{value!r} is of type {type(value).__name__}", "two integers")
    if operator.index(factor) <= 0:
        raise ScheduleError(asked, "nothing is a multiple of that", "a factor of 1 or more")
    number = dimensions.index(found)
    new = Alignment(number, operator.index(factor), operator.index(offset) % operator.index(factor))
    others = tuple(old for old in stage.state.alignments if old.dimension != number)
    return stage.state.replace(alignments=(*others, new)), None


@primitive
def double_buffer(stage: StageView) -> Change[None]:
    """Hold the result in two copies: fill one for the next iteration while the present one is used.

    The loop is that in which the stage is computed; it must run its iterations in order, and the stage must not be made
    of what that loop writes. Both are checked when the schedule is lowered.

        for k in range(8):            S[0, ...] = A[0, ...]
            S[...] = A[k, ...]        for k in range(8):
            C[...] += S[...]    ->        if k + 1 < 8: S[(k + 1) % 2, ...] = A[k + 1, ...]
                                          C[...] += S[k % 2, ...]
    """
    _check_own_memory(stage, "double_buffer")
    if stage.state.double_buffered:
        raise ScheduleError(f"double_buffer: '{stage.name}'", "it is double buffered already", "two copies")
    if stage.state.rolling:
        because = "it is a rolling buffer, which holds several iterations"
        raise ScheduleError(f"double_buffer: '{stage.name}'", because, "one of both")
    return stage.state.replace(double_buffered=True), None


@primitive
def rolling_buffer(stage: StageView) -> Change[None]:
    """Keep what iterations of the loops around the stage have in common: each computes only what is new.

    The stage is computed in a loop of a reader that reads a window of it, which moves on by a constant. Memory holds
    the window, and an element takes the place of one that the window has left. The loops in which the window moves
    run their iterations in order, which is checked when the schedule is lowered.

        for y in range(64):                         for y in range(64):
            B[0:3] = f(A[y : y + 3])                    if y == 0: B[0:2] = f(A[0:2])
            C[y] = B[0] + B[1] + B[2]      ->           B[(y + 2) % 3] = f(A[y + 2])
                                                        C[y] = B[y % 3] + B[(y + 1) % 3] + B[(y + 2) % 3]
    """
    _check_own_memory(stage, "rolling_buffer")
    asked = f"rolling_buffer: '{stage.name}'"
    if stage.state.rolling:
        raise ScheduleError(asked, "it is a rolling buffer already", "once")
    if stage.state.double_buffered:
        raise ScheduleError(asked, "it is double buffered, and a copy holds one iteration only", "one of both")
    if stage.state.scope in FRAGMENT_SCOPES:
        raise ScheduleError(asked, "it is a fragment, whose elements lie as the instruction wants", "another scope")
    _check_own_layout(stage, asked)
    return stage.state.replace(rolling=True), None


def _check_own_memory(stage: StageView, verb: str) -> None:
    """Raise ScheduleError for a stage whose result does not lie in memory of its own."""
    check_has_loops(stage, verb)
    reason = why_no_memory(stage.state)
    if reason:
        raise ScheduleError(f"{verb}: '{stage.name}'", reason, "a stage that others read: its memory is a temporary")


def _check_own_layout(stage: StageView, asked: str) -> None:
    """Raise ScheduleError where transform_layout gave the memory other dimensions than the result has."""
    if stage.state.layout is not None:
        because = "transform_layout said where its elements lie, so its memory has other dimensions"
        raise ScheduleError(asked, because, "one of both")


def why_no_memory(state: StageState) -> str:
    """Say why the result of a stage does not lie in memory of its own; nothing where it does."""
    if state.is_output:
        return "it is an output, whose memory is the caller's"
    return f"it is written into the result of scan '{state.feeds.name}'" if state.feeds is not None else ""


def reading_code(stage: StageView) -> str:
    """Return the name of an operation that makes or reads the result by code of its own, where there is one."""
    ops = (stage.origin, *stage.plan.readers[stage.origin])
    return next((op.name for op in ops if not isinstance(op, (ComputeOp, PlaceholderOp, ScanOp))), "")


def _dimensions(op: Operation) -> tuple[IterVar, ...]:
    """Return the axes that name the dimensions of a result, in their order."""
    if isinstance(op, ScanOp):
        return (op.scan_axis, *op.spatial_axis_[: op.output(0).ndim - 1])
    return op.axis if isinstance(op, ComputeOp) else ()
