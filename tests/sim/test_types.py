"""Every operation of every type, in the simulator and compiled for the CPU: the same values, NaN and extremes too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tecomp.dtype import INDEX, DType
from tecomp.errors import UnsupportedError
from tecomp.ir import expr as E
from tecomp.ir import interpret_calls, make
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Buffer, Launch, Seq, Store
from tecomp.sim import SimulationFault
from tecomp.sim.function import SimFunction, generate
from tecomp.target import Target
from tests.codegen.conftest import elementwise_each, same, samples
from tests.codegen.test_cuda_intrinsics import ARITY, operation
from tests.codegen.test_llvm_arith import BINARY, DIVISIONS, FLOATS, INTEGERS
from tests.codegen.test_llvm_convert import ALL

from .kernels import TARGET

SIMULATOR = Target.of(TARGET)
COUNT = 240
LANES = [1, 2, 3, 4, 8]
Operation = Callable[..., Any]


def simulated(
    operations: Sequence[Operation], inputs: Sequence[np.ndarray], lanes: int = 1, mask: Any = None
) -> list[np.ndarray]:
    """Return what threads compute, each of so many lanes, of each operation; zero where a mask holds lanes back."""
    size = inputs[0].size
    shape = (make.const(size, INDEX),)
    buffers = [Buffer(f"A{n}", shape, DType(array.dtype.name)) for n, array in enumerate(inputs)]
    thread = E.Var("t", INDEX, make.const(0, INDEX), make.const(size // lanes, INDEX))
    place: Any = thread if lanes == 1 else E.Ramp(make.mul(thread, lanes), make.const(1, INDEX), lanes)
    values = [operation(*(make.load(buffer, [place]) for buffer in buffers)) for operation in operations]
    outs = [Buffer(f"B{n}", shape, value.dtype.element) for n, value in enumerate(values)]
    held = make.TRUE if mask is None else mask(place)
    stores = [Store(out, (place,), value, held) for out, value in zip(outs, values, strict=True)]
    body = Launch((("threadIdx.x", thread),), Seq(tuple(stores)))
    results = [np.zeros(size, out.dtype.numpy) for out in outs]
    func = Func("f", (*buffers, *outs), tuple(outs), body, Level.FLAT)
    SimFunction(generate(func, SIMULATOR))(*inputs, *results)
    return results


def check(operations: Sequence[Operation], inputs: Sequence[np.ndarray], lanes: int = 1, mask: Any = None) -> None:
    """Fail unless the simulator and the CPU agree on each operation, bit for bit but for what a NaN holds."""
    wanted = elementwise_each(operations, list(inputs), lanes, mask)
    for result, want in zip(simulated(operations, inputs, lanes, mask), wanted, strict=True):
        same(result, want)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_arithmetic_and_comparisons(dtype: str, lanes: int) -> None:
    operations = [build for build, _ in BINARY.values()] + [make.div] * (dtype in FLOATS)
    check(operations, [samples(dtype, COUNT, 1), samples(dtype, COUNT, 2)], lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisions(dtype: str, lanes: int) -> None:
    a, b = samples(dtype, COUNT, 3), samples(dtype, COUNT, 4)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a[:6], b[:6] = [low, low, high, 1, 0, low], [-1 if low else 1, high, low, low, 3, 1]
    b[b == 0] = 1
    check([build for build, _ in DIVISIONS.values()], [a, b], lanes)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("lanes", [1, 4])
def test_divisions_by_zero_are_reported(name: str, lanes: int) -> None:
    a = np.arange(8, dtype="i4")
    with pytest.raises(SimulationFault) as caught:
        simulated([DIVISIONS[name][0]], [a, a], lanes)
    assert caught.value.kind == "undefined" and "division by zero" in str(caught.value)


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 8, 64, 100, -1, -2, -3, -64])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_divisions_by_constants(dtype: str, divisor: int) -> None:
    number = make.const(divisor + 200 * (divisor < 0 and dtype[0] == "u"), dtype)
    check([lambda x, build=build: build(x, number) for build, _ in DIVISIONS.values()], [samples(dtype, COUNT, 5)], 4)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "bool"])
def test_choices(dtype: str, lanes: int) -> None:
    a, b, c = samples(dtype, 48, 8), samples(dtype, 48, 9), samples("bool", 48, 10)
    check([make.select, make.if_then_else][: 1 + (lanes == 1)], [c, a, b], lanes)


@pytest.mark.parametrize("lanes", LANES)
def test_logic(lanes: int) -> None:
    operations = [make.logical_and, make.logical_or, make.bitwise_xor, make.bitwise_and, make.bitwise_or, make.eq]
    check([*operations, lambda a, _: make.logical_not(a)], [samples("bool", 48, 6), samples("bool", 48, 7)], lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_one_operand(dtype: str, lanes: int) -> None:
    check([make.neg, make.absolute], [samples(dtype, COUNT, 12)], lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits(dtype: str, lanes: int) -> None:
    operations = [make.bitwise_and, make.bitwise_or, make.bitwise_xor, lambda a, _: make.bitwise_not(a)]
    check(operations, [samples(dtype, COUNT, 13), samples(dtype, COUNT, 14)], lanes)
    counts = (np.arange(COUNT) % DType(dtype).bits).astype(dtype)
    check([make.shift_left, make.shift_right], [samples(dtype, COUNT, 15), counts], lanes)


@pytest.mark.parametrize("shift", [make.shift_left, make.shift_right])
def test_shifts_by_the_width_are_reported(shift: Operation) -> None:
    for count in (32, -1):
        with pytest.raises(SimulationFault) as caught:
            simulated([shift], [np.ones(4, "i4"), np.array([1, 0, count, 3], "i4")])
        assert caught.value.kind == "undefined" and "a shift by the width or more" in str(caught.value)


EXTREME = np.array([3e9, -3e9, 1e19, -1e19, 2.0**63, -(2.0**31), 255.5, 256.5, -0.9, 65519.0, 65520.0, 1e-7])


def fits(values: np.ndarray, dtype: str) -> np.ndarray:
    """Return where a conversion to integers is the same everywhere: to narrow types, CUDA's wraps."""
    kind = DType(dtype)
    if not kind.is_integer or values.dtype.kind in "iub" or dtype in ("int32", "int64", "uint64"):
        return np.ones(len(values), bool)
    low, high = kind.limits()
    exact = np.trunc(values.astype("f8"))
    return np.isnan(exact) | (exact >= low) & (exact <= high)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("source", ALL)
def test_conversions(source: str, lanes: int) -> None:
    values = samples(source, 96, 11)
    if DType(source).is_float:
        with np.errstate(all="ignore"):
            values[:12] = EXTREME.astype(values.dtype)
    casts = [lambda x, target=target: make.cast(target, x) for target in ALL]
    wanted = elementwise_each(casts, [values], lanes)
    for target, result, want in zip(ALL, simulated(casts, [values], lanes), wanted, strict=True):
        same(result[fits(values, target)], want[fits(values, target)])


def test_conversions_to_narrow_integers_wrap_as_in_cuda() -> None:
    """(signed char)(int)x, (unsigned int)(long long)x."""
    x = np.array([300.7, -300.7, 3e9, -3e9, np.inf, -np.inf, np.nan, 5e9])
    casts = [lambda x, target=target: make.cast(target, x) for target in ("int8", "uint16", "uint32")]
    narrow, short, word = simulated(casts, [x])
    assert narrow.tolist() == [44, -44, -1, 0, -1, 0, 0, -1]
    assert short.tolist() == [300, 65236, 65535, 0, 65535, 0, 0, 65535]
    assert word.tolist() == [300, 2**32 - 300, 3 * 10**9, 2**32 - 3 * 10**9, 2**32 - 1, 0, 0, 5 * 10**9 - 2**32]


@pytest.mark.parametrize("lanes", LANES[1:])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "bool"])
def test_lanes_that_a_mask_holds_back_are_left_alone(dtype: str, lanes: int) -> None:
    a = samples(dtype, 48, 16)
    for mask in (
        lambda place: make.lt(place, E.Broadcast(make.const(31, INDEX), lanes)),
        lambda place: make.eq(make.floormod(place, E.Broadcast(make.const(3, INDEX), lanes)), make.const(0, INDEX)),
        lambda place: make.lt(place, make.const(0, INDEX)),
    ):
        check([lambda x: x, lambda x: make.select(make.eq(x, x), x, x)], [a], lanes, mask)


NAMES = sorted({*interpret_calls.FLOAT_CALLS, *interpret_calls.OWN_TYPE_CALLS})
NEAR = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-13}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_floats(name: str, dtype: str) -> None:
    """Beside what the interpreter computes of the same values, specials included."""
    node = operation(name, dtype)
    meaning = interpret_calls.meaning(node)
    assert meaning is not None
    random = np.random.default_rng(1)
    count = ARITY.get(name, 1)
    inputs = [samples(dtype, 60, 20 + at) for at in range(count)]
    if name == "ldexp":
        inputs[1] = random.integers(-20, 20, 60, dtype="i4")
    build = lambda *args: make.call(name, node.dtype, *args)
    try:
        (result,) = simulated([build], inputs)
    except UnsupportedError:
        with pytest.raises(UnsupportedError):
            elementwise_each([build], inputs)
        return
    with np.errstate(all="ignore"):
        rows = zip(*(list(map(int, one)) if one.dtype == np.int32 else one for one in inputs), strict=True)
        want = np.array([meaning(*row) for row in rows]).astype(result.dtype)
    if result.dtype == bool:
        np.testing.assert_array_equal(result, want)
        return
    near = NEAR[dtype]
    result, want = result.astype("f8"), want.astype("f8")
    np.testing.assert_allclose(result, want, rtol=near, atol=near * 1e-2)
    zeros = (want == 0) & (result == 0)
    np.testing.assert_array_equal(np.signbit(result[zeros]), np.signbit(want[zeros]))


@pytest.mark.parametrize("name", sorted({*interpret_calls.INTEGER_CALLS, *interpret_calls.WORD_CALLS}))
@pytest.mark.parametrize("dtype", INTEGERS)
def test_functions_of_integers(name: str, dtype: str) -> None:
    node = operation(name, dtype)
    meaning = interpret_calls.meaning(node)
    inputs = [samples(dtype, 60, 30 + at) for at in range(ARITY.get(name, 1))]
    if name in ("shift_left", "shift_right"):
        inputs[1] = (np.arange(60) % DType(dtype).bits).astype(dtype)
    build = lambda *args: make.call(name, node.dtype, *args)
    if meaning is None:
        with pytest.raises(UnsupportedError):
            simulated([build], inputs)
        return
    (result,) = simulated([build], inputs)
    want = [int(meaning(*map(int, row))) for row in zip(*inputs, strict=True)]
    assert result.tolist() == want
