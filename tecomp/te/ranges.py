"""Reads outside a tensor and divisions by zero, found when a compute is declared.

A fault is reported only with a proof: values of the axes at which the program would do it, or for symbolic extents a
difference that is never negative. What depends on data, or on sizes that are not tied to one another, passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..arith.interval import interval
from ..errors import UserError
from ..ir import expr as E
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.visit import walk
from .element import element_text
from .grid import Array, Grid, Spans, evaluate, grid
from .linear import Linear, linear
from .reads import Access, Guards, accesses
from .shape import plain
from .tensor import ComputeOp, domain

LATER = 1 << 20
"""An index below 0 that this many steps of one axis make positive may belong to a scan's update."""


class Fault(NamedTuple):
    """What is wrong; `early` says that it would be right at later values of one axis of the compute."""

    error: UserError
    early: bool = False


def check_accesses(op: ComputeOp) -> None:
    """Raise UserError for a read out of range or a division by zero.

    A read that is wrong only at the first values of an axis is kept in `op.early`: in a scan's update that axis may be
    the time, which begins at step k; that is known when the scan is declared.
    """
    for fault in faults(op, {}):
        if not fault.early:
            raise fault.error
        op.early = op.early or fault.error


def faults(op: ComputeOp, spans: Spans) -> Iterator[Fault]:
    """Yield what is wrong in `op` when the axes of `spans` take those values only; nothing if it computes nothing."""
    if any(_is_empty(axis) for axis in (*op.axis, *op.reduce_axis)):
        return
    for expr in op.expressions():
        for access in accesses(expr):
            if isinstance(access.node, E.TensorRead):
                yield from _read_faults(op, access.node, access.guards, spans)
            else:
                yield from _division_faults(op, access, spans)


def _is_empty(axis: IterVar) -> bool:
    extent = domain(axis).extent
    return isinstance(extent, E.Const) and extent.value == 0


def _read_faults(op: ComputeOp, read: E.TensorRead, guards: Guards, spans: Spans) -> Iterator[Fault]:
    for dim, (index, extent) in enumerate(zip(read.indices, read.tensor.shape, strict=True)):
        if _is_whole_axis(index, extent) or _is_inside(index, extent):
            continue
        fault = _outside_somewhere(op, read, dim, guards, spans)
        if fault is None and not guards:
            fault = _outside_at_the_end(op, read, dim)
        if fault is not None:
            yield fault
            return


def _is_whole_axis(index: Expr, extent: Expr) -> bool:
    """Answer at a glance for A[i], where i runs over all of A."""
    if not isinstance(index, E.Var) or index.extent is not extent:
        return False
    return isinstance(index.min, E.Const) and index.min.value == 0


def _is_inside(index: Expr, extent: Expr) -> bool:
    low, high = interval(index)
    most = interval(extent).lo
    return low is not None and high is not None and most is not None and low >= 0 and high < most


def _outside_somewhere(op: ComputeOp, read: E.TensorRead, dim: int, guards: Guards, spans: Spans) -> Fault | None:
    index = read.indices[dim]
    found = _witness(index, read.tensor.shape[dim], guards, spans)
    if found is None:
        return None
    reach, at, value = found
    return Fault(_outside(op, read, dim, reach), early=value < 0 and _rises(op, index, at, spans))


def reach_outside(index: Expr, extent: Expr, guards: Guards) -> str:
    """Say how far an index reaches that leaves [0, extent) at some values of its loops; nothing where none is known.

    Without guards also where the greatest value of a symbolic index is never below a symbolic extent.
    """
    if _is_whole_axis(index, extent) or _is_inside(index, extent):
        return ""
    found = _witness(index, extent, guards, {})
    if found is not None:
        return found[0]
    return "" if guards else _reach_of_the_end(index, extent)


def _witness(index: Expr, extent: Expr, guards: Guards, spans: Spans) -> tuple[str, dict[E.Var, int], int] | None:
    """Look for values of the axes at which the index is below 0, or not below an extent that is known.

    Return how far it reaches in words, the first such values, and the index there.
    """
    found = _evaluated(index, guards, spans)
    if found is None:
        return None
    points, values, held = found
    beyond = values >= int(extent.value) if isinstance(extent, E.Const) else np.array(False)
    wrong = held & ((values < 0) | beyond)
    if not wrong.any():
        return None
    first = np.argwhere(wrong)[0]
    at, value = points.point(first), int(values[tuple(first)])
    reach = f"is {value}{_where(at, index)}"
    if at and all(_is_bounded(var, spans) for var in at):
        reach = f"lies in [{values[held].min()}, {values[held].max()}] and {reach}"
    return reach, at, value


def _outside_at_the_end(op: ComputeOp, read: E.TensorRead, dim: int) -> Fault | None:
    reach = _reach_of_the_end(read.indices[dim], read.tensor.shape[dim])
    return Fault(_outside(op, read, dim, reach)) if reach else None


def _reach_of_the_end(index: Expr, extent: Expr) -> str:
    """Compare the greatest value of a linear index with a symbolic extent, none of the sizes being 0.

    A[i + 1], i in [0, n), A of n elements: the greatest is n, which is never below n.
    """
    form, length = linear(index), linear(extent)
    if form is None or length is None:
        return ""
    greatest, sizes = Linear({}, form.constant), set[E.Var]()
    for var, coefficient in form.terms.items():
        ends = _ends(var)
        if ends is None:
            return ""
        greatest = greatest.plus(ends[coefficient > 0], coefficient)
        if var.extent is not None:
            sizes.update(ends[1].terms)
    excess = greatest.plus(length, -1)
    if any(var not in sizes or coefficient < 0 for var, coefficient in excess.terms.items()):
        return ""
    if excess.constant + sum(excess.terms.values()) < 0:
        return ""
    return f"reaches {_linear_text(greatest)}"


def _ends(var: E.Var) -> tuple[Linear, Linear] | None:
    """Return the least and the greatest value of an axis, of a size itself; None where they are no sums of sizes."""
    if var.extent is None or var.min is None:
        return Linear({var: 1}), Linear({var: 1})
    first, extent = linear(var.min), linear(var.extent)
    if first is None or extent is None or any(part.extent is not None for part in (*first.terms, *extent.terms)):
        return None
    return first, first.plus(extent).plus(Linear({}, 1), -1)


def _division_faults(op: ComputeOp, access: Access, spans: Spans) -> Iterator[Fault]:
    divisor = access.node.operands()[1]
    low, high = interval(divisor)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return
    found = _evaluated(divisor, access.guards, spans)
    if found is None:
        return
    points, values, held = found
    wrong = held & (values == 0)
    if wrong.any():
        at = points.point(np.argwhere(wrong)[0])
        value = "" if isinstance(divisor, E.Var) else _where(at, divisor)
        yield Fault(
            UserError(
                f"division by zero in stage '{op.name}': divisor {divisor!r} takes value 0{value}",
                because=f"it divides in {access.node!r}",
                legal="a divisor that is never 0, or te.if_then_else(divisor != 0, ..., otherwise)",
                location=op.loc,
            )
        )


def _evaluated(expr: Expr, guards: Guards, spans: Spans) -> tuple[Grid, Array, Array] | None:
    """Return points, the value of `expr` at each, and which of them exist; None where data or a size decides."""
    points = grid([expr], guards, spans)
    if points is None:
        return None
    values, held = evaluate(expr, points.values), points.holds()
    if values is None or held is None:
        return None
    return points, np.broadcast_to(values, points.shape), held


def _is_bounded(var: E.Var, spans: Spans) -> bool:
    """Answer whether the grid goes to the end of the axis: not where a size is its extent."""
    if var in spans:
        return spans[var][1] is not None
    ends = () if var.extent is None else walk(var.extent)
    return not any(isinstance(node, E.Var) and node.extent is None for node in ends)


def _rises(op: ComputeOp, index: Expr, at: Mapping[E.Var, int], spans: Spans) -> bool:
    """Answer whether the index is 0 or more at a later value of one axis of unknown span, the others as they are."""
    for axis in op.axis:
        if axis.var in at and axis.var not in spans:
            moved = evaluate(index, {var: np.array(value + LATER * (var is axis.var)) for var, value in at.items()})
            if moved is not None and moved >= 0:
                return True
    return False


def _outside(op: ComputeOp, read: E.TensorRead, dim: int, reach: str) -> UserError:
    tensor = read.tensor
    extent = tensor.shape[dim]
    form = linear(extent)
    last = f"{plain(extent)} - 1" if form is None else _linear_text(form.plus(Linear({}, 1), -1))
    reads = f"0 to {last}, or te.if_then_else(condition, {element_text(read)}, otherwise)"
    return UserError(
        f"te.compute '{op.name}': {element_text(read)} reads outside '{tensor.name}'",
        because=f"index {dim}, {plain(read.indices[dim])}, {reach}; '{tensor.name}' has extent {plain(extent)} there",
        legal="no read: it is empty" if last == "-1" else reads,
        location=op.loc,
    )


def _where(at: Mapping[E.Var, int], index: Expr) -> str:
    """Return the values of the axes that an index uses: ' at i = 0, k = 3'."""
    named = [f"{node.name} = {at[node]}" for node in walk(index) if isinstance(node, E.Var) and node in at]
    return f" at {', '.join(named)}" if named else ""


def _linear_text(form: Linear) -> str:
    parts = [var.name if coefficient == 1 else f"{coefficient} * {var.name}" for var, coefficient in form.terms.items()]
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts).replace("+ -", "- ")
