"""Tensors that the caller gives."""

from __future__ import annotations

from typing import Any

from ..dtype import FLOAT32
from ..ir.dtype_name import dtype_of
from ..location import caller
from .shape import name_of, shape_of
from .tag import tag_of
from .tensor import PlaceholderOp, Tensor


def placeholder(shape: Any, dtype: str | None = None, name: str = "placeholder") -> Tensor:
    """Return an input tensor.

    shape   extents: an integer or a te.var, or a tuple of them; () for a tensor of one element
    dtype   its element type, float32 when none is given
    """
    asked = f"te.placeholder '{name}'"
    kind = FLOAT32 if dtype is None else dtype_of(asked, dtype)
    results = [(shape_of(asked, shape), kind)]
    return PlaceholderOp(name_of("te.placeholder", name), tag_of(""), None, caller(), results).output(0)
