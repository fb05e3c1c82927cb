"""Which steps of its state a scan reads.

Each axis of a stage in the scan is followed from the updates, whose first axis is the step t, through the indices with
which stages read each other:

    update(t, i) = s1[t, i]         axis 0 of s1 is t + 0
    s1(u, j)     = state[u - 1, j]  reads the state at t - 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import UserError
from ..ir.expr import Const, TensorRead, Var
from ..ir.node import Expr
from ..ir.visit import walk
from .element import element_text
from .extern_op import ExternOp
from .graph import post_order, scan_body
from .linear import linear
from .ranges import faults
from .tensor import ComputeOp, Operation, ScanOp, Tensor

Steps = frozenset[int | None]
"""What an axis is: the step t plus each of these numbers, or (None) something that is no step."""
NO_STEP: Steps = frozenset([None])


def check_recurrence(scan: ScanOp) -> None:
    """Raise UserError where the state is read at a step that is not computed yet, or deeper than `init` goes.

    The rows below 0 that a stage seems to read are looked at again, now that t is known to begin at k.
    """
    order, body = _above_states(scan), set(scan_body(scan))
    _check_opaque(scan, body)
    follow = followed(scan)
    for op in order:
        if isinstance(op, ComputeOp) and op.early is not None:
            _explain(scan, op, follow, order, op in body)
    early = (op for op in order if isinstance(op, ComputeOp) and op.early is not None)
    scan.settled = all(op in scan.explained for op in early)


def _check_opaque(scan: ScanOp, body: Iterable[Operation]) -> None:
    """Raise UserError for an opaque operation in the body of a scan."""
    found = next((op for op in body if isinstance(op, ExternOp)), None)
    if found is not None:
        raise UserError(
            f"te.scan '{scan.name}': '{found.name}' is computed in each step",
            because="it is an opaque operation, which reads all of its inputs, and later steps do not exist yet",
            legal=f"te.compute; or what '{found.name}' reads left out of the scan's inputs",
        )


def followed(scan: ScanOp) -> Follow:
    """Return what the axes of the stages of a scan are; UserError for a read of a wrong step."""
    follow = Follow(scan)
    for op in reversed(_above_states(scan)):
        if isinstance(op, ComputeOp):
            follow.compute(op)
        elif isinstance(op, ScanOp):
            follow.inner_scan(op)
    return follow


def _above_states(scan: ScanOp) -> tuple[Operation, ...]:
    """Return what the updates are computed from, down to the states and to scans that are done before this one.

    Such a scan reads no state of this one, and what it reads is known to be in range.
    """
    states = [state.op for state in scan.state_placeholder]
    needs = set(states)
    done: list[Operation] = []
    for op in post_order(scan.update, stop=states):
        if any(tensor.op in needs for tensor in op.input_tensors):
            needs.add(op)
        elif isinstance(op, ScanOp) and op.settled:
            done.append(op)
    return post_order(scan.update, stop=[*states, *done])


class Follow:
    """What each axis of each stage is; known once all stages that read it are looked at.

    `back` is how many steps back each state is read at most.
    """

    def __init__(self, scan: ScanOp) -> None:
        self.scan = scan
        self.back: dict[Tensor, int] = {}
        self.axes: dict[tuple[Operation, int], Steps] = {(tensor.op, 0): frozenset([0]) for tensor in scan.update}

    def steps(self, op: Operation, dim: int) -> Steps:
        """Return what axis `dim` of `op` is."""
        return self.axes.get((op, dim), NO_STEP)

    def compute(self, op: ComputeOp) -> None:
        """Note what the reads of `op` say of the axes of the stages they read; UserError for a wrong step."""
        for expr in op.expressions():
            for node in walk(expr):
                if isinstance(node, TensorRead):
                    self._read(op, node, [self._index(op, index) for index in node.indices])

    def inner_scan(self, op: ScanOp) -> None:
        """Note that the axes of a scan's init and update, but for its own time, are those of the scan."""
        for tensor in op.input_tensors:
            for dim in range(tensor.ndim):
                self._note(tensor, dim, self.steps(op, dim) if dim else NO_STEP)

    def _note(self, tensor: Tensor, dim: int, steps: Steps) -> None:
        self.axes[tensor.op, dim] = self.axes.get((tensor.op, dim), frozenset()) | steps

    def _index(self, op: ComputeOp, index: Expr) -> Steps:
        form = linear(index)
        if form is None or list(form.terms.values()) != [1]:
            return NO_STEP
        dim = _position(op, next(iter(form.terms)))
        return (
            NO_STEP if dim is None else frozenset(None if s is None else s + form.constant for s in self.steps(op, dim))
        )

    def _read(self, op: ComputeOp, read: TensorRead, steps: Sequence[Steps]) -> None:
        tensor = read.tensor
        if tensor in self.scan.state_placeholder:
            self._check_state(op, read, steps[0])
        elif tensor in self.scan.update:
            self._check_update(op, read, steps[0])
        else:
            for dim, known in enumerate(steps):
                self._note(tensor, dim, known)

    def _check_state(self, op: ComputeOp, read: TensorRead, steps: Steps) -> None:
        depth = self.scan.depth
        wrong = [step for step in steps if step is None or not -depth <= step <= -1]
        if not wrong:
            reach = max((-step for step in steps if step is not None), default=0)
            self.back[read.tensor] = max(reach, self.back.get(read.tensor, 0))
            return
        latest = _latest(wrong)
        if latest is None:
            because = "its first index is not t - 1, t - 2, ... for the step t that is computed"
        elif latest >= 0:
            because = f"that is step {_step(latest)}, which is not computed before step t"
        else:
            because = f"that is step {_step(latest)}, and '{self._init(read.tensor)}' gives the first {depth} only"
        raise self._refusal(op, read, read.tensor, because)

    def _check_update(self, op: ComputeOp, read: TensorRead, steps: Steps) -> None:
        wrong = [step for step in steps if step != 0]
        if wrong:
            latest = _latest(wrong)
            where = "a step that is not t" if latest is None else f"step {_step(latest)}"
            state = self.scan.state_placeholder[self.scan.update.index(read.tensor)]
            raise self._refusal(op, read, state, f"that is {where}, and an update exists at step t only")

    def _init(self, state: Tensor) -> str:
        return self.scan.init[self.scan.state_placeholder.index(state)].name

    def _refusal(self, op: ComputeOp, read: TensorRead, state: Tensor, because: str) -> UserError:
        depth = self.scan.depth
        reach = f"'{state.name}' at t - 1" + ("" if depth == 1 else f" to t - {depth}")
        return UserError(
            f"te.scan '{self.scan.name}': '{op.name}' reads {element_text(read)}",
            because=because,
            legal=[reach, f"'{self._init(state)}' for the first rows", "an init of more steps"],
            location=op.loc,
        )


def _latest(steps: Sequence[int | None]) -> int | None:
    """Return the last of wrong steps, None where one is no step at all."""
    known = [step for step in steps if step is not None]
    return max(known) if len(known) == len(steps) else None


def _step(offset: int) -> str:
    return "t" if offset == 0 else f"t {'+' if offset > 0 else '-'} {abs(offset)}"


def _position(op: ComputeOp, var: Var) -> int | None:
    return next((dim for dim, axis in enumerate(op.axis) if axis.var is var), None)


def _explain(scan: ScanOp, op: ComputeOp, follow: Follow, order: Sequence[Operation], in_body: bool) -> None:
    """Look again at a read below row 0, over the steps at which this scan and those inside it need `op`."""
    spans: dict[Var, tuple[int, int | None]] = {}
    for inner in order:
        if isinstance(inner, ScanOp):
            spans.update(inner.spans.get(op, {}))
    time = scan.output(0).shape[0]
    for dim, axis in enumerate(op.axis):
        known = [step for step in follow.steps(op, dim) if step is not None]
        if len(known) == len(follow.steps(op, dim)):
            last = int(time.value) - 1 + max(known) if isinstance(time, Const) else None
            spans[axis.var] = (scan.depth + min(known), last)
    scan.spans[op] = spans
    fault = next(faults(op, spans), None)
    if fault is None:
        scan.explained.add(op)
    elif in_body and not fault.early:
        raise fault.error
