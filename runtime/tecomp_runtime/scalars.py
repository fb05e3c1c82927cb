"""Scalar arguments, converted to the declared type."""

from __future__ import annotations

import math
from typing import Any, Final

from .errors import ArgumentError

_FLOATS: Final = {
    "float16": (11, -24, 65504.0),
    "bfloat16": (8, -133, (2 - 2.0**-7) * 2.0**127),
    "float32": (24, -149, (2 - 2.0**-23) * 2.0**127),
}
"""Of each type: significant bits, the exponent of its least positive number, its greatest number."""


def converted(value: Any, dtype: str, name: str, legal: str, least: int | None = None) -> int | float:
    """Return a Python or NumPy number as a value of `dtype`; ArgumentError where it is none.

    Floats are rounded once. An integer parameter takes a float that is whole; nothing takes a number out of its range,
    nor one below `least`.
    """
    number = _number(value)
    if number is None:
        because = f"its type is {type(value).__name__}"
        raise ArgumentError(f"argument {name}: expected a number for {dtype}, got {value!r}", because, legal)
    if dtype.startswith(("float", "bfloat")):
        try:
            return _float(float(number), dtype, name, legal)
        except OverflowError:
            raise ArgumentError(f"argument {name}: a number of that size does not fit in {dtype}", "", legal) from None
    if isinstance(number, float) and not number.is_integer():
        raise ArgumentError(f"argument {name}: expected a whole number for {dtype}, got {number!r}", "", legal)
    low, high = _limits(dtype)
    whole = int(number)
    if not low <= whole <= high:
        raise ArgumentError(
            f"argument {name}: {number!r} does not fit in {dtype}", f"{dtype} holds {low} to {high}", legal
        )
    if least is not None and whole < least:
        raise ArgumentError(f"argument {name}: {number!r} is less than {least}", "it is a size", legal)
    return whole


def _number(value: Any) -> int | float | None:
    """Return a number, or an array without dimensions, as an int or a float; None for anything else."""
    if isinstance(value, (int, float)):
        return value
    if getattr(value, "shape", ()) != ():
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (int, float)):
        return value
    if hasattr(type(value), "__index__"):
        return int(value)
    return float(value) if hasattr(type(value), "__float__") else None


def _limits(dtype: str) -> tuple[int, int]:
    if dtype == "bool":
        return 0, 1
    bits = int(dtype.removeprefix("u").removeprefix("int"))
    return (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


def _float(value: float, dtype: str, name: str, legal: str) -> float:
    if dtype == "float64" or not math.isfinite(value) or value == 0.0:
        return value
    bits, least, greatest = _FLOATS[dtype]
    quantum = max(math.frexp(value)[1] - bits, least)
    near = math.ldexp(round(math.ldexp(value, -quantum)), quantum)
    if abs(near) > greatest:
        raise ArgumentError(
            f"argument {name}: {value!r} does not fit in {dtype}", f"its greatest is {greatest!r}", legal
        )
    return math.copysign(near, value)
