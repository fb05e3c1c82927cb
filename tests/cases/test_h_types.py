"""Group H: small floats, bool, unsigned integers, NaN and conversions; the CPU and CUDA say the same."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tecomp import te
from tests.cases.tiling import bound

DATA = np.random.default_rng(0)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SPECIAL = np.array([1, np.nan, -1, np.inf, -np.inf, 0.0, -0.0, 2.5, np.nan, -3, 6, 8], "float32")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def numpy_dtype(dtype):
    return BFLOAT16 if dtype == "bfloat16" else np.dtype(dtype)


def schedule(outputs, factor=0, cuda=False):
    """Split the last loop of each output by `factor` into lanes; for CUDA, the other loops onto blocks and threads."""
    s = te.create_schedule([tensor.op for tensor in outputs])
    for tensor in outputs:
        axes = list(tensor.op.axis)
        if factor:
            axes[-1], lanes = s[tensor].split(axes[-1], factor)
            s[tensor].vectorize(lanes)
        if cuda:
            bound(s, tensor, 4, s[tensor].fuse(*axes))
    return s


def pool():
    A = te.placeholder((9, 14), "float16", name="A")
    u, v = te.reduce_axis((0, 2), name="u"), te.reduce_axis((0, 2), name="v")
    M = te.compute((4, 7), lambda i, j: te.max(A[i * 2 + u, j * 2 + v], axis=[u, v]), name="M")
    k = te.reduce_axis((0, 14), name="k")
    S = te.compute((9,), lambda i: te.sum(A[i, k], axis=k), name="S")
    return A, M, S


def check_pool(program, A, M, S):
    a = DATA.standard_normal((9, 14)).astype("float16")
    program(
        {A: a},
        {M: a[:8].reshape(4, 2, 7, 2).max((1, 3)), S: a.sum(1, dtype="float32").astype("float16")},
        near=4e-2,
    )


def test_reductions_of_float16(cpu):
    """tvm#3810, #4331."""
    A, M, S = pool()
    check_pool(cpu(schedule([M, S]), [A, M, S]), A, M, S)


def test_reductions_of_float16_on_cuda(cuda):
    A, M, S = pool()
    check_pool(cuda(schedule([M, S], cuda=True), [A, M, S]), A, M, S)


def bfloat16_maths():
    A, B = te.placeholder((12,), "bfloat16", name="A"), te.placeholder((12,), "bfloat16", name="B")
    inf = te.infinity("bfloat16")
    forms = {
        "exp": (lambda i: te.exp(A[i]), lambda a, b: np.exp(a)),
        "rsqrt": (lambda i: te.rsqrt(te.abs(A[i]) + 1), lambda a, b: 1 / np.sqrt(bf16(np.abs(a) + 1))),
        "min": (lambda i: te.min(A[i], B[i]), np.minimum),
        "max": (lambda i: te.max(A[i], B[i]), np.maximum),
        "clip": (lambda i: te.min(A[i], inf), lambda a, b: a),
        "inf": (lambda i: te.Select(A[i] < inf, A[i], -inf), lambda a, b: np.where(a < np.inf, a, -np.inf)),
    }
    outputs = [te.compute((12,), form, name=name) for name, (form, _) in forms.items()]
    return A, B, outputs, [want for _, want in forms.values()]


def bf16(values):
    return np.asarray(values, "float32").astype(BFLOAT16).astype("float32")


def check_bfloat16(program, A, B, outputs, wanted):
    a, b = SPECIAL.astype(BFLOAT16), np.roll(SPECIAL, 5).astype(BFLOAT16)
    with np.errstate(all="ignore"):
        results = [want(a.astype("float32"), b.astype("float32")).astype(BFLOAT16) for want in wanted]
    program({A: a, B: b}, dict(zip(outputs, results, strict=True)), near=1e-2)


@pytest.mark.parametrize("lanes", [0, 4, 8])
def test_bfloat16(cpu, lanes):
    """TL PR 2402, 2386, 1143: exp called itself; rsqrt, min, max and inf were missing."""
    A, B, outputs, wanted = bfloat16_maths()
    check_bfloat16(cpu(schedule(outputs, lanes), [A, B, *outputs]), A, B, outputs, wanted)


def test_bfloat16_on_cuda(cuda):
    A, B, outputs, wanted = bfloat16_maths()
    check_bfloat16(cuda(schedule(outputs, cuda=True), [A, B, *outputs]), A, B, outputs, wanted)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_specials_of_bfloat16_in_vectors(cpu, lanes):
    """TL PR 2873: NaN and Inf were lost when packed."""
    check_copies(cpu, lanes, False)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_specials_of_bfloat16_in_vectors_on_cuda(cuda, lanes):
    check_copies(cuda, lanes, True)


def check_copies(place, lanes, on_cuda):
    A, F = te.placeholder((12,), "bfloat16", name="A"), te.placeholder((12,), "float32", name="F")
    copy = te.compute((12,), lambda i: A[i], name="copy")
    packed = te.compute((12,), lambda i: F[i].astype("bfloat16"), name="packed")
    wide = te.compute((12,), lambda i: A[i].astype("float32"), name="wide")
    s = schedule([copy, packed, wide], lanes, cuda=on_cuda)
    a = SPECIAL.astype(BFLOAT16)
    place(s, [A, F, copy, packed, wide])({A: a, F: SPECIAL}, {copy: a, packed: a, wide: a.astype("float32")})


BITS = {"float16": 11, "bfloat16": 8, "float32": 24}


def rounded(value, dtype):
    """Return a number rounded once, to nearest even, to the significant bits of `dtype`; no overflow, no subnormals."""
    exact = Fraction(value)
    if exact == 0:
        return 0.0
    exponent = np.frexp(float(exact))[1] - BITS[dtype]
    unit = Fraction(2) ** int(exponent)
    return float(round(exact / unit) * unit)


WIDE = {"float64": None, "int32": 30, "uint32": 31, "int64": 62, "uint64": 63}
"""Types of more bits than those, with the exponent of a large number for an integer."""


def halfway(source, dtype):
    """Return numbers of `source` just beside the middle of two neighbours in `dtype`, and in the middle."""
    half = Fraction(1, 2 ** BITS[dtype])
    middles = [1 + half, 1 + 3 * half, Fraction(3, 2) + half, -(1 + half)]
    if source == "float64":
        beside = [float(m) for m in middles]
        return np.array([[np.nextafter(b, -3.0), b, np.nextafter(b, 3.0)] for b in beside]).ravel()
    scale = 2**14 if dtype == "float16" else 2 ** WIDE[source]
    return np.array([int(m * scale) + d for m in middles[: 3 if source[0] == "u" else 4] for d in (-1, 0, 1)], source)


@pytest.mark.parametrize("source", WIDE)
@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize("lanes", [0, 4])
def test_conversions_round_once(cpu, source, dtype, lanes):
    """Halide PR 8906: by way of float32, nextafter(1.00048828125, 2) became 1.0 in float16."""
    A, B, a, want = conversion(source, dtype)
    cpu(schedule([B], lanes), [A, B])({A: a}, {B: want})


def test_conversions_round_once_on_cuda(cuda):
    inputs, outputs = {}, {}
    for source in WIDE:
        for dtype in BITS:
            A, B, inputs[A], outputs[B] = conversion(source, dtype)
    cuda(schedule(outputs, cuda=True), [*inputs, *outputs])(inputs, outputs)


def conversion(source, dtype):
    a = halfway(source, dtype)
    A = te.placeholder(a.shape, source, name="A")
    B = te.compute(a.shape, lambda i: A[i].astype(dtype), name="B")
    want = np.array([rounded(value.item(), dtype) for value in a]).astype(numpy_dtype(dtype))
    return A, B, a, want


def test_a_bool_times_a_float(refused):
    """tvm#12375: it crashed."""
    A, B = te.placeholder((2, 2), "float16", name="A"), te.placeholder((2, 2), "bool", name="B")
    with refused("""
        * of bools
          because: bool is no number
          legal: te.any, te.all, te.if_then_else, or .astype('int32')
        """):
        te.compute((2, 2), lambda i, j: A[i, j] * B[i, j], name="C")


def bools():
    A, B = te.placeholder((2, 3), "float16", name="A"), te.placeholder((3,), "bool", name="B")
    T = te.placeholder((3, 3), name="T")
    product = te.compute((2, 3), lambda i, j: A[i, j] * B[j].astype("float16"), name="product")
    truth = te.compute((2, 3), lambda i, j: A[i, j].astype("bool"), name="truth")
    both = te.compute((2, 3), lambda i, j: te.all(A[i, j] > 0, B[j]), name="both")
    picked = te.compute((2, 3), lambda i, j: T[B[j], A[i, j] > 0], name="picked")
    return A, B, T, [product, truth, both, picked]


def check_bools(program, A, B, T, outputs):
    a = np.array([[0.3, -0.0, 0.0], [2.0, np.nan, -1.5]], "float16")
    b, t = np.array([True, False, True]), DATA.random((3, 3), "float32")
    wanted = [a * b, a != 0, (a > 0) & b, t[np.broadcast_to(b, a.shape).astype(int), (a > 0).astype(int)]]
    program({A: a, B: b, T: t}, dict(zip(outputs, wanted, strict=True)))


@pytest.mark.parametrize("lanes", [0, 2])
def test_bools(cpu, lanes):
    """tvm PR 3207: converted from and to floats, joined, as an index; -0.0 is false and NaN is true."""
    A, B, T, outputs = bools()
    check_bools(cpu(schedule(outputs, lanes), [A, B, T, *outputs]), A, B, T, outputs)


def test_bools_on_cuda(cuda):
    A, B, T, outputs = bools()
    check_bools(cuda(schedule(outputs, cuda=True), [A, B, T, *outputs]), A, B, T, outputs)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
@pytest.mark.parametrize("n", [1, 2, 3, 13])
def test_magnitudes_of_unsigned_numbers(cpu, dtype, n):
    """TL PR 2845: sums wrap in the declared type, and a wider one is had by asking for it."""
    A = te.placeholder((n,), dtype, name="A")
    k, l, m = (te.reduce_axis((0, n), name=name) for name in "klm")
    most = te.compute((), lambda: te.max(te.abs(A[k]), axis=k), name="most")
    total = te.compute((), lambda: te.sum(te.abs(A[l]), axis=l), name="total")
    wide = te.compute((), lambda: te.sum(te.abs(A[m]).astype("uint64"), axis=m), name="wide")
    s = te.create_schedule([most.op, total.op, wide.op])
    a = DATA.integers(np.iinfo(dtype).max // 2, np.iinfo(dtype).max, n, dtype, endpoint=True)
    wanted = {most: a.max(), total: a.sum(dtype=dtype), wide: a.sum(dtype="uint64")}
    cpu(s, [A, most, total, wide])({A: a}, {tensor: np.asarray(value) for tensor, value in wanted.items()})


def not_numbers(dtype):
    """Every operation that might lose a NaN, with the operands in both orders."""
    A, B = te.placeholder((12,), dtype, name="A"), te.placeholder((12,), dtype, name="B")
    low, high = te.const(-1, dtype), te.const(2, dtype)
    k, l = te.reduce_axis((0, 12), name="k"), te.reduce_axis((0, 12), name="l")
    M = te.placeholder((12, 12), dtype, name="M")
    forms = {
        "max": (lambda i: te.max(A[i], B[i]), lambda a, b, m: np.maximum(a, b)),
        "min": (lambda i: te.min(A[i], B[i]), lambda a, b, m: np.minimum(a, b)),
        "relu": (lambda i: te.max(A[i], te.const(0, dtype)), lambda a, b, m: np.maximum(a, 0)),
        "relu_": (lambda i: te.max(te.const(0, dtype), A[i]), lambda a, b, m: np.maximum(a, 0)),
        "clip": (lambda i: te.clip(A[i], low, high), lambda a, b, m: np.clip(a, -1, 2)),
        "most": (lambda i: te.max(M[i, k], axis=k), lambda a, b, m: m.max(1)),
        "least": (lambda i: te.min(M[i, l], axis=l), lambda a, b, m: m.min(1)),
    }
    outputs = [te.compute((12,), form, name=name) for name, (form, _) in forms.items()]
    p, q = te.reduce_axis((0, 12), name="p"), te.reduce_axis((0, 12), name="q")
    first = te.compute((12,), lambda i: te.argmax((p.var, M[i, p]), axis=p), name="first")
    last = te.compute((12,), lambda i: te.argmin((q.var, M[i, q]), axis=q), name="last")
    return (A, B, M), outputs, [want for _, want in forms.values()], (first[0], last[0])


def check_not_numbers(place, dtype, lanes, on_cuda):
    inputs, outputs, wanted, (first, last) = not_numbers(dtype)
    kind = numpy_dtype(dtype)
    a, b = SPECIAL.astype(kind), np.roll(SPECIAL, 1).astype(kind)
    m = np.array([np.roll(SPECIAL, r) if r % 2 else DATA.standard_normal(12) for r in range(12)]).astype(kind)
    results = [want(*(x.astype("float64") for x in (a, b, m))).astype(kind) for want in wanted]
    w = m.astype("float64")
    places = {first: w.argmax(1).astype("int32"), last: w.argmin(1).astype("int32")}
    s = schedule([*outputs, first, last], lanes, cuda=on_cuda)
    args = [*inputs, *outputs, *first.op.outputs, *last.op.outputs]
    values = {first.op.output(1): m.max(1) if dtype != "bfloat16" else w.max(1).astype(kind)}
    values[last.op.output(1)] = w.min(1).astype(kind)
    place(s, args)(
        dict(zip(inputs, (a, b, m), strict=True)), {**dict(zip(outputs, results, strict=True)), **places, **values}
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("lanes", [0, 4])
def test_nan(cpu, dtype, lanes):
    """tvm#19579, #19518: NumPy's rule, whatever the order of operands."""
    check_not_numbers(cpu, dtype, lanes, False)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_on_cuda(cuda, dtype):
    check_not_numbers(cuda, dtype, 0, True)


def copies():
    A, F = te.placeholder((6,), "int64", name="A"), te.placeholder((6,), name="F")
    narrow = te.compute((6,), lambda i: A[i].astype("int32"), name="narrow")
    whole = te.compute((6,), lambda i: F[i].astype("int32"), name="whole")
    return A, F, narrow, whole


def check_narrowing(program, A, F, narrow, whole):
    a = np.array([0, -1, 2**31 - 1, 2**31, -(2**31) - 1, 2**40 + 7])
    f = np.array([-2.7, 2.7, -0.5, 0.5, 1e6, -1e6], "float32")
    program({A: a, F: f}, {narrow: a.astype("int32"), whole: np.trunc(f).astype("int32")})


@pytest.mark.parametrize("lanes", [0, 4])
def test_narrowing_copies(cpu, lanes):
    """TL PR 2771: as an assignment converts; floats to integers lose their fraction."""
    A, F, narrow, whole = copies()
    check_narrowing(cpu(schedule([narrow, whole], lanes), [A, F, narrow, whole]), A, F, narrow, whole)


def test_narrowing_copies_on_cuda(cuda):
    A, F, narrow, whole = copies()
    check_narrowing(cuda(schedule([narrow, whole], cuda=True), [A, F, narrow, whole]), A, F, narrow, whole)
