"""Arithmetic on the CPU equals NumPy's, for every type and number of lanes."""

import numpy as np
import pytest

from tecomp.ir import make

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
LANES = [1, 2, 3, 4, 8, 16]
COUNT = 240


def trunc_divmod(a, b):
    """Return C's quotient and remainder of integers, by exact arithmetic, wrapped; 0 by a divisor of 0."""
    info = np.iinfo(a.dtype)
    quotients, rests = [], []
    for p, q in zip(map(int, a), map(int, b), strict=True):
        quotient = 0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        rest = 0 if q == 0 else p - quotient * q
        quotients.append((quotient - info.min) % 2**info.bits + info.min)
        rests.append(rest)
    return np.array(quotients, a.dtype), np.array(rests, a.dtype)


BINARY = {
    "add": (make.add, np.add),
    "sub": (make.sub, np.subtract),
    "mul": (make.mul, np.multiply),
    "min": (make.minimum, np.minimum),
    "max": (make.maximum, np.maximum),
    "eq": (make.eq, np.equal),
    "ne": (make.ne, np.not_equal),
    "lt": (make.lt, np.less),
    "le": (make.le, np.less_equal),
}
DIVISIONS = {
    "floordiv": (make.floordiv, np.floor_divide),
    "floormod": (make.floormod, np.remainder),
    "truncdiv": (make.truncdiv, lambda a, b: trunc_divmod(a, b)[0]),
    "truncmod": (make.truncmod, lambda a, b: trunc_divmod(a, b)[1]),
}


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_binary_operations(flat, dtype, lanes):
    a, b = flat.samples(dtype, COUNT, 1), flat.samples(dtype, COUNT, 2)
    operations = dict(BINARY)
    if dtype in FLOATS:
        operations["div"] = (make.div, np.divide)
    with np.errstate(all="ignore"):
        results = flat.elementwise_each([build for build, _ in operations.values()], [a, b], lanes)
        for (_, reference), result in zip(operations.values(), results, strict=True):
            flat.same(result, reference(a, b))


@pytest.mark.parametrize("lanes", [1, 3, 8])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisions_by_what_is_known_at_run_time(flat, dtype, lanes):
    a, b = flat.samples(dtype, COUNT, 3), flat.samples(dtype, COUNT, 4)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a[:6], b[:6] = [low, low, high, 1, 0, low], [max(low, -1), 0, 0, max(low, -1), 3, 1]
    with np.errstate(all="ignore"):
        results = flat.elementwise_each([build for build, _ in DIVISIONS.values()], [a, b], lanes)
        for (_, reference), result in zip(DIVISIONS.values(), results, strict=True):
            flat.same(result, reference(a, b))


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 8, 64, 100, -1, -2, -3, -64])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_divisions_by_constants(flat, dtype, divisor):
    if divisor < 0 and dtype.startswith("u"):
        divisor += 200
    a = flat.samples(dtype, COUNT, 5)
    b = np.full_like(a, divisor)
    with np.errstate(all="ignore"):
        constant = make.const(divisor, dtype)
        by_constant = [lambda x, build=build: build(x, constant) for build, _ in DIVISIONS.values()]
        for (_, reference), result in zip(DIVISIONS.values(), flat.elementwise_each(by_constant, [a], 4), strict=True):
            flat.same(result, reference(a, b))


def test_the_largest_unsigned_integer_stays_what_it_is(flat):
    a = np.array([2**64 - 1, 0, 1, 2**63], "uint64")
    flat.same(flat.elementwise(lambda x: make.add(x, make.const(0, "uint64")), [a], 4), a)
    everything = flat.elementwise(lambda x: make.bitwise_or(x, make.const(2**64 - 1, "uint64")), [a], 4)
    assert everything.tolist() == [18446744073709551615] * 4
    assert flat.elementwise(lambda x: make.cast("float64", x), [a]).tolist()[0] == 2.0**64


def test_unsigned_remainder_is_not_signed(flat):
    a = np.array([3583196299], "uint32")
    assert flat.elementwise(lambda x: make.floormod(x, 524288), [a]).tolist() == [212107]


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_in_min_and_max_whatever_the_order(flat, dtype):
    nan = np.array([np.nan, 1.0, np.nan, 2.0], dtype if dtype != "bfloat16" else flat.bfloat16)
    one = np.array([1.0, np.nan, np.nan, -1.0], nan.dtype)
    for lanes in (1, 4):
        low = flat.elementwise(make.minimum, [nan, one], lanes).astype("float64")
        high = flat.elementwise(make.maximum, [nan, one], lanes).astype("float64")
        np.testing.assert_array_equal(low, [np.nan, np.nan, np.nan, -1.0])
        np.testing.assert_array_equal(high, [np.nan, np.nan, np.nan, 2.0])


@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_logic(flat, lanes):
    a, b = flat.samples("bool", 64, 6), flat.samples("bool", 64, 7)
    flat.same(flat.elementwise(make.logical_and, [a, b], lanes), a & b)
    flat.same(flat.elementwise(make.logical_or, [a, b], lanes), a | b)
    flat.same(flat.elementwise(make.logical_not, [a], lanes), ~a)
    flat.same(flat.elementwise(make.bitwise_xor, [a, b], lanes), a ^ b)
    flat.same(flat.elementwise(make.eq, [a, b], lanes), a == b)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + ["bool"])
def test_select(flat, dtype, lanes):
    a, b, c = flat.samples(dtype, 64, 8), flat.samples(dtype, 64, 9), flat.samples("bool", 64, 10)
    flat.same(flat.elementwise(make.select, [c, a, b], lanes), np.where(c, a, b))


def test_operations_of_float16_round_once_each(flat):
    """In float32 without rounding between, the sum would be 1.001; each float16 operation rounds."""
    a = np.array([1.0, 2048.0, 65504.0], "float16")
    b = np.array([0.0004, 1.0, 16.0], "float16")
    result = flat.elementwise(lambda x, y: make.sub(make.add(x, y), x), [a, b])
    with np.errstate(all="ignore"):
        flat.same(result, (a + b) - a)
