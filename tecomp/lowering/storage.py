"""Where each tensor lies: its buffer, and what element 0 of the buffer is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arith import simplify
from ..bounds.attach import Place
from ..bounds.program import Program
from ..bounds.run_over import ZERO, Bounds, StageBounds
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.matrix import FRAGMENT_SCOPES
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, Stmt
from ..ir.visit import rewrite_expr
from ..schedule.layout import Layout
from ..te.extern_op import ExternOp
from ..te.tensor import ComputeOp, Operation, ScanOp, Tensor
from .fragments import fragment_layout
from .layout import strides_of
from .relayout import occupied

_ALIGN = 64
"""Temporaries start on a cache line: a vector of any width is aligned at their start."""


class Storage:
    """The buffers of one program. An argument is held whole; a temporary holds the region that its stage computes."""

    def __init__(self, program: Program, bounds: Bounds, arguments: dict[Tensor, Buffer]) -> None:
        self.program, self.bounds = program, bounds
        self._buffers = dict(arguments)
        self.arguments = arguments

    def buffer(self, tensor: Tensor) -> Buffer:
        """Return the buffer that holds `tensor`; a scan's states, updates and initial rows share its output's."""
        owner = self.program.alias.get(tensor, tensor)
        if owner not in self._buffers:
            self._buffers[owner] = self._temporary(owner)
        return self._buffers[owner]

    def indices(self, tensor: Tensor, at: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return where element `at` of `tensor` lies in its buffer."""
        owner = self.program.alias.get(tensor, tensor)
        layout = self._layout(owner)
        if layout is not None:
            at = layout.place(at, self._whole(owner))
        if owner in self.arguments:
            return tuple(simplify(index) for index in at)
        rolling = self.bounds[owner.op].rolling
        if rolling is not None:
            return tuple(map(simplify, rolling.index(at)))
        inside = (simplify(make.sub(index, taken.min)) for index, taken in zip(at, self._taken(owner), strict=True))
        return (*self.bounds[owner.op].private, *inside)

    def load(self, node: E.TensorRead) -> Expr:
        """Return the load of an element that is read."""
        tensor: Tensor = node.tensor
        return make.load(self.buffer(tensor), self.indices(tensor, node.indices))

    def loaded(self, expr: Expr) -> Expr:
        """Return `expr` with the elements that it reads loaded."""
        return rewrite_expr(expr, {E.TensorRead: self.load})

    def _layout(self, tensor: Tensor) -> Layout | None:
        """Return where the elements of `tensor` lie, where that is not at their own indices."""
        state = self.program.schedule.states.get(tensor.op)
        return None if state is None else fragment_layout(state) if state.scope in FRAGMENT_SCOPES else state.layout

    def _whole(self, tensor: Tensor) -> tuple[Expr, ...]:
        """Return the extents of `tensor`."""
        return tuple(map(self.program.indexer.extent, tensor.shape))

    def _taken(self, tensor: Tensor) -> tuple[Range, ...]:
        """Return what is needed of each dimension of the memory that all of `tensor` would take."""
        rolling = self.bounds[tensor.op].rolling
        if rolling is not None:
            return rolling.held
        held, layout = self._held(tensor), self._layout(tensor)
        return held if layout is None else occupied(layout, self._whole(tensor), held)

    def _held(self, tensor: Tensor) -> tuple[Range, ...]:
        """Return what is computed of each dimension; the states of a scan share only time, opaque results nothing."""
        region = self.bounds[tensor.op].region
        if isinstance(tensor.op, ExternOp):
            return tuple(Range(ZERO, self.program.indexer.extent(extent)) for extent in tensor.shape)
        if not isinstance(tensor.op, ScanOp):
            return region
        return (region[0], *(Range(ZERO, self.program.indexer.extent(extent)) for extent in tensor.shape[1:]))

    def is_temporary(self, tensor: Tensor) -> bool:
        """Return whether `tensor` needs memory that is neither an argument's nor a scan's."""
        return tensor not in self.arguments and tensor not in self.program.alias

    def kept_around(self, loop: Place, stmt: Stmt) -> Stmt:
        """Return a loop in the memory of those stages whose elements are kept over its iterations."""
        for stage in self.bounds.values():
            if stage.rolling is not None and stage.rolling.loop == loop:
                for output in stage.op.outputs:
                    buffer = self.buffer(output)
                    stmt = Alloc(buffer, stmt, loc=buffer.loc)
        return stmt

    def share(self, steps: Sequence[Operation]) -> None:
        """Let temporaries of one shape and type that are never needed at once share memory.

        `steps` are the stages at the root in the order in which they run. A temporary is needed from the step that
        computes it to the last that reads it, itself or by a stage inside its loops.
        """
        position = {op: number for number, op in enumerate(steps)}
        free: dict[Any, list[Buffer]] = {}
        ending: dict[int, list[Buffer]] = {}
        for number, op in enumerate(steps):
            if isinstance(op, (ComputeOp, ExternOp)) and not self.program.writes_scan(op):
                readers = {self.program.placement.outermost(reader) for reader, _ in self.program.readers_of(op)}
                last = max((position[reader] for reader in readers), default=number)
                for tensor in map(op.output, range(op.num_outputs)):
                    if tensor not in self.arguments:
                        ending.setdefault(last, []).append(self._reused(tensor, free))
            for buffer in ending.pop(number, ()):
                free.setdefault(_kind(buffer), []).append(buffer)

    def _reused(self, tensor: Tensor, free: dict[Any, list[Buffer]]) -> Buffer:
        """Return memory for `tensor`: what is free of its kind, or its own."""
        own = self._temporary(tensor)
        available = free.get(_kind(own))
        self._buffers[tensor] = buffer = available.pop() if available else own
        return buffer

    def _temporary(self, tensor: Tensor) -> Buffer:
        stage = self.bounds[tensor.op]
        shape = (*map(extent_of, stage.private), *(taken.extent for taken in self._taken(tensor)))
        if stage.scope != "global":
            self._require_constant(stage, shape)
        strides = strides_of(stage.state, shape)
        return Buffer(tensor.name, shape, tensor.dtype, stage.scope, strides, _ALIGN, tensor.op.loc)

    def _require_constant(self, stage: StageBounds, shape: Sequence[Expr]) -> None:
        for number, extent in enumerate(shape):
            if not isinstance(extent, E.Const):
                raise ScheduleError(
                    f"'{stage.op.name}' cannot live in {stage.scope} memory",
                    because=f"what is computed of its dimension {number} has extent {extent!r}, which is not constant",
                    legal="compute_at inside loops of constant extent, or set_scope('global')",
                    location=self.program.schedule.location_of(stage.op, "set_scope") or stage.op.loc,
                )


def extent_of(var: E.Var) -> Expr:
    """Return how many values a loop variable takes."""
    assert var.extent is not None
    return var.extent


def _kind(buffer: Buffer) -> Any:
    return buffer.dtype, buffer.scope, buffer.shape, buffer.strides
