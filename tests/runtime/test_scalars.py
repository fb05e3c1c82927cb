"""Scalar arguments: converted to the declared type, or refused."""

import math

import ml_dtypes
import numpy as np
import pytest

from tecomp_runtime import ArgumentError
from tecomp_runtime.scalars import converted

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


class Lazy:
    """A scalar of another library: only `item` and `shape`, as a tensor of one element has."""

    shape = ()

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


class Index:
    def __index__(self):
        return 7


def take(value, dtype):
    return converted(value, dtype, "a", "f(a)")


def refusal(value, dtype):
    with pytest.raises(ArgumentError) as error:
        take(value, dtype)
    assert error.value.legal == "f(a)"
    return error.value.asked, error.value.because


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    info = np.iinfo(dtype)
    for value in (info.min, info.max, 0, 1):
        for given in (value, np.array(value, dtype), np.dtype(dtype).type(value), Lazy(value)):
            assert take(given, dtype) == value
            assert type(take(given, dtype)) is int
    assert refusal(info.max + 1, dtype) == (
        f"argument a: {info.max + 1} does not fit in {dtype}", f"{dtype} holds {info.min} to {info.max}",
    )  # fmt: skip
    assert refusal(info.min - 1, dtype)[0] == f"argument a: {info.min - 1} does not fit in {dtype}"


def test_whole_floats_are_integers():
    assert take(3.0, "int32") == 3
    assert take(np.float16(-4), "int8") == -4
    assert take(True, "int32") == 1
    assert take(Index(), "int32") == 7
    assert refusal(2.5, "int32") == ("argument a: expected a whole number for int32, got 2.5", "")
    assert refusal(math.nan, "int32")[0] == "argument a: expected a whole number for int32, got nan"
    assert refusal(math.inf, "uint8")[0] == "argument a: expected a whole number for uint8, got inf"
    assert refusal(1e20, "int64")[0] == "argument a: 1e+20 does not fit in int64"


def test_bools():
    for value in (True, False, np.True_, np.False_, 0, 1, 1.0):
        assert take(value, "bool") == int(value)
    assert refusal(2, "bool") == ("argument a: 2 does not fit in bool", "bool holds 0 to 1")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats_are_rounded_once(dtype):
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    values = [
        0.1,
        -2.7,
        1 / 3,
        1e-7,
        5.9e-8,
        2.9e-8,
        3,
        -3,
        True,
        np.float32(0.1),
        np.float64(0.1),
        np.int8(5),
        65504.0,
    ]
    for value in [*values, *np.random.default_rng(0).normal(size=200)]:
        through = np.float64(value).astype(kind) if dtype != "bfloat16" else np.float32(value).astype(kind)
        assert take(value, dtype) == float(through), value
    for value in (math.inf, -math.inf, 0.0, -0.0):
        assert take(value, dtype) == value
        assert math.copysign(1, take(value, dtype)) == math.copysign(1, value)
    assert math.isnan(take(math.nan, dtype))


def test_rounding_does_not_go_through_another_type():
    assert take(np.nextafter(1.00048828125, 2), "float16") == 1.0009765625
    assert take(1 + 2.0**-8 + 2.0**-40, "bfloat16") == 1 + 2.0**-7


def test_floats_too_large_are_refused():
    assert take(65519.0, "float16") == 65504.0
    assert refusal(65520.0, "float16") == ("argument a: 65520.0 does not fit in float16", "its greatest is 65504.0")
    assert refusal(1e39, "float32")[0] == "argument a: 1e+39 does not fit in float32"
    assert refusal(-3.4e38 * 2, "bfloat16")[0] == "argument a: -6.8e+38 does not fit in bfloat16"
    assert take(1e300, "float64") == 1e300
    assert refusal(10**400, "float64") == ("argument a: a number of that size does not fit in float64", "")


@pytest.mark.parametrize("value", ["3", None, 1j, [1], np.zeros(1), np.zeros((2, 2)), object])
@pytest.mark.parametrize("dtype", ["int32", "float32", "bool"])
def test_what_is_no_number(value, dtype):
    asked, because = refusal(value, dtype)
    assert asked == f"argument a: expected a number for {dtype}, got {value!r}"
    assert because == f"its type is {type(value).__name__}"


def test_a_least_value():
    assert converted(0, "int64", "n", "f(n)", 0) == 0
    with pytest.raises(ArgumentError) as error:
        converted(-1, "int64", "n", "f(n)", 0)
    assert (error.value.asked, error.value.because) == ("argument n: -1 is less than 0", "it is a size")
