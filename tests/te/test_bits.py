"""Numbers as bits, products of packed bytes, fixed-point arithmetic: on LLVM, in the interpreter, as CUDA."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError, UserTypeError
from tecomp.ir import interpret

rng = np.random.default_rng(0)
N = 19
WORDS = [rng.integers(-(2**31), 2**31 - 1, N).astype("int32") for _ in range(3)]
FLOATS = np.concatenate([rng.standard_normal(N - 4), [np.inf, -0.0, np.nan, 1e-40]]).astype("float32")


def elementwise(formula, *arrays, dtype: str):
    """Return the results of LLVM in vectors and of the interpreter, which agree; the CUDA compiles."""
    inputs = [te.placeholder((N,), str(array.dtype), name=f"x{at}") for at, array in enumerate(arrays)]
    out = te.compute((N,), lambda i: formula(*(x[i] for x in inputs)), name="out")
    s = te.create_schedule(out.op)
    s[out].vectorize(s[out].split(out.op.axis[0], 8)[1])
    results = [np.zeros(N, dtype) for _ in range(2)]
    tecomp.build(s, [*inputs, out])(*arrays, results[0])
    interpret(tecomp.lower(s, [*inputs, out]), *arrays, results[1])
    np.testing.assert_array_equal(
        results[0].view(f"u{results[0].itemsize}"), results[1].view(f"u{results[1].itemsize}")
    )
    t = te.create_schedule(out.op)
    t[out].bind(out.op.axis[0], te.thread_axis("threadIdx.x"))
    tecomp.build(t, [*inputs, out], "cuda -arch=sm_80")
    return results[0]


@pytest.mark.parametrize(
    ("source", "result"),
    [("float32", "int32"), ("float32", "uint32"), ("float64", "int64"), ("float16", "uint16"), ("int32", "uint32")],
)
def test_reinterpret_there_and_back(source: str, result: str) -> None:
    values = FLOATS.astype(source) if source.startswith("float") else WORDS[0].astype(source)
    bits = elementwise(lambda x: te.reinterpret(result, x), values, dtype=result)
    np.testing.assert_array_equal(bits, values.view(result))
    again = elementwise(lambda x: te.reinterpret(source, x), bits, dtype=source)
    np.testing.assert_array_equal(again.view(result), bits)


def test_reinterpret_as_the_same_type_is_nothing() -> None:
    x = te.var("x", "float32")
    assert te.reinterpret("float32", x) is x


def test_reinterpret_of_lanes_as_others() -> None:
    bytes_ = tir.decl_buffer((64,), "int8", "bytes").vload(0, "int8x64")
    words = te.reinterpret("int32x16", bytes_)
    assert words.dtype == "int32x16" and words.name == "regroup"
    assert te.reinterpret("int32", tir.decl_buffer((4,), "int8").vload(0, "int8x4")).dtype == "int32"
    assert te.reinterpret("uint8", bytes_).dtype == "uint8x64"
    with pytest.raises(UserTypeError, match=r"te\.reinterpret of .* as int32x8"):
        te.reinterpret("int32x8", bytes_)


def test_dp4a_of_bytes() -> None:
    four = tir.decl_buffer((4,), "int8", "four").vload(0, "int8x4")
    assert repr(tir.dp4a(four, four, 1)).startswith("dp4a(regroup[i32](four[ramp(i32(0), i32(1), 4)])")


def test_dp4a() -> None:
    a, b, c = WORDS
    products = a.view("int8").reshape(N, 4).astype("int32") * b.view("int8").reshape(N, 4)
    np.testing.assert_array_equal(elementwise(te.dp4a, a, b, c // 2, dtype="int32"), products.sum(1) + c // 2)
    u, v = a.view("uint32"), b.view("uint32")
    products = u.view("uint8").reshape(N, 4).astype("uint32") * v.view("uint8").reshape(N, 4)
    np.testing.assert_array_equal(elementwise(lambda x, y: te.dp4a(x, y, 7), u, v, dtype="uint32"), products.sum(1) + 7)


@pytest.mark.parametrize(("q", "s"), [(31, 0), (31, -3), (15, 2), (31, 4), (0, 0)])
def test_q_multiply_shift(q: int, s: int) -> None:
    a, b = (word >> 16 for word in WORDS[:2])
    got = elementwise(lambda x, y: te.q_multiply_shift(x, y, q, s), a, b, dtype="int32")
    np.testing.assert_array_equal(got, fixed(a, b, max(s, 0), q + max(-s, 0)))


@pytest.mark.parametrize("required", [(True, True), (False, True), (True, False)])
def test_q_multiply_shift_per_axis(required: tuple[bool, bool]) -> None:
    a, b, shifts = (word >> 16 for word in WORDS)
    left, right = shifts & 3, (shifts >> 2) & 7
    got = elementwise(
        lambda x, y, l, r: te.q_multiply_shift_per_axis(x, y, l, r, 15, *required), a, b, left, right, dtype="int32"
    )
    np.testing.assert_array_equal(got, fixed(a, b, left * required[0], 15 + right * required[1]))


def fixed(a, b, left, right):
    """x * y * 2 ** (left - right), halves up."""
    down = np.broadcast_to(np.asarray(right, "int64"), a.shape)
    half = np.where(down > 0, 1 << np.maximum(down - 1, 0), 0)
    return (((a.astype("int64") << left) * b + half) >> down).astype("int32")


@pytest.mark.parametrize(
    ("call", "kind", "because"),
    [
        (lambda: te.reinterpret("int64", te.var("x")), UserTypeError, "it is int32, of other bits"),
        (lambda: te.reinterpret("bool", te.var("x", "int8")), UserTypeError, "it is int8, of other bits"),
        (lambda: te.dp4a(te.var("x", "int8"), te.var("y", "int8")), UserTypeError, "they are int8, int8 and int8"),
        (lambda: te.q_multiply_shift(te.var("x", "int64"), 1, 31, 0), UserTypeError, "it is int64"),
        (lambda: tir.vectorlow(te.var("x")), UserError, "an expression is a scalar: a schedule makes vectors of it"),
    ],
)
def test_refusals(call, kind, because: str) -> None:
    with pytest.raises(UserError) as caught:
        call()
    assert (type(caught.value), caught.value.because) == (kind, because) and caught.value.legal
