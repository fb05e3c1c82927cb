"""Values of all lanes at once: a NumPy scalar where every thread has the same, else one row a thread.

A scalar type is a number or an array (threads,); a vector type an array (threads or 1, lanes). Arithmetic is NumPy's in
the declared type, which wraps and rounds as the device does; what NumPy does otherwise is here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..dtype import DType

Array = np.ndarray[Any, Any]
Mask = Any
"""Which threads take part: None is all, False is none, else an array (threads,), or (threads, lanes) in a vector."""


def column(value: Any) -> Any:
    """Return the value of each thread as a row of one lane."""
    return value[:, None] if np.ndim(value) == 1 else np.reshape(value, (1, 1))


def ramp(base: Any, stride: Any, lanes: int) -> Array:
    """base, base + stride, ..."""
    steps = np.arange(lanes, dtype=np.asarray(base).dtype)[None, :]
    return column(base) + steps * column(stride)


def broadcast(value: Any, lanes: int) -> Array:
    """Return a vector that holds the value in every lane."""
    rows = column(value)
    return np.broadcast_to(rows, (rows.shape[0], lanes))


def pick(condition: Any, yes: Any, no: Any) -> Any:
    """Return yes where the condition holds, else no; a condition of threads chooses whole vectors."""
    if isinstance(condition, np.bool_):
        return yes if condition else no
    if condition.ndim == 1 and max(np.ndim(yes), np.ndim(no)) == 2:
        condition = condition[:, None]
    return np.where(condition, yes, no)


def both(mask: Mask, condition: Any) -> Mask:
    """Return the threads of `mask` where the condition holds."""
    if isinstance(condition, np.bool_):
        return mask if condition else False
    if mask is None:
        found = condition
    elif np.ndim(condition) == 2 and mask.ndim == 1:
        found = mask[:, None] & condition
    elif np.ndim(condition) == 1 and mask.ndim == 2:
        found = mask & condition[:, None]
    else:
        found = mask & condition
    if found.all():
        return None
    return found if found.any() else False


def truncdiv(a: Any, b: Any) -> Any:
    """C's division of integers."""
    return (a - np.fmod(a, b)) // b


def cast(old: DType, new: DType) -> Callable[[Any], Any]:
    """Return what converts values of one element type to another as the device does."""
    old, new = old.element, new.element
    if new is old:
        return _same
    if new.is_bool:
        return lambda value: value != 0
    if old.is_float and new.is_integer:
        return functools.partial(_to_integer, new)
    if new == "bfloat16" and old in _EXACT_IN_DOUBLE:
        return _bfloat16
    if new == "bfloat16" and old in ("int64", "uint64"):
        return _bfloat16_of_wide
    if new == "float16" and old.is_integer:
        return lambda value: np.asarray(value).astype(np.float32).astype(np.float16)[()]
    kind = new.numpy
    return lambda value: value.astype(kind)


_EXACT_IN_DOUBLE: Final = ("float64", "int32", "uint32")


def _same(value: Any) -> Any:
    return value


def _to_integer(new: DType, value: Any) -> Any:
    """Truncate; what an int32 or int64 cannot hold is its nearest, what narrower ones cannot wraps; NaN is 0."""
    wide = "int32" if new.bits < 32 or new == "int32" else "uint64" if new == "uint64" else "int64"
    low, high = (float(bound) for bound in DType(wide).limits())
    exact = np.nan_to_num(np.trunc(np.asarray(value).astype(np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    inside = np.where((exact >= low) & (exact < high), exact, 0).astype(wide)
    most, least = (np.array(bound, wide) for bound in reversed(DType(wide).limits()))
    result = np.where(exact >= high, most, np.where(exact < low, least, inside))
    return result.astype(new.numpy)[()]


def _bfloat16(value: Any) -> Any:
    """Round a double once: through the float toward zero whose last bit says whether something was lost."""
    exact = np.asarray(value).astype(np.float64)
    near = exact.astype(np.float32)
    cut = np.where(np.abs(near.astype(np.float64)) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
    lost = (cut.astype(np.float64) != exact) & np.isfinite(exact)
    odd = np.where(lost, cut.view(np.uint32) | 1, cut.view(np.uint32)).astype(np.uint32).view(np.float32)
    return odd.astype(DType("bfloat16").numpy)[()]


def _bfloat16_of_wide(value: Any) -> Any:
    """Round a 64-bit integer once: what lies below its upper bits decides only whether something was lost."""
    whole = np.asarray(value)
    low = whole & whole.dtype.type(0xFFF)
    large = np.abs(whole.astype(np.float64)) >= 2.0**52
    sticky = (whole - low) | (low != 0).astype(whole.dtype) * whole.dtype.type(0x800)
    return _bfloat16(np.where(large, sticky, whole).astype(np.float64))
