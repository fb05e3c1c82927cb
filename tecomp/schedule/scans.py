"""Which stages a scan computes: its init before the time loop, its body in each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..errors import UserError
from ..te.graph import scan_body
from ..te.tensor import Operation, ScanOp


class ScanGroup(NamedTuple):
    """A scan with the stages around it: `init` computes its first steps, `body` is computed at each later one."""

    scan: ScanOp
    init: tuple[Operation, ...]
    body: tuple[Operation, ...]


class Membership(NamedTuple):
    """What scans make of the stages around them."""

    groups: tuple[ScanGroup, ...]
    computed_by: Mapping[Operation, ScanOp]
    """The scan at each of whose steps a stage is computed; of nested ones the innermost."""
    written_into: Mapping[Operation, ScanOp]
    """The scan of which a stage is an init or an update."""


def membership(
    ops: Sequence[Operation], readers: Mapping[Operation, Sequence[Operation]], outputs: Sequence[Operation]
) -> Membership:
    """Return which of `ops` belong to which scan; UserError where one belongs to two, or is needed outside its own."""
    groups = tuple(_group(op) for op in ops if isinstance(op, ScanOp))
    computed_by: dict[Operation, ScanOp] = {}
    written_into: dict[Operation, ScanOp] = {}
    for scan, init, body in groups:
        for op in body:
            computed_by.setdefault(op, scan)
        for op in dict.fromkeys((*init, *(tensor.op for tensor in scan.update))):
            other = written_into.setdefault(op, scan)
            if other is not scan:
                raise _two_scans(op, other, scan)
    bodies = {scan: {scan, *body} for scan, _, body in groups}
    for op, scan in computed_by.items():
        outside = [reader for reader in readers[op] if reader not in bodies[scan]]
        if outside or op in outputs:
            raise _needed_outside(op, scan, outside)
    return Membership(groups, computed_by, written_into)


def _group(scan: ScanOp) -> ScanGroup:
    init = tuple(dict.fromkeys(tensor.op for tensor in scan.init))
    return ScanGroup(scan, init, scan_body(scan))


def _two_scans(op: Operation, one: ScanOp, other: ScanOp) -> UserError:
    return UserError(
        f"te.create_schedule: '{op.name}' belongs to two scans, '{one.name}' and '{other.name}'",
        because="it computes steps of a scan's result, in that result's memory",
        legal="an init and an update of its own for each scan",
    )


def _needed_outside(op: Operation, scan: ScanOp, readers: Sequence[Operation]) -> UserError:
    who = f"'{readers[0].name}' reads it" if readers else "it is an output"
    return UserError(
        f"te.create_schedule: '{op.name}' is needed outside scan '{scan.name}'",
        because=f"{who}, and only one step of it exists at a time",
        legal=f"the result of the scan, or a state of '{scan.name}' that keeps it",
    )
