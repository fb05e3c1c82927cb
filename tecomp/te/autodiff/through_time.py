"""Scans in reverse: what a step adds to the adjoint of earlier rows, from the last step to the first.

    S[t] = f(S[t - 1], X[t])            G[a] = head[T - 1 - a] + G[a - 1] * df/dS,  a = 0 is the last step

The adjoint G of the state is a scan over reversed steps. Once it is known, everything that the steps read from outside
gets its adjoint from all steps at once: the adjoint of a matrix is a matrix product over time, not a running sum.
Values of the steps are computed again from the states that the scan gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...dtype import INDEX
from ...errors import UserError
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ..graph import Reads, post_order, scan_body
from ..placeholder import placeholder
from ..recurrence import Follow, followed
from ..scan import scan as te_scan
from ..tensor import ComputeOp, Operation, ScanOp, Tensor
from .adjoint import Adjoint, Scatter, collect
from .forward import Frame, computed_again
from .partials import choose, plus
from .reverse import Reverse, axis_names
from .spread import through


def moving(order: Iterable[Operation], wanted: Iterable[Tensor], reads: Reads) -> set[Tensor]:
    """Return the float tensors of `order` (producers first) that change with any of `wanted`, and those."""
    found = {tensor for tensor in wanted if tensor.dtype.is_float}
    for op in order:
        if any(tensor in found for tensor in reads(op)):
            found.update(tensor for tensor in op.outputs if tensor.dtype.is_float)
    return found


def through_time(outer: Reverse, scan: ScanOp) -> None:
    """Add to the adjoints of what a scan reads what the adjoints of its results give."""
    heads = {state: outer.whole(row) for state, row in zip(scan.state_placeholder, scan.outputs, strict=True)}
    if not any(heads.values()):
        return
    _check_body(outer, scan)
    steps = Steps(scan)
    adjoints = _Backward(outer, steps, heads).adjoints()
    for state, init in zip(scan.state_placeholder, scan.init, strict=True):
        adjoint = adjoints.get(state)
        if adjoint is not None and init in outer.active:
            axes = outer.stages.axes_of(init, axis_names(init, ()))
            outer.add(init, Scatter(scan.name, axes, axes, make.TRUE, adjoint.at(axes)))
    wanted = {tensor for op in steps.body for tensor in op.input_tensors if tensor.op not in steps.inside}
    active = moving(steps.body, wanted & set(outer.active), lambda op: op.input_tensors)
    at_once = Reverse(outer.asked, outer.stages, steps, outer.prefix, active)
    _spread(at_once, steps, adjoints)
    for tensor in (tensor for tensor in active if tensor.op not in steps.inside):
        for scatter in at_once.scatters(tensor):
            outer.add(tensor, scatter)


def _check_body(outer: Reverse, scan: ScanOp) -> None:
    for op in scan_body(scan):
        if not isinstance(op, ComputeOp):
            raise UserError(
                through(outer.asked, op),
                because=f"{type(op).__name__} is met within the steps of scan '{scan.name}'",
                legal="stages of te.compute there",
            )


def _spread(reverse: Reverse, steps: Steps, given: dict[Tensor, Adjoint]) -> None:
    """Spread the adjoints `given` of the rows that the steps computed through all stages of a step."""
    for state, update in zip(steps.scan.state_placeholder, steps.scan.update, strict=True):
        adjoint = given.get(state)
        if adjoint is None or update not in reverse.active:
            continue
        if any(update in op.input_tensors for op in steps.body):
            assert isinstance(update.op, ComputeOp)
            axes = reverse.existing(update.op)
            reverse.add(update, Scatter(steps.scan.name, axes, axes, make.TRUE, adjoint.at(axes)))
        else:
            reverse.set(update, adjoint)
    for op in reversed(steps.body):
        if any(tensor in reverse.active for tensor in op.outputs):
            reverse.spread(op)


class Steps(Frame):
    """Within the steps of a scan: a stage has the rows that its steps need, states are read from the scan's result."""

    def __init__(self, scan: ScanOp) -> None:
        self.scan = scan
        self.body = [op for op in scan_body(scan) if isinstance(op, ComputeOp)]
        self.inside = {*self.body, *(state.op for state in scan.state_placeholder)}
        self.follow: Follow = followed(scan)
        self._values = {
            tensor: row
            for tensors in (scan.state_placeholder, scan.update)
            for tensor, row in zip(tensors, scan.outputs, strict=True)
        }

    def value(self, tensor: Tensor) -> Tensor:
        """Return the tensor that has the values of `tensor` in all steps."""
        op = tensor.op
        if tensor not in self._values and op in self.inside and isinstance(op, ComputeOp):
            self._values.update(zip(op.outputs, computed_again(op, self), strict=True))
        return self._values.get(tensor, tensor)

    def is_time(self, op: Operation, dim: int) -> bool:
        """Return whether an axis of a stage is the step, or a number of steps from it."""
        return op in self.inside and None not in self.follow.steps(op, dim)

    def span(self, op: ComputeOp, dim: int) -> tuple[Expr, Expr] | None:
        """Return the first row that a step needs and the end of them."""
        if not self.is_time(op, dim):
            return None
        steps = [step for step in self.follow.steps(op, dim) if step is not None]
        time = self.scan.output(0).shape[0]
        return make.const(self.scan.depth + min(steps), time.dtype), make.add(time, max(steps))


class _Turned(Frame):
    """The same stages, whose adjoints are kept with the last step first."""

    suffix = "grad.step"

    def __init__(self, outer: Reverse, steps: Steps) -> None:
        self.value, self.span = steps.value, steps.span
        self.outer, self.steps = outer, steps

    def turned(self, tensor: Tensor, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return where the adjoint of a row is kept: T - 1 - t for row t."""
        extent = self.outer.stages.indexer.extent
        return tuple(
            make.sub(make.sub(extent(tensor.shape[dim]), 1), at) if self.steps.is_time(tensor.op, dim) else at
            for dim, at in enumerate(index)
        )


class _Backward:
    """The scan over reversed steps that gives the adjoints of the states.

    Where a step reads no further back than one row, row a of it is that of step T - 1 - a and the first is the head's
    last. Otherwise as many rows of zeros as the steps read back, `margin`, come before that.
    """

    def __init__(self, outer: Reverse, steps: Steps, heads: dict[Tensor, Adjoint | None]) -> None:
        self.outer, self.steps, self.heads, self.scan = outer, steps, heads, steps.scan
        self.states = self._states()
        self.back = max(steps.follow.back.get(state, 0) for state in self.states)
        self.margin = 0 if self.back <= 1 else self.back
        self.length = make.add(outer.stages.indexer.extent(self.scan.output(0).shape[0]), self.margin)

    def _states(self) -> list[Tensor]:
        """Return the states that have a head, and those from which the next rows of such a one are computed."""
        updates = dict(zip(self.scan.state_placeholder, self.scan.update, strict=True))
        found = [state for state, head in self.heads.items() if head is not None]
        for state in found:
            reached = post_order([updates[state]], stop=[other.op for other in updates])
            read = dict.fromkeys(tensor for op in reached for tensor in op.input_tensors if tensor in updates)
            found += [other for other in read if other not in found and other.dtype.is_float]
        return found

    def adjoints(self) -> dict[Tensor, Adjoint]:
        """Return the adjoint of each state that has one."""
        if not self.back:
            return {state: head for state, head in self.heads.items() if head is not None}
        rows = {state: self._axes(state, self.length) for state in self.states}
        kept = {
            state: placeholder(self.outer.stages.shape(axes), state.dtype, name=f"{state.name}.grad")
            for state, axes in rows.items()
        }
        given = {state: self._adjoint(state, tensor) for state, tensor in kept.items()}
        loop = self._loop()
        _spread(loop, self.steps, given)
        updates = [self._update(state, axes, loop) for state, axes in rows.items()]
        inits = [self._init(state) for state in self.states]
        made = te_scan(inits, updates, list(kept.values()), name=f"{self.scan.name}.grad.rows")
        results = made if isinstance(made, list) else [made]
        return {state: self._adjoint(state, tensor) for state, tensor in zip(self.states, results, strict=True)}

    def _loop(self) -> Reverse:
        active = moving(self.steps.body, self.states, lambda op: op.input_tensors)
        outer = self.outer
        return Reverse(outer.asked, outer.stages, _Turned(outer, self.steps), outer.prefix, active)

    def _axes(self, state: Tensor, length: Expr) -> tuple[E.Var, ...]:
        """Return index axes for reversed steps, the prefix and the other dimensions of a state."""
        update = self.scan.update[self.scan.state_placeholder.index(state)]
        time, *rest = self.outer.stages.axes_of(state, axis_names(update, ()))
        return E.Var(time.name, INDEX, time.min, length), *self.outer.prefix, *rest

    def _turned(self, axes: Sequence[E.Var]) -> tuple[Expr, ...]:
        """Return the row of the state that a row of its adjoint belongs to."""
        return make.sub(make.sub(self.length, 1), axes[0]), *axes[1 + len(self.outer.prefix) :]

    def _adjoint(self, state: Tensor, tensor: Tensor) -> Adjoint:
        axes = self.outer.stages.axes_of(state, axis_names(state, ()))
        back = make.sub(make.sub(self.length, 1), axes[0])
        return Adjoint(axes, E.TensorRead(tensor, (back, *self.outer.prefix, *axes[1:])))

    def _update(self, state: Tensor, axes: tuple[E.Var, ...], loop: Reverse) -> Tensor:
        name, row = f"{state.name}.grad.update", self._turned(axes)
        zero = make.const(0, state.dtype)
        value = collect(self.outer.stages, f"{state.name}.grad.terms", axes, row, loop.scatters(state), zero)
        head = self.heads[state]
        if head is not None:
            first = choose(make.le(make.index(self.margin), axes[0]), head.at(row)) if self.margin else head.at(row)
            value = first if value is zero else plus(first, value)
        return self.outer.stages.pointwise(name, axes, value)

    def _init(self, state: Tensor) -> Tensor:
        axes = self._axes(state, make.index(max(self.margin, 1)))
        head = self.heads[state]
        value = make.const(0, state.dtype) if head is None or self.margin else head.at(self._turned(axes))
        return self.outer.stages.pointwise(f"{state.name}.grad.init", axes, value)
