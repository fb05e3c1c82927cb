"""Numbers rounded once, against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tecomp.dtype import DType
from tecomp.ir.rounding import rounded, rounder, truncated

KINDS = ["float16", "bfloat16", "float32", "float64"]


def nearest(value: Fraction, kind: str) -> float:
    """Return the nearest value of the type, from its neighbours."""
    scalar = DType(kind).numpy.type
    with np.errstate(all="ignore"):
        start = scalar(float(value)) if abs(value) < Fraction(10) ** 300 else scalar(math.copysign(math.inf, value))
        steps = [start, np.nextafter(start, scalar(math.inf)), np.nextafter(start, scalar(-math.inf))]
    finite = [float(step) for step in steps if np.isfinite(float(step))]
    return min(
        finite, key=lambda step: (abs(Fraction(step) - value), int(scalar(step).view(f"u{scalar(0).nbytes}")) % 2)
    )


@pytest.mark.parametrize("kind", KINDS)
@given(value=st.fractions(min_value=-60000, max_value=60000) | st.integers(-60000, 60000))
def test_nearest_even(kind: str, value: Fraction) -> None:
    assert rounded(value, DType(kind)) == nearest(Fraction(value), kind)


@pytest.mark.parametrize("kind", KINDS)
@given(value=st.floats(-65000, 65000, allow_subnormal=True))
def test_of_floats(kind: str, value: float) -> None:
    found = rounded(value, DType(kind))
    assert found == nearest(Fraction(value), kind)
    assert math.copysign(1, found) == math.copysign(1, value)


@given(value=st.integers(-(2**63), 2**64))
def test_of_wide_integers(value: int) -> None:
    for kind in ("bfloat16", "float32", "float64"):
        assert rounded(value, DType(kind)) == nearest(Fraction(value), kind)
        assert rounder(DType(kind))(value) == DType(kind).numpy.type(rounded(value, DType(kind)))


def test_ties_that_go_wrong_by_way_of_a_wider_type() -> None:
    assert rounded(math.nextafter(1.00048828125, 2), DType("float16")) == 1.0009765625
    assert rounded(1.00048828125, DType("float16")) == 1.0
    assert rounded(math.nextafter(1.00390625, 2), DType("bfloat16")) == 1.0078125
    assert rounded(2**60 + 2**36 + 1, DType("float32")) == 2.0**60 + 2.0**37


def test_what_is_too_large_is_infinite() -> None:
    assert rounded(65519.999, DType("float16")) == 65504
    assert rounded(65520, DType("float16")) == math.inf
    assert rounded(-3.4e38, DType("bfloat16")) == -math.inf
    assert rounded(10**400, DType("float64")) == math.inf
    assert rounded(Fraction(-(10**400)), DType("float32")) == -math.inf


def test_special_values() -> None:
    for kind in KINDS:
        assert math.isnan(rounded(math.nan, DType(kind)))
        assert rounded(-math.inf, DType(kind)) == -math.inf
        assert math.copysign(1, rounded(-0.0, DType(kind))) == -1
        assert rounded(0, DType(kind)) == 0.0
    assert rounded(Fraction(-1, 10**60), DType("float32")) == 0.0
    assert math.copysign(1, rounded(Fraction(-1, 10**60), DType("float32"))) == -1


def test_rounder_keeps_to_its_type() -> None:
    for value in (np.float32(1.00390625), 1.00390625, 3, True):
        found = rounder(DType("bfloat16"))(value)
        assert type(found) is ml_dtypes.bfloat16
        assert type(rounder(DType("float16"))(value)) is np.float16


def test_truncated() -> None:
    found = [truncated(value, -128, 127) for value in (1.9, -1.9, 200.0, -200.0, math.inf, -math.inf, math.nan)]
    assert found == [1, -1, 127, -128, 127, -128, 0]
