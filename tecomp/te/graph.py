"""The graph of operations: an edge from what makes a tensor to what reads it. Nothing here recurs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .tensor import Operation, ScanOp, Tensor

Reads = Callable[[Operation], Iterable[Tensor]]


def _inputs(op: Operation) -> tuple[Tensor, ...]:
    return op.input_tensors


def post_order(
    ends: Iterable[Operation | Tensor], stop: Iterable[Operation] = (), reads: Reads = _inputs
) -> tuple[Operation, ...]:
    """Return `ends` and all they read, directly or not, each once and after what it reads.

    `stop` and what only they read is left out. `reads` says what an operation reads, where that is not its inputs.
    """
    order: dict[Operation, None] = {}
    halted = set(stop)
    stack = [end.op if isinstance(end, Tensor) else end for end in reversed(list(ends))]
    opened: set[Operation] = set()
    while stack:
        op = stack[-1]
        if op in order or op in halted:
            stack.pop()
        elif op in opened:
            stack.pop()
            order[op] = None
        else:
            opened.add(op)
            stack += [tensor.op for tensor in reads(op)][::-1]
    return tuple(order)


def consumers(ops: Sequence[Operation]) -> dict[Operation, tuple[Operation, ...]]:
    """Return for each of `ops` those of them that read it, in the order of `ops`."""
    found: dict[Operation, dict[Operation, None]] = {op: {} for op in ops}
    for op in ops:
        for tensor in op.input_tensors:
            if tensor.op in found:
                found[tensor.op][op] = None
    return {op: tuple(readers) for op, readers in found.items()}


def scan_body(scan: ScanOp) -> tuple[Operation, ...]:
    """Return the operations that a scan computes in each step, each after what it reads.

    They stand between the states or the listed inputs and the updates, and depend on one of those; the updates always
    belong to them. Everything else that they read is computed before the scan.
    """
    inside = {tensor for tensor in (*scan.state_placeholder, *scan.inputs)}
    updates = {tensor.op for tensor in scan.update}
    boundary = {tensor.op for tensor in inside} - updates
    body: dict[Operation, None] = {}
    for op in post_order(scan.update, stop=boundary):
        if op in updates or any(tensor in inside or tensor.op in body for tensor in op.input_tensors):
            body[op] = None
    return tuple(body)


def scan_reads(scan: ScanOp) -> tuple[Tensor, ...]:
    """Return what a scan as a whole reads: its inits, and what its steps read that is computed outside of them."""
    body = scan_body(scan)
    inside = {*body, *(state.op for state in scan.state_placeholder)}
    read = (tensor for op in body for tensor in op.input_tensors if tensor.op not in inside)
    return tuple(dict.fromkeys((*scan.init, *read)))
