"""Casts between all types: floats to integers truncate and saturate, everything is rounded once."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tecomp.codegen import llvm, llvm_compile
from tecomp.codegen.llvm_compile import Cpu
from tecomp.dtype import DType
from tecomp.ir import make
from tecomp.ir.rounding import rounded

ALL = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL += ["float16", "bfloat16", "float32", "float64"]
FLOATS = ALL[-4:]


def reference(values: np.ndarray, target: str) -> np.ndarray:
    """Return each value converted exactly: by fractions, not by NumPy, whose order of roundings differs."""
    kind = DType(target)
    if kind.is_bool:
        return values.astype("float64") != 0
    if kind.is_float:
        numbers = [int(v) if values.dtype.kind in "iub" else float(v) for v in values]
        return np.array([rounded(number, kind) for number in numbers]).astype(kind.numpy)
    low, high = kind.limits()
    if values.dtype.kind in "iub":
        return np.array([(int(v) - low) % (high - low + 1) + low for v in values], kind.numpy)
    exact = [float(v) for v in values]
    clamped = [0 if math.isnan(v) else max(low, min(high, v)) for v in exact]
    return np.array([math.trunc(v) for v in clamped], kind.numpy)


@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("source", ALL)
def test_casts_between_all_types(flat, source, lanes):
    values = flat.samples(source, 96, 11)
    if DType(source).is_float:
        extreme = np.array([3e9, -3e9, 1e19, -1e19, 2.0**63, -(2.0**31), 255.5, 256.5, -0.9, 65519.0, 65520.0, 1e-7])
        with np.errstate(all="ignore"):
            values[:12] = extreme.astype(values.dtype)
    casts = [lambda x, target=target: make.cast(target, x) for target in ALL]
    for target, result in zip(ALL, flat.elementwise_each(casts, [values], lanes), strict=True):
        with np.errstate(all="ignore"):
            flat.same(result, reference(values, target))


def test_narrowing_as_assignment(flat):
    a = np.array([-2.7, 2.7], "float32")
    assert flat.elementwise(lambda x: make.cast("int32", x), [a]).tolist() == [-2, 2]
    wide = np.array([2**40 + 5, -1], "int64")
    assert flat.elementwise(lambda x: make.cast("int32", x), [wide]).tolist() == [5, -1]
    b = np.array([0.3, -0.0, 0, 2], "float32")
    assert flat.elementwise(lambda x: make.cast("bool", x), [b]).tolist() == [True, False, False, True]


@pytest.mark.parametrize("lanes", [1, 8])
def test_float64_becomes_float16_in_one_rounding(flat, lanes):
    """By way of float32 the first would be 1.0: each of these lies beside the middle of two float16 values."""
    middle = np.float64(1.00048828125)
    tricky = [
        np.nextafter(middle, 2),
        middle,
        np.nextafter(middle, 0),
        -np.nextafter(middle, 2),
        65519.999999999,
        65520.0,
    ]
    tricky += [
        2.0**-25,
        np.nextafter(2.0**-25, 1),
        2.0**-24,
        1e-300,
        -1e-300,
        1e300,
        math.inf,
        -math.inf,
        math.nan,
        0.0,
    ]
    values = np.array(tricky)
    result = flat.elementwise(lambda x: make.cast("float16", x), [values], lanes)
    with np.errstate(all="ignore"):
        flat.same(result, values.astype("float16"))
    assert result[0] == np.float16(1.0009765625)


def test_integers_become_bfloat16_in_one_rounding(flat):
    """2**24 + 2**16 + 1 is past the middle of two bfloat16 values; float32 would cut the 1 first."""
    values = np.array([2**24 + 2**16 + 1, 2**30 + 2**22 + 1, -(2**24 + 2**16 + 1), 2**31 - 1], "int32")
    flat.same(flat.elementwise(lambda x: make.cast("bfloat16", x), [values]), reference(values, "bfloat16"))
    wide = np.array([2**60 + 2**52 + 1, 2**60 + 2**52, 2**62 + 2**54 - 1, -(2**60 + 2**52 + 1)], "int64")
    flat.same(flat.elementwise(lambda x: make.cast("bfloat16", x), [wide]), reference(wide, "bfloat16"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_16_bit_float_survives_a_round_trip(flat, dtype):
    """Infinities and NaN too; a NaN may lose its payload."""
    numbers = np.arange(2**16, dtype="uint16").view(DType(dtype).numpy)
    for lanes in (1, 16):
        for through in ("float32", "float64", dtype):
            result = flat.elementwise(lambda x, t=through: make.cast(dtype, make.cast(t, x)), [numbers], lanes)
            flat.same(result, numbers)
    again = flat.elementwise(lambda x: make.mul(x, make.const(1.0, dtype)), [numbers], 8)
    flat.same(again, numbers)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_copies_keep_nan_and_infinity(flat, lanes):
    values = np.array([math.nan, math.inf, -math.inf, 1.5] * 4, ml_dtypes.bfloat16)
    flat.same(flat.elementwise(lambda x: x, [values], lanes), values)


def test_float16_without_conversion_instructions(flat, monkeypatch):
    """An x86-64 CPU before F16C converts by integer arithmetic: the same bits, and no library call to be missed."""
    old = Cpu("x86-64", "")
    monkeypatch.setattr(llvm, "cpu", lambda name="", mattr="": old)
    numbers = np.arange(2**16, dtype="uint16").view("float16")
    flat.same(flat.elementwise(lambda x: make.cast("float32", x), [numbers], 4), numbers.astype("float32"))
    random = np.random.default_rng(0).integers(0, 2**32, 4096, dtype="uint32").view("float32")
    edges = np.array([65519.996, 65520.0, 6.1e-5, 5.96e-8, 2.98e-8, 2.9802326e-8, 0.0, math.inf], "float32")
    values = np.concatenate([random, edges, -edges])
    with np.errstate(all="ignore"):
        flat.same(flat.elementwise(lambda x: make.cast("float16", x), [values], 8), values.astype("float16"))
        half = flat.samples("float16", 256, 12)
        flat.same(flat.elementwise(make.mul, [half, half], 8), half * half)


def test_no_conversion_is_a_library_call(flat):
    for name in ("", "x86-64"):
        chosen = llvm_compile.cpu(name) if not name else Cpu(name, "")
        text = "\n".join(_conversions(chosen))
        assert not any(symbol in text for symbol in ("__trunc", "__extend", "__gnu_", "__fix", "__float"))


def _conversions(cpu: Cpu):
    from tecomp.dtype import INDEX
    from tecomp.ir.func import Func, Level
    from tecomp.ir.stmt import Buffer, Store

    for source in FLOATS:
        for target in ALL:
            shape = (make.const(8, INDEX),)
            a, b = Buffer("a", shape, DType(source)), Buffer("b", shape, DType(target))
            value = make.cast(target, make.load(a, [make.const(0, INDEX)]))
            func = Func("f", (a, b), (b,), Store(b, (make.const(0, INDEX),), value, make.TRUE), Level.FLAT)
            yield llvm_compile.assembly(llvm.module_text(func, cpu), cpu)


def test_exact_reference_is_exact():
    """The reference itself: 1 + 2**-11 + 2**-40 is nearer to 1 + 2**-10 than to 1."""
    assert rounded(Fraction(1) + Fraction(1, 2**11) + Fraction(1, 2**40), DType("float16")) == 1 + 2**-10
