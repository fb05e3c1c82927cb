"""What can be known only of a whole graph: asked before it is scheduled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..errors import UserError
from ..ir.axis import IterVar
from .body import reused_axis
from .graph import consumers, post_order, scan_body
from .tensor import ComputeOp, Operation, ScanOp, Tensor

Readers = Mapping[Operation, tuple[Operation, ...]]


def check_graph(ends: Iterable[Operation | Tensor]) -> None:
    """Raise UserError unless the graph of `ends` can be computed.

    Refused: a read below 0 that no scan explains, a reduce axis of two stages, an init, update or state of two scans,
    and a stage of a scan's body, or its state, read from outside.
    """
    ends = [end.op if isinstance(end, Tensor) else end for end in ends]
    order = post_order(ends)
    scans = [op for op in order if isinstance(op, ScanOp)]
    readers = consumers(order)
    _check_reduce_axes(order)
    _check_scan_parts(scans)
    for scan in scans:
        _check_scan_body(scan, readers, ends)
    _check_early_reads(order, scans, readers)


def _check_early_reads(order: Sequence[Operation], scans: Sequence[ScanOp], readers: Readers) -> None:
    explained = {op: scan for scan in scans for op in scan.explained}
    for op in order:
        if isinstance(op, ComputeOp) and op.early is not None:
            scan = explained.get(op)
            served = set() if scan is None else {scan, *post_order(scan.update)}
            if scan is None or any(reader not in served for reader in readers[op]):
                raise op.early


def _check_reduce_axes(order: Sequence[Operation]) -> None:
    folds: dict[IterVar, ComputeOp] = {}
    for op in order:
        if isinstance(op, ComputeOp):
            for axis in op.reduce_axis:
                if folds.setdefault(axis, op) is not op:
                    raise reused_axis(axis, folds[axis], op)


def _check_scan_parts(scans: Sequence[ScanOp]) -> None:
    owners: dict[Tensor, ScanOp] = {}
    for scan in scans:
        for role, tensors in (("init", scan.init), ("update", scan.update), ("state", scan.state_placeholder)):
            for tensor in tensors:
                owner = owners.setdefault(tensor, scan)
                if owner is not scan:
                    raise UserError(
                        f"te.scan '{scan.name}': {role} '{tensor.name}' belongs to '{owner.name}' too",
                        because="a scan computes its parts in place",
                        legal=f"another {role} for '{scan.name}'",
                        location=scan.loc,
                    )


def _check_scan_body(scan: ScanOp, readers: Readers, ends: Sequence[Operation]) -> None:
    body = scan_body(scan)
    inside = {scan, *body}
    for op in (*(state.op for state in scan.state_placeholder), *body):
        stray = next((reader for reader in readers.get(op, ()) if reader not in inside), None)
        if stray is not None or op in ends:
            raise UserError(
                f"'{op.name}' is an output" if stray is None else f"'{stray.name}' reads '{op.name}'",
                because=f"'{op.name}' exists only within a step of scan '{scan.name}'",
                legal=f"the scan's output '{scan.output(0).name}', a stage of its own outside of the scan",
                location=(stray or op).loc,
            )
