"""The named operations against NumPy: at most 4 units in the last place, in every type and width."""

import math
from collections import defaultdict

import ml_dtypes
import numpy as np
import pytest

from tecomp.codegen import llvm, llvm_compile
from tecomp.codegen.llvm_intrinsics import CALLS
from tecomp.codegen.llvm_library import LIBRARY
from tecomp.dtype import DType
from tecomp.errors import UnsupportedError
from tecomp.ir import make
from tecomp.ir.interpret_calls import CALLS as MEANINGS
from tecomp.ir.interpret_calls import EFFECT_CALLS, FLOAT_CALLS

FLOATS = ["float16", "bfloat16", "float32", "float64"]
ULPS = 4
DOMAIN = {
    "log": (1e-3, 50), "log2": (1e-3, 50), "log10": (1e-3, 50), "log1p": (-0.9, 50), "sqrt": (0, 50),
    "rsqrt": (1e-3, 50), "asin": (-1, 1), "acos": (-1, 1), "atanh": (-0.99, 0.99), "acosh": (1, 50),
    "exp10": (-4, 4), "tan": (-1.5, 1.5),
}  # fmt: skip
UNARY = sorted(
    {*FLOAT_CALLS} - {"pow", "atan2", "fmod", "hypot", "copysign", "ldexp", "fma", "isnan", "isinf", "isfinite"}
)


def ulps(result, exact, dtype):
    """Return how many units in the last place of the result's type each value is from the exact one."""
    kind = DType(dtype)
    info = ml_dtypes.finfo(kind.numpy)
    _, exponent = np.frexp(exact)
    quantum = np.maximum(np.ldexp(1.0, exponent - 1 - info.nmant), float(info.smallest_subnormal))
    return np.abs(result.astype("float64") - exact) / quantum


def exactly(name, *args):
    with np.errstate(all="ignore"):
        wide = [arg.astype("float64") for arg in args]
        function = FLOAT_CALLS[name]
        if name in ("round", "erf", "fma"):
            return np.array([float(function(*map(np.float64, row))) for row in zip(*wide, strict=True)])
        return np.asarray(function(*wide), "float64")


def called(names, dtype):
    return [lambda *args, name=name: make.call(name, dtype, *args) for name in names]


@pytest.mark.parametrize("lanes", [1, 3, 16])
@pytest.mark.parametrize("dtype", FLOATS)
def test_unary_functions(flat, dtype, lanes):
    random = np.random.default_rng(3)
    by_domain = defaultdict(list)
    for name in UNARY:
        by_domain[DOMAIN.get(name, (-8, 8))].append(name)
    for (low, high), names in by_domain.items():
        values = random.uniform(low, high, 96).astype(DType(dtype).numpy)
        with np.errstate(all="ignore"):
            results = flat.elementwise_each(called(names, dtype), [values], lanes)
        for name, result in zip(names, results, strict=True):
            assert ulps(result, exactly(name, values), dtype).max() <= ULPS, name


@pytest.mark.parametrize("lanes", [1, 8, 32])
@pytest.mark.parametrize("dtype", FLOATS)
def test_binary_functions(flat, dtype, lanes):
    random = np.random.default_rng(4)
    a, b = (random.uniform(0.1, 6, 64).astype(DType(dtype).numpy) for _ in "ab")
    for name in ("pow", "atan2", "fmod", "hypot", "copysign"):
        result = flat.elementwise(
            lambda x, y, name=name: make.call(name, dtype, x, y), [a, -b if name != "pow" else b], lanes
        )
        exact = exactly(name, a, -b if name != "pow" else b)
        assert ulps(result, exact, dtype).max() <= ULPS, name


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values(flat, dtype, lanes):
    values = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5], DType(dtype).numpy)
    names = [name for name in UNARY if name not in ("sigmoid", "rsqrt")] + ["sigmoid", "rsqrt"]
    results = flat.elementwise_each(called(names, dtype), [values], lanes)
    for name, result in zip(names, (result.astype("float64") for result in results), strict=True):
        exact = exactly(name, values)
        limit = np.where(np.isfinite(exact), exact, 0)
        np.testing.assert_array_equal(np.isnan(result), np.isnan(exact), name)
        np.testing.assert_array_equal(np.isinf(result), np.isinf(exact), name)
        np.testing.assert_allclose(np.where(np.isfinite(exact), result, 0), limit, rtol=0.02, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sigmoid_of_large_numbers(flat, dtype):
    values = np.array([-80.0, 80.0, -200.0, 200.0], DType(dtype).numpy)
    result = flat.elementwise(lambda x: make.call("sigmoid", dtype, x), [values]).astype("float64")
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-values.astype("float64"))), rtol=0.02, atol=1e-30)


@pytest.mark.parametrize("dtype", FLOATS)
def test_roundings_to_integers(flat, dtype):
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3.7, -3.7, 0.49999997], DType(dtype).numpy)
    for name, reference in [("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("nearbyint", np.rint)]:
        result = flat.elementwise(lambda x, name=name: make.call(name, dtype, x), [values], 8)
        flat.same(result, reference(values))
    away = flat.elementwise(lambda x: make.call("round", dtype, x), [values], 4)
    assert away.astype("float64")[:7].tolist() == [1, 2, 3, -1, -2, 4, -4]
    whole = np.array([-5, 7], "int32")
    assert flat.elementwise(lambda x: make.call("floor", "int32", x), [whole]).tolist() == [-5, 7]


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nextafter(flat, dtype, lanes):
    values = [0.0, 0.0, -0.0, 1.0, 1.0, -1.0, math.inf, 2.0, math.nan, 1.0, -2.0, 1e-7]
    toward = [1.0, -1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 2.0, 1.0, math.nan, -3.0, 0.0]
    kind = DType(dtype).numpy
    a, b = np.array(values, kind), np.array(toward, kind)
    flat.same(flat.elementwise(lambda x, y: make.call("nextafter", dtype, x, y), [a, b], lanes), np.nextafter(a, b))


@pytest.mark.parametrize("dtype", FLOATS)
def test_classes_of_numbers(flat, dtype):
    values = np.array([0.0, math.inf, -math.inf, math.nan], DType(dtype).numpy)
    for name, reference in [("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)]:
        flat.same(flat.elementwise(lambda x, name=name: make.call(name, "bool", x), [values], 4), reference(values))
    assert flat.elementwise(lambda x: make.call("isfinite", "bool", x), [np.array([3], "int32")]).tolist() == [True]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_fma_rounds_once(flat, dtype):
    a, b, c = flat.samples(dtype, 64, 5), flat.samples(dtype, 64, 6), flat.samples(dtype, 64, 7)
    with np.errstate(all="ignore"):
        result = flat.elementwise(lambda x, y, z: make.call("fma", dtype, x, y, z), [a, b, c], 4)
        kind = a.dtype.type
        flat.same(result, np.array([FLOAT_CALLS["fma"](*row) for row in zip(a, b, c, strict=True)], kind))


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint16", "uint64"])
def test_bits(flat, dtype, lanes):
    a = flat.samples(dtype, 64, 8)
    bits = np.iinfo(dtype).bits
    b = (np.arange(64) % bits).astype(dtype)
    flat.same(flat.elementwise(make.shift_left, [a, b], lanes), np.left_shift(a, b))
    flat.same(flat.elementwise(make.shift_right, [a, b], lanes), np.right_shift(a, b))
    beyond = np.full_like(a, bits)
    flat.same(flat.elementwise(make.shift_left, [a, beyond], lanes), np.zeros_like(a))
    flat.same(flat.elementwise(make.shift_right, [a, beyond], lanes), np.where(a < 0, -1, 0).astype(dtype))
    unsigned = a.view(f"uint{bits}")
    counts = np.bitwise_count(unsigned).astype("int32")
    flat.same(flat.elementwise(lambda x: make.call("popcount", "int32", x), [a], lanes), counts)
    zeros = np.array([bits - int(x).bit_length() for x in unsigned], "int32")
    flat.same(flat.elementwise(lambda x: make.call("clz", "int32", x), [a], lanes), zeros)
    with np.errstate(all="ignore"):
        flat.same(flat.elementwise(make.absolute, [a], lanes), np.abs(a))


def test_ldexp(flat):
    a, n = np.array([1.0, -1.5, 3.0, 0.1], "float32"), np.array([3, -2, 200, -150], "int32")
    with np.errstate(all="ignore"):
        flat.same(flat.elementwise(lambda x, y: make.call("ldexp", "float32", x, y), [a, n], 4), np.ldexp(a, n))


@pytest.mark.parametrize("lanes", [1, 2, 3, 5, 8, 16, 32])
def test_functions_without_a_vector_library(flat, monkeypatch, lanes):
    monkeypatch.setattr(llvm, "known_functions", lambda cpu: frozenset())
    values = np.linspace(-3, 3, 960, dtype="float32")
    result = flat.elementwise(lambda x: make.call("tanh", "float32", x), [values], lanes)
    assert ulps(result, np.tanh(values.astype("float64")), "float32").max() <= ULPS


def test_vector_functions_are_used_where_the_library_is_present(flat):
    found = llvm_compile.vector_functions(llvm_compile.cpu())
    if not found:
        pytest.skip("no libmvec.so.1 on this system")
    assert {name.split("_")[-1] for name in found} <= {*LIBRARY, *(name + "f" for name in LIBRARY)}
    assert any(name.endswith("N4v_expf") for name in found)


def test_the_table_has_what_the_interpreter_knows():
    assert {*CALLS} - EFFECT_CALLS - {"regroup"} == MEANINGS - EFFECT_CALLS


def test_an_unknown_operation_is_refused(flat):
    with pytest.raises(UnsupportedError) as refusal:
        flat.elementwise(lambda x: make.call("tensor_core", "float32", x), [np.zeros(4, "float32")])
    assert refusal.value.asked == "tensor_core on llvm"
    assert refusal.value.because == "the CPU has no such operation"
