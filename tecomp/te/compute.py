"""Tensors by a formula for each element."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..dtype import INT32, INT64
from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.axis import AxisKind, Range
from ..ir.node import Expr
from ..location import caller
from .axis import make_axis
from .body import body_of, claim_reduce_axes
from .ranges import check_accesses
from .shape import name_of, plain, shape_of
from .tag import tag_of
from .tensor import ComputeOp
from .tensor_compute import Note, tensor_compute
from .tensor_intrin import TensorIntrinCall


def compute(
    shape: Any,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """Return the tensor, or the tuple of tensors, of `shape` whose elements `fcompute` gives.

    fcompute       gets one axis for each dimension and returns an expression, or a tuple of them for several outputs;
                   a reduction must be the whole of it. Axes are named by its arguments. The call of a tensor
                   intrinsic must be the whole of it too, and computes the dimensions that no argument names
    varargs_names  names the axes that a `*args` argument takes

        C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    """
    asked = f"te.compute '{name_of('te.compute', name)}'"
    extents = shape_of(asked, shape)
    for extent in extents:
        _check_axis_type(asked, extent)
    names = _axis_names(asked, fcompute, len(extents), varargs_names)
    axes = tuple(
        make_axis(axis, Range(make.const(0, extent.dtype), extent), AxisKind.DATA)
        for axis, extent in zip(names, extents, strict=False)
    )
    result = fcompute(*(axis.var for axis in axes))
    if isinstance(result, TensorIntrinCall):
        op = tensor_compute(asked, result, axes, extents[len(axes) :], Note(name, tag_of(tag), attrs, caller()))
    else:
        _check_all_named(asked, len(axes), len(extents))
        op = ComputeOp(name, axes, body_of(asked, result, axes), tag_of(tag), attrs, caller())
    claim_reduce_axes(op)
    check_accesses(op)
    return op.outputs if len(op.outputs) > 1 else op.output(0)


def _check_axis_type(asked: str, extent: Expr) -> None:
    if extent.dtype not in (INT32, INT64):
        raise UserTypeError(
            f"{asked}: extent {plain(extent)}", because=f"it is {extent.dtype}, which no axis is", legal="int32, int64"
        )


def _axis_names(asked: str, fcompute: Callable[..., Any], ndim: int, varargs_names: Sequence[str] | None) -> list[str]:
    """Return the names of the axes that the function takes; UserError where these are more than the dimensions."""
    if not callable(fcompute):
        raise UserTypeError(
            f"{asked}: {fcompute!r} as the formula", because="it is no function", legal="lambda i, j: A[i, j] + 1"
        )
    parameters = inspect.signature(fcompute).parameters.values()
    variable = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
    named = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    needed = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if needed:
        raise UserTypeError(
            f"{asked}: the formula needs {needed[0]}= by name", because="axes are given by position", legal=_legal(ndim)
        )
    if len(named) > ndim:
        raise _miscounted(asked, len(named), ndim, variable)
    count = ndim - len(named) if variable else 0
    if varargs_names is not None and len(varargs_names) != count:
        raise UserError(
            f"{asked}: varargs_names={list(varargs_names)}",
            because=f"{'*' + variable[0] if variable else 'the formula'} takes {count} of the {ndim} dimensions",
            legal=f"{count} name{'' if count == 1 else 's'}",
        )
    taken = list(varargs_names) if varargs_names is not None else [f"{variable[0]}{at}" for at in range(count)]
    return [_readable(name, dim) for dim, name in enumerate([*named, *taken])]


def _check_all_named(asked: str, named: int, ndim: int) -> None:
    """Raise UserTypeError for a formula of fewer arguments than dimensions."""
    if named < ndim:
        raise _miscounted(asked, named, ndim, [])


def _miscounted(asked: str, named: int, ndim: int, variable: Sequence[str]) -> UserTypeError:
    return UserTypeError(
        f"{asked}: a formula of {_arguments(named)} for {ndim} dimension{'' if ndim == 1 else 's'}",
        because="it takes one argument for each dimension"
        + (f", and *{variable[0]} takes the others" if variable else ""),
        legal=_legal(ndim),
    )


def _readable(name: str, dim: int) -> str:
    """Return the name of an axis; an argument `_` names nothing."""
    return name if name.strip("_") else f"ax{dim}"


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _legal(ndim: int) -> str:
    names = ", ".join(f"i{dim}" for dim in range(ndim))
    return f"lambda {names}: ..., lambda *i: ..." if ndim else "lambda: ..., lambda *i: ..."
