"""The value of expressions: wrap-around, rounding, every call, lanes."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tecomp.dtype import BOOL, INDEX, DType
from tecomp.errors import UserError
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.evaluate import ExecutionError, evaluate
from tecomp.ir.interpret_calls import CALLS, FLOAT_CALLS, INTEGER_CALLS, OWN_TYPE_CALLS, meaning
from tecomp.ir.stmt import Buffer

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
BINARY = {E.Add: np.add, E.Sub: np.subtract, E.Mul: np.multiply, E.Min: np.minimum, E.Max: np.maximum}
NAMES = """
exp exp2 exp10 log log2 log10 log1p expm1 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
erf sigmoid floor ceil trunc round nearbyint abs pow atan2 fmod hypot copysign nextafter ldexp isnan isinf isfinite
popcount clz
shift_left shift_right bitwise_and bitwise_or bitwise_xor fma dp4a reinterpret barrier_block barrier_grid
prefetch
""".split()


def var(kind: str, name: str = "x") -> E.Var:
    return E.Var(name, DType(kind))


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_wrap(kind: str) -> None:
    a, b = var(kind, "a"), var(kind, "b")
    info = np.iinfo(kind)
    samples = [info.min, info.max, 0, 1, 3, info.max // 2]
    with np.errstate(all="ignore"):
        for p in samples:
            for q in samples:
                x, y = np.array([p], kind), np.array([q], kind)
                for node, function in BINARY.items():
                    assert evaluate(node(a, b), {a: p, b: q}) == function(x, y)[0]
                if q:
                    quotient, rest = p // q, p % q
                    assert evaluate(E.FloorDiv(a, b), {a: p, b: q}) == M.wrap(quotient, DType(kind))
                    assert evaluate(E.FloorMod(a, b), {a: p, b: q}) == rest
                    assert evaluate(E.TruncDiv(a, b), {a: p, b: q}) == M.wrap(M.trunc_quotient(p, q), DType(kind))
                    assert evaluate(E.TruncMod(a, b), {a: p, b: q}) == math.fmod(p, q) or abs(p) > 2**53


@pytest.mark.parametrize("kind", FLOATS)
def test_floats_round_after_each_operation(kind: str) -> None:
    a, b = var(kind, "a"), var(kind, "b")
    scalar = DType(kind).numpy.type
    samples = [0.1, -3.7, 1e4, 6e-8, math.inf, math.nan, -0.0, 1 + 2**-7]
    with np.errstate(all="ignore"):
        for p in samples:
            for q in samples:
                x, y = scalar(p), scalar(q)
                for node, function in (BINARY | {E.Div: np.divide}).items():
                    found = evaluate(node(a, b), {a: x, b: y})
                    assert type(found) is scalar
                    assert np.array_equal(found, function(x, y), equal_nan=True)
                for node, function in ((E.Lt, np.less), (E.Le, np.less_equal), (E.Eq, np.equal), (E.Ne, np.not_equal)):
                    assert bool(evaluate(node(a, b), {a: x, b: y})) == bool(function(x, y))


def test_index_is_exact() -> None:
    i = E.Var("i", INDEX)
    assert evaluate(i * i * i, {i: 2**40}) == 2**120


@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS, "bool"])
@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS, "bool"])
def test_casts(source: str, target: str) -> None:
    x = var(source)
    samples: list[Any] = [0, 1, 100]
    if DType(source).is_float or DType(source).kind == "int":
        samples += [-1, -100]
    if DType(source).is_float:
        samples += [1.5, 0.25]
    for sample in samples:
        held = DType(source).numpy.type(sample)
        if DType(source).is_float and DType(target).kind in ("int", "uint"):
            low, high = DType(target).limits()
            want: Any = min(max(math.trunc(float(held)), low), high)
        else:
            with np.errstate(all="ignore"):
                want = np.array([held]).astype(DType(target).numpy)[0]
        found = evaluate(E.Cast(DType(target), x), {x: held})
        assert found == want
        if DType(target).is_float:
            assert type(found) is DType(target).numpy.type


def test_casts_round_once() -> None:
    d, big = var("float64"), var("int64")
    assert evaluate(M.cast("float16", d), {d: math.nextafter(1.00048828125, 2)}) == 1.0009765625
    assert evaluate(M.cast("bfloat16", d), {d: math.nextafter(1.00390625, 2)}) == 1.0078125
    assert evaluate(M.cast("float32", big), {big: 2**60 + 2**36 + 1}) == 2.0**60 + 2.0**37
    assert evaluate(M.cast("bfloat16", big), {big: 2**40 + 2**32 + 1}) == 2.0**40 + 2.0**33


def test_floats_outside_an_integer_type_give_its_nearest_value() -> None:
    x = var("float32")
    for value, want in ((1e10, 127), (-1e10, -128), (math.inf, 127), (-math.inf, -128), (math.nan, 0), (-3.9, -3)):
        assert evaluate(M.cast("int8", x), {x: value}) == want


ARITY = {"fma": 3, "dp4a": 3} | dict.fromkeys("pow atan2 fmod hypot copysign nextafter ldexp".split(), 2)
ARITY |= dict.fromkeys("shift_left shift_right bitwise_and bitwise_or bitwise_xor".split(), 2)


def test_every_call_of_the_contract_has_a_meaning() -> None:
    assert set(NAMES) == set(CALLS)
    assert evaluate(M.call("prefetch", "int32"), {}) == 0
    assert meaning(M.call("exp", "int32", 1)) is None


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", sorted({*FLOAT_CALLS, *OWN_TYPE_CALLS}))
def test_calls_of_floats_keep_their_type(name: str, kind: str) -> None:
    args = [var(kind, f"a{place}") for place in range(ARITY.get(name, 1))]
    if name == "ldexp":
        args[1] = var("int32", "e")
    result = BOOL if name.startswith("is") else DType(kind)
    found = evaluate(E.Call(result, name, tuple(args)), dict.fromkeys(args, 1) | {args[0]: 0.5})
    assert isinstance(found, (np.bool_, bool) if result is BOOL else DType(kind).numpy.type)


@pytest.mark.parametrize("kind", ["int32", "uint8"])
@pytest.mark.parametrize("name", sorted(INTEGER_CALLS))
def test_calls_of_integers_give_integers(name: str, kind: str) -> None:
    args = [var(kind, f"a{place}") for place in range(ARITY.get(name, 1))]
    assert type(evaluate(E.Call(DType(kind), name, tuple(args)), dict.fromkeys(args, 1))) is int


VALUES: list[tuple[str, str, tuple[Any, ...], Any]] = [
    ("exp10", "float64", (2.0,), 100.0),
    ("rsqrt", "float32", (4.0,), 0.5),
    ("erf", "float64", (0.5,), math.erf(0.5)),
    ("sigmoid", "float32", (0.0,), 0.5),
    ("round", "float64", (2.5,), 3.0),
    ("round", "float64", (-2.5,), -3.0),
    ("round", "float64", (0.49999999999999994,), 0.0),
    ("nearbyint", "float32", (2.5,), 2.0),
    ("trunc", "float32", (-2.7,), -2.0),
    ("floor", "float32", (-2.1,), -3.0),
    ("atan2", "float64", (1.0, -1.0), math.atan2(1, -1)),
    ("fmod", "float32", (-7.0, 3.0), -1.0),
    ("copysign", "float16", (2.0, -0.0), -2.0),
    ("nextafter", "bfloat16", (1.0, 2.0), 1.0078125),
    ("nextafter", "float16", (1.0, 2.0), 1.0009765625),
    ("ldexp", "float32", (0.75, 3), 6.0),
    ("fma", "float32", (1 + 2**-12, 1 + 2**-12, -1.0), 2**-11 + 2**-24),
    ("fma", "int8", (100, 2, 1), -55),
    ("abs", "int8", (-128,), -128),
    ("abs", "float32", (-0.0,), 0.0),
    ("popcount", "int8", (-1,), 8),
    ("clz", "int16", (1,), 15),
    ("clz", "uint32", (0,), 32),
    ("shift_left", "int8", (127, 1), -2),
    ("shift_right", "int8", (-128, 7), -1),
    ("shift_right", "uint8", (128, 7), 1),
    ("bitwise_xor", "int32", (-1, 5), -6),
]


@pytest.mark.parametrize(("name", "kind", "args", "want"), VALUES)
def test_calls(name: str, kind: str, args: tuple[Any, ...], want: Any) -> None:
    operands = [var("int32" if name == "ldexp" and place else kind, f"a{place}") for place in range(len(args))]
    found = evaluate(E.Call(DType(kind), name, tuple(operands)), dict(zip(operands, args, strict=True)))
    assert found == want


def test_fma_is_rounded_once_and_knows_infinity() -> None:
    a, b, c = (var("float32", name) for name in "abc")
    fused = M.call("fma", "float32", a, b, c)
    assert evaluate(fused, {a: math.inf, b: 0.0, c: 1.0}) != evaluate(fused, {a: math.inf, b: 0.0, c: 1.0})
    assert evaluate(fused, {a: 2.0, b: 3.0, c: -6.0}) == 0.0


def test_min_and_max_propagate_nan() -> None:
    x = var("float32")
    for node in (M.minimum, M.maximum):
        assert math.isnan(evaluate(node(x, 1.0), {x: math.nan}))
        assert math.isnan(evaluate(node(M.const(1.0, "float32"), x), {x: math.nan}))


def test_lanes() -> None:
    i, v = E.Var("i", INDEX), E.Var("v", DType("int8x4"))
    ramp = E.Ramp(i, M.const(3, INDEX), 4)
    assert evaluate(ramp, {i: 1}) == [1, 4, 7, 10]
    assert evaluate(E.FloorMod(ramp, E.Broadcast(M.const(4, INDEX), 4)), {i: -1}) == [3, 2, 1, 0]
    assert evaluate(E.Add(v, v), {v: [1, 2, 100, -100]}) == [2, 4, -56, 56]
    assert evaluate(E.Ramp(M.const(120, "int8"), M.const(5, "int8"), 3), {}) == [120, 125, -126]
    assert evaluate(E.Not(E.Lt(v, E.Broadcast(M.const(2, "int8"), 4))), {v: [1, 2, 3, 0]}) == [False, True, True, False]


def test_lanes_of_a_choice_are_lazy() -> None:
    data = Buffer("B", (M.const(3, INDEX),), DType("int32"))
    ramp = E.Ramp(M.const(0, INDEX), M.const(1, INDEX), 5)
    inside = E.Lt(ramp, E.Broadcast(M.const(3, INDEX), 5))
    zero = E.Broadcast(M.const(-1), 5)
    array = np.array([7, 8, 9], np.int32)
    load = E.Load(data, (ramp,), M.TRUE)
    assert evaluate(E.IfElse(inside, load, zero), {data: array}) == [7, 8, 9, -1, -1]
    assert evaluate(E.Load(data, (ramp,), inside), {data: array}) == [7, 8, 9, 0, 0]
    assert evaluate(E.And(inside, E.Lt(load, zero)), {data: array}) == [False] * 5
    assert evaluate(E.Or(E.Not(inside), E.Lt(load, zero)), {data: array}) == [False] * 3 + [True] * 2
    with pytest.raises(ExecutionError, match=r"it reads B\[3\]"):
        evaluate(E.Select(inside, load, zero), {data: array})


def test_bfloat16_arithmetic_is_its_own() -> None:
    x = var("bfloat16")
    assert evaluate(x + x * x, {x: 1.0078125}) == ml_dtypes.bfloat16(2.03125)


def test_undefined_values() -> None:
    a, b = var("int32", "a"), var("int32", "b")
    with pytest.raises(ExecutionError, match=r"a // b has no value(.|\n)*an integer is divided by zero"):
        evaluate(a // b, {a: 1, b: 0})
    with pytest.raises(UserError, match="4294967296 does not fit in int32"):
        evaluate(a, {a: 2**32})
