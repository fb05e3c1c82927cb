"""The element types that users name."""

from __future__ import annotations

from typing import Final

from ..dtype import HANDLE, INDEX, DType
from ..errors import UserError

_PLAIN: Final = {"float": "float32", "int": "int32", "uint": "uint32"}
"""What TE programs mean by a kind alone."""


def dtype_of(asked: str, dtype: object) -> DType:
    """Return the element type of that name; UserError when there is none."""
    try:
        known = DType(_PLAIN.get(dtype, dtype) if isinstance(dtype, str) else dtype)
    except (ValueError, TypeError) as error:
        raise UserError(
            f"{asked}: dtype {dtype!r}",
            because="no element type has that name",
            legal="bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, vectors: float32x4",
        ) from error
    if known.element is INDEX:
        raise UserError(
            f"{asked}: dtype 'index'", because="it is the type of loops in lowered programs", legal="int32, int64"
        )
    if known.element is HANDLE:
        raise UserError(f"{asked}: dtype 'handle'", because="it is the type of addresses", legal="uint64, float32, ...")
    return known
