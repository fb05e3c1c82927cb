"""Tensors computed row by row, each row from the rows before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.axis import AxisKind, IterVar, Range
from ..ir.expr import Const
from ..ir.node import Expr
from ..location import caller
from .axis import make_axis
from .graph import post_order
from .linear import same_number
from .recurrence import check_recurrence
from .shape import name_of, plain
from .tag import tag_of
from .tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor

Tensors = Tensor | Sequence[Tensor]


def scan(
    init: Tensors,
    update: Tensors,
    state_placeholder: Tensors,
    inputs: Sequence[Tensor] | None = None,
    name: str = "scan",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Return the state over all steps: a tensor, or a list of them for several states.

    The first dimension of each is time, T steps, and the other dimensions are the state's own.

    init               the first k rows, k >= 1: a compute of shape (k, ...)
    update             a compute of shape (T, ...), whose row t reads the state at t - 1 to t - k
    state_placeholder  stands for the state in the update: a placeholder of shape (T, ...)
    inputs             tensors from which on stages that depend on them are computed step by step, inside the scan

        state = te.placeholder((m, n))
        total = te.scan(te.compute((1, n), lambda _, i: X[0, i]),
                        te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i]), state, inputs=[X])
    """
    asked = f"te.scan '{name_of('te.scan', name)}'"
    parts = [
        _tensors(asked, role, given)
        for role, given in (("init", init), ("update", update), ("state", state_placeholder))
    ]
    inits, updates, states = parts
    if not states or len({len(part) for part in parts}) > 1:
        raise UserError(
            f"{asked}: {len(inits)} init, {len(updates)} update, {len(states)} state placeholder",
            because="each state has one of each",
            legal="three tensors, or three lists of one length",
        )
    for role, tensors in zip(("init", "update", "state placeholder"), parts, strict=True):
        _check_distinct(asked, role, tensors)
    for trio in zip(*parts, strict=True):
        _check_operations(asked, *trio)
        _check_types(asked, *trio)
    depth, time = _times(asked, inits, states)
    op = ScanOp(
        name,
        make_axis(f"{name}.idx", Range(depth, make.sub(time, depth)), AxisKind.ORDERED),
        _spatial_axes(name, states),
        inits, updates, states, _tensors(asked, "inputs", inputs or ()),
        tag_of(tag), attrs, caller(),
    )  # fmt: skip
    _check_inits(asked, op)
    check_recurrence(op)
    return op.output(0) if len(states) == 1 else list(op.outputs)


def _tensors(asked: str, role: str, given: Any) -> tuple[Tensor, ...]:
    tensors = (given,) if isinstance(given, Tensor) else given
    if not isinstance(tensors, (tuple, list)) or not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise UserTypeError(
            f"{asked}: {role} is {given!r}",
            because=f"it is a {type(given).__name__}",
            legal="a tensor, a list of tensors",
        )
    return tuple(tensors)


def _check_distinct(asked: str, role: str, tensors: tuple[Tensor, ...]) -> None:
    for position, tensor in enumerate(tensors):
        if tensor in tensors[:position]:
            raise UserError(
                f"{asked}: {role} '{tensor.name}' is given twice",
                because="each state has its own",
                legal="different tensors",
            )


def _check_operations(asked: str, init: Tensor, update: Tensor, state: Tensor) -> None:
    if not isinstance(state.op, PlaceholderOp):
        raise UserError(
            f"{asked}: '{state.name}' as state placeholder",
            because=f"it comes from a {type(state.op).__name__}",
            legal="te.placeholder(update.shape, update.dtype)",
        )
    for role, tensor in (("init", init), ("update", update)):
        if not isinstance(tensor.op, ComputeOp):
            raise UserError(
                f"{asked}: '{tensor.name}' as {role}",
                because=f"it comes from a {type(tensor.op).__name__}, and the {role} is computed in place",
                legal=f"te.compute({tensor.name}.shape, lambda *i: {tensor.name}(*i))",
            )


def _check_types(asked: str, init: Tensor, update: Tensor, state: Tensor) -> None:
    """Check that the three agree in dtype, rank, and extents other than time."""
    for role, tensor in (("init", init), ("update", update)):
        names = f"{asked}: {role} '{tensor.name}' for state '{state.name}'"
        if tensor.dtype is not state.dtype:
            raise UserError(
                names,
                because=f"one is {tensor.dtype}, the other {state.dtype}",
                legal=f"te.placeholder(..., dtype='{tensor.dtype}'), .astype",
            )
        if tensor.ndim != state.ndim or not state.ndim:
            raise UserError(
                names,
                because=f"one has {tensor.ndim} dimensions, the other {state.ndim}",
                legal="the same number, time the first of them",
            )
        for dim in range(1 if role == "init" else 0, state.ndim):
            _check_extent(names, dim, tensor.shape[dim], state.shape[dim])


def _check_extent(names: str, dim: int, one: Expr, other: Expr) -> None:
    if not same_number(one, other):
        what = "time" if dim == 0 else f"dimension {dim}"
        raise UserError(
            names,
            because=f"the extent of {what} is {plain(one)} in one, {plain(other)} in the other",
            legal="equal extents",
        )


def _times(asked: str, inits: tuple[Tensor, ...], states: tuple[Tensor, ...]) -> tuple[Const, Expr]:
    """Return k and T: how many rows the init gives, how many there are."""
    depth, time = inits[0].shape[0], states[0].shape[0]
    for init, state in zip(inits, states, strict=True):
        if not same_number(init.shape[0], depth):
            raise UserError(
                f"{asked}: inits '{inits[0].name}' and '{init.name}'",
                because=f"they give {plain(depth)} and {plain(init.shape[0])} steps",
                legal="as many steps for each state",
            )
        if not same_number(state.shape[0], time):
            raise UserError(
                f"{asked}: states '{states[0].name}' and '{state.name}'",
                because=f"they have {plain(time)} and {plain(state.shape[0])} steps",
                legal="as many steps for each state",
            )
    if not isinstance(depth, Const):
        raise UserError(
            f"{asked}: init of {depth!r} steps",
            because="how far back the update may read must be known",
            legal="a constant, 1 or more",
        )
    if depth.value < 1:
        raise UserError(
            f"{asked}: init of {depth.value} steps", because="the first update needs a row to read", legal="1 or more"
        )
    if isinstance(time, Const) and time.value < depth.value:
        raise UserError(
            f"{asked}: init of {depth.value} steps for a state of {time.value}",
            because="it does not fit",
            legal=f"1 to {time.value} steps",
        )
    return make.const(depth, time.dtype), time


def _spatial_axes(name: str, states: tuple[Tensor, ...]) -> tuple[IterVar, ...]:
    return tuple(
        make_axis(f"{name}.out{number}.i{dim}", Range(make.const(0, extent.dtype), extent), AxisKind.OPAQUE)
        for number, state in enumerate(states)
        for dim, extent in enumerate(state.shape)
        if dim > 0
    )


def _check_inits(asked: str, op: ScanOp) -> None:
    """Refuse an init that reads the state or an update, which exist only later."""
    later: set[Operation] = {tensor.op for tensor in (*op.state_placeholder, *op.update)}
    for init in op.init:
        found = next((reached for reached in post_order([init]) if reached in later), None)
        if found is not None:
            raise UserError(
                f"{asked}: init '{init.name}' reads '{found.name}'",
                because="the init comes before every step",
                legal="inputs of the scan",
            )
