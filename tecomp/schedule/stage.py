"""The record of one stage: its loops, where it is computed, where its result is kept. It never changes; a primitive
returns another one."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self, TypeAlias

from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.stmt import LoopKind
from ..te.axis import thread_axis
from ..te.hybrid import HybridOp
from ..te.tensor import ComputeOp, Operation, ScanOp, Tensor
from ..te.tensor_compute import TensorComputeOp
from ..te.tensor_intrin import TensorIntrin
from .layout import Layout
from .relation import Relation


class Fixed(Enum):
    """A place that needs no loop to name it."""

    ROOT = "root"
    """In no other stage's loops."""
    INLINE = "inline"
    """Nowhere: the body is substituted where it is read."""
    SCAN = "scan"
    """In the time loop of the scan whose step it is part of."""


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """In the loop `axis` of the stage of `op`, as that axis was when it was named.

    A later split or fuse of it moves the place: `Schedule.attach_axis` says to where.
    """

    op: Operation
    axis: IterVar


ROOT, INLINE, SCAN = Fixed.ROOT, Fixed.INLINE, Fixed.SCAN
Attach: TypeAlias = Fixed | At


class Prefetch(NamedTuple):
    """What the iteration `offset` later reads of a tensor is asked for."""

    tensor: Tensor
    offset: int


class LoopMark(NamedTuple):
    """How a leaf's iterations run; `thread` is the axis of the GPU it is bound to, pragmas are (name, value) pairs."""

    kind: LoopKind = LoopKind.SERIAL
    thread: IterVar | None = None
    pragmas: tuple[tuple[str, Any], ...] = ()
    prefetches: tuple[Prefetch, ...] = ()
    atomic: bool = False
    """Whether its iterations, which combine into one element, update that atomically."""

    @property
    def keeps_length(self) -> bool:
        """Whether the loop is as long as was asked even where fewer iterations do: others share its threads, or its
        thread axis was declared to have so many."""
        declared = self.thread is not None and self.thread.dom is not None
        return self.kind is LoopKind.THREAD or declared


IN_ORDER: Final = (LoopKind.SERIAL, LoopKind.UNROLLED)
"""The kinds of loop whose iterations follow each other."""


class Tensorized(NamedTuple):
    """The leaves from `axis` inward are computed by an instruction."""

    axis: IterVar
    intrin: TensorIntrin


class Alignment(NamedTuple):
    """Neighbours along a dimension lie `offset` elements apart, modulo `factor`."""

    dimension: int
    factor: int
    offset: int


def _view(marks: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(marks)


copyreg.pickle(MappingProxyType, lambda marks: (_view, (dict(marks),)))  # a record's marks are such a view

UNMARKED = LoopMark()
NO_MARKS: Mapping[IterVar, LoopMark] = MappingProxyType({})
NO_PADDING: Mapping[IterVar, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class StageState:
    """One stage as the primitives applied so far leave it."""

    op: Operation
    """The operation that the stage was made for: what names it."""
    definition: Operation
    """What it computes, for the same tensors over the same data axes: `op`, until a primitive moves work elsewhere."""
    axes: tuple[IterVar, ...]
    """Every axis there is or was: the operation's own, then those that primitives made."""
    leaves: tuple[IterVar, ...]
    """The axes that are loops, outermost first; the very tuple `axes` until a primitive changes them."""
    relations: tuple[Relation, ...] = ()
    """How the leaves were made of the operation's axes, oldest first."""
    loops: Mapping[IterVar, LoopMark] = field(default_factory=lambda: NO_MARKS)
    """What is special about some of the leaves; the others are plain serial loops."""
    attach: Attach = ROOT
    scope: str = ""
    """global, shared or local; empty where the threads around the stage decide."""
    layout: Layout | None = None
    """Where an element lies in memory, where that is not at its own indices."""
    alignments: tuple[Alignment, ...] = ()
    """How far apart neighbours lie, for the dimensions of which something was said."""
    double_buffered: bool = False
    """Whether an iteration of the loop around it computes what the next one reads."""
    padding: Mapping[IterVar, int] = field(default_factory=lambda: NO_PADDING)
    """The axes of the operation along which the stage runs up to a multiple of that many."""
    rolling: bool = False
    """Whether an iteration of the loops around it computes only what no earlier one did."""
    store_predicate: Expr | None = None
    tensorized: Tensorized | None = None
    env: tuple[IterVar, ...] = ()
    """Of a scan: the threads that live over all its steps; they are its outermost leaves."""
    is_output: bool = False
    group: ScanOp | None = None
    """The scan that computes this stage at each of its steps."""
    feeds: ScanOp | None = None
    """The scan into whose result this stage writes: the first steps (an init), or each later one (an update)."""

    def replace(self, **changes: Any) -> Self:
        """Return this record with some fields changed."""
        return replace(self, **changes)

    def positions(self) -> dict[IterVar, int]:
        """Return how many loops are outside each leaf."""
        return {axis: number for number, axis in enumerate(self.leaves)}

    def mark(self, axis: IterVar) -> LoopMark:
        """Return how the loop `axis` runs."""
        return self.loops.get(axis, UNMARKED)

    def with_mark(self, axis: IterVar, mark: LoopMark) -> Self:
        """Return this record with the loop `axis` running so."""
        return self.replace(loops=MappingProxyType({**self.loops, axis: mark}))

    @property
    def by_intrinsic(self) -> tuple[IterVar, ...]:
        """The leaves in whose place an instruction stands; none where there is no instruction."""
        return () if self.tensorized is None else self.leaves[self.leaves.index(self.tensorized.axis) :]

    @property
    def is_update(self) -> bool:
        """Whether this stage computes the next step of a scan's state."""
        return self.feeds is not None and self.group is self.feeds

    @property
    def is_init(self) -> bool:
        """Whether this stage computes the first steps of a scan's state."""
        return self.feeds is not None and self.group is not self.feeds

    @property
    def time_axis(self) -> IterVar | None:
        """The axis along which a scan steps: the scan's own, or the one that is a single point in an update."""
        if isinstance(self.op, ScanOp):
            return self.op.scan_axis
        return self.op.axis[0] if self.is_update and isinstance(self.op, ComputeOp) else None

    @property
    def default_attach(self) -> Fixed:
        """Where the stage is computed when nothing else is said."""
        return ROOT if self.group is None else SCAN


def initial(op: Operation, *, is_output: bool, group: ScanOp | None, feeds: ScanOp | None) -> StageState:
    """Return the record of a stage before any primitive: its axes as serial loops, data before reduction.

    What the call of a tensor intrinsic runs over stands innermost; the loops of a hybrid function run as it says.
    """
    axes = own_axes(op)
    state = StageState(op, op, axes, axes, is_output=is_output, group=group, feeds=feeds)
    if isinstance(op, TensorComputeOp):
        outside = tuple(axis for axis in axes if axis not in op.within)
        state = state.replace(leaves=(*outside, *op.within), tensorized=Tensorized(op.within[0], op.intrin))
    if isinstance(op, HybridOp):
        state = state.replace(loops=MappingProxyType(_declared_marks(op)))
    return state.replace(attach=state.default_attach)


def _declared_marks(op: HybridOp) -> dict[IterVar, LoopMark]:
    """Return how the loops run of which a hybrid function says more than range."""
    return {
        axis: LoopMark(loop.kind, thread_axis(loop.thread) if loop.thread else None)
        for axis, loop in zip(op.spine, op.nest, strict=True)
        if loop.kind is not LoopKind.SERIAL
    }


def own_axes(op: Operation) -> tuple[IterVar, ...]:
    """Return the axes an operation is declared over that can be loops."""
    if isinstance(op, ScanOp):
        return (op.scan_axis,)
    if isinstance(op, HybridOp):
        return op.spine
    return (*op.axis, *op.reduce_axis) if isinstance(op, ComputeOp) else ()
