"""What may be a shape or a name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtype import INT32, INT64
from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.expr import Const, Reduce, TensorRead
from ..ir.node import Expr
from ..ir.visit import walk


def name_of(asked: str, name: object) -> str:
    """Return the name; UserError when it is no text."""
    if isinstance(name, str) and name:
        return name
    raise UserTypeError(
        f"{asked}: name {name!r}", because="a name is a text of at least one character", legal='name="A"'
    )


def shape_of(asked: str, shape: Any) -> tuple[Expr, ...]:
    """Return the extents as integer expressions; one extent may stand for a tuple of one.

    UserError for a fraction, a negative constant, a value that only the data gives.
    """
    entries = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(_extent(asked, position, entry) for position, entry in enumerate(entries))


def _extent(asked: str, position: int, entry: Any) -> Expr:
    where = f"{asked}: extent {position} of the shape is {entry!r}"
    if isinstance(entry, (bool, float, str, np.bool_, np.floating)) or entry is None:
        raise UserTypeError(where, because=f"it is a {type(entry).__name__}", legal="an integer, a te.var")
    if isinstance(entry, int):
        entry = make.const(entry, INT32 if -(2**31) <= entry < 2**31 else INT64)
    extent = make.convert(entry)
    if extent.dtype.kind not in ("int", "uint") or extent.dtype.lanes != 1:
        raise UserTypeError(where, because=f"it is {extent.dtype}", legal="an integer, a te.var of an integer type")
    if isinstance(extent, Const) and extent.value < 0:
        raise UserError(where, because="it is negative", legal="0 or more")
    if any(isinstance(node, (TensorRead, Reduce)) for node in walk(extent)):
        raise UserError(
            where, because="it depends on the elements of a tensor", legal="a te.var, solved from the arrays' shapes"
        )
    return extent


def plain(value: Expr) -> str:
    """Return an extent or index for a message: a number without its type."""
    return str(value.value) if isinstance(value, Const) else repr(value)
