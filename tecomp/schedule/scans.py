"""Which stages a scan computes: its init before the time loop, its body in each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..te.graph import scan_body
from ..te.tensor import Operation, ScanOp


class ScanGroup(NamedTuple):
    """A scan with the stages around it."""

    scan: ScanOp
    states: tuple[Operation, ...]
    """The placeholders that stand for its result at earlier steps."""
    init: tuple[Operation, ...]
    """What computes its first steps."""
    body: tuple[Operation, ...]
    """What is computed at each later step."""


class Membership(NamedTuple):
    """What scans make of the stages around them."""

    groups: tuple[ScanGroup, ...]
    computed_by: Mapping[Operation, ScanOp]
    """The scan at each of whose steps a stage is computed; of nested ones the innermost."""
    written_into: Mapping[Operation, ScanOp]
    """The scan of which a stage is an init or an update."""


def membership(ops: Sequence[Operation]) -> Membership:
    """Return which of `ops`, each after those it reads, belong to which scan."""
    groups = tuple(_group(op) for op in ops if isinstance(op, ScanOp))
    computed_by: dict[Operation, ScanOp] = {}
    written_into: dict[Operation, ScanOp] = {}
    for scan, _, init, body in groups:
        for op in body:
            computed_by.setdefault(op, scan)
        written_into |= dict.fromkeys([*init, *(tensor.op for tensor in scan.update)], scan)
    return Membership(groups, computed_by, written_into)


def _group(scan: ScanOp) -> ScanGroup:
    states, init = (
        tuple(dict.fromkeys(tensor.op for tensor in tensors)) for tensors in (scan.state_placeholder, scan.init)
    )
    return ScanGroup(scan, states, init, scan_body(scan))
