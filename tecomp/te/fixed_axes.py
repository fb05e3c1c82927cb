"""The axes of a scan's states along which steps are independent: element i of a step comes from elements i only.

update[t, i] = state[t - 1, i] + X[t, i]        i is fixed
update[t, i] = state[t - 1, i + 1]              i is not
"""

from __future__ import annotations

from ..ir.axis import IterVar
from ..ir.expr import TensorRead
from ..ir.visit import walk
from .graph import scan_body
from .tensor import ComputeOp, ScanOp, Tensor

Dimension = tuple[Tensor, int]


def fixed_axes(scan: ScanOp) -> set[IterVar]:
    """Return those of `scan.spatial_axis_` that are fixed.

    Which axes of states reach a dimension of a tensor is followed through the step. A read by another index than an
    axis itself, two axes that meet in one dimension, and an update that another axis reaches make them not fixed.
    """
    names = _dimensions(scan)
    reach: dict[Dimension, set[IterVar]] = {place: {axis} for place, axis in names.items()}
    failed: set[IterVar] = set()
    for op in scan_body(scan):
        if isinstance(op, ComputeOp):
            _through(op, reach, failed)
    for state, update in zip(scan.state_placeholder, scan.update, strict=True):
        for dim in range(1, update.ndim):
            reached = reach.get((update, dim), set())
            if reached - {names[state, dim]}:
                failed |= reached | {names[state, dim]}
    return set(names.values()) - failed


def _dimensions(scan: ScanOp) -> dict[Dimension, IterVar]:
    places = [(state, dim) for state in scan.state_placeholder for dim in range(1, state.ndim)]
    return dict(zip(places, scan.spatial_axis_, strict=True))


def _through(op: ComputeOp, reach: dict[Dimension, set[IterVar]], failed: set[IterVar]) -> None:
    """Follow the axes that reach what `op` reads to the dimensions of what it makes."""
    position = {axis.var: dim for dim, axis in enumerate(op.axis)}
    found: dict[int, set[IterVar]] = {}
    for read in (node for part in op.body for node in walk(part) if isinstance(node, TensorRead)):
        for dim, index in enumerate(read.indices):
            known = reach.get((read.tensor, dim), set())
            at = position.get(index)  # pyright: ignore[reportArgumentType] (an expression that is no axis is no key)
            if known and at is None:
                failed |= known
            elif known and at is not None:
                found.setdefault(at, set()).update(known)
    for dim, axes in found.items():
        if len(axes) > 1:
            failed |= axes
        for output in op.outputs:
            reach[output, dim] = axes
