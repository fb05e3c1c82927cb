"""Numbers as an element type holds them: each rounded once, to nearest, ties to even."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ..dtype import DType

_FORMATS: Final = {
    "float16": (11, -24, 65504.0),
    "bfloat16": (8, -133, (2 - 2.0**-7) * 2.0**127),
    "float32": (24, -149, (2 - 2.0**-23) * 2.0**127),
    "float64": (53, -1074, (2 - 2.0**-52) * 2.0**1023),
}
"""Significant bits, the exponent of the least positive number, the greatest number."""
_EXACT_INTEGERS: Final = 2**53


def rounded(value: float | Fraction, dtype: DType) -> float:
    """Return the value of the float type nearest to `value`, an int, float or fraction of any size; inf beyond them.

    Going through a wider type would round twice: 1 + 2**-11 + 2**-40 is 1.0009765625 in float16, by way of float32 1.0.
    """
    if isinstance(value, int) and abs(value) <= _EXACT_INTEGERS:
        value = float(value)
    if isinstance(value, float) and (dtype.kind == "float" or value == 0 or not math.isfinite(value)):
        with np.errstate(over="ignore"):
            return float(dtype.numpy.type(value))  # of these NumPy rounds once
    exact = Fraction(value)
    bits, least, greatest = _FORMATS[dtype.element]
    quantum = max(_exponent(exact) - bits, least)
    near = round(exact / Fraction(2) ** quantum) * Fraction(2) ** quantum
    if abs(near) > Fraction(greatest):
        return math.inf if near > 0 else -math.inf
    return math.copysign(float(near), exact.numerator)


def _exponent(value: Fraction) -> int:
    """Return the least e such that abs(value) < 2**e."""
    guess = abs(value.numerator).bit_length() - value.denominator.bit_length()
    return guess + 1 if abs(value) >= Fraction(2) ** guess else guess


def rounder(dtype: DType) -> Callable[[Any], Any]:
    """Return the function that turns a number into the NumPy scalar of that float type, rounding once."""
    scalar = dtype.numpy.type

    def narrow(value: Any) -> Any:
        if isinstance(value, int) and abs(value) > _EXACT_INTEGERS:
            return scalar(rounded(value, dtype))
        return scalar(value)

    def brain(value: Any) -> Any:
        wide = isinstance(value, (int, float))  # ml_dtypes goes from these through float32
        return scalar(rounded(value, dtype) if wide else value)

    return brain if dtype.kind == "bfloat" else narrow


def truncated(value: Any, low: int, high: int) -> int:
    """Return a float truncated to an integer between the limits: the nearer one where it lies outside, 0 for NaN."""
    number = float(value)
    if math.isnan(number):
        return 0
    if math.isinf(number):
        return high if number > 0 else low
    return min(max(math.trunc(number), low), high)


def floats(dtype: DType) -> np.dtype:
    """Return the NumPy type in which functions of this float type are computed: float32 for the 16-bit ones."""
    return np.dtype(np.float32) if dtype.bits == 16 else dtype.numpy
