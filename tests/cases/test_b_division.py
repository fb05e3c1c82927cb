"""Group B: floor and truncated division, and what the simplifier makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tecomp.arith import bounds_of, simplify
from tecomp.dtype import INDEX
from tecomp.ir import make
from tecomp.ir.axis import Range
from tecomp.ir.expr import Var
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def vectorized(tensor, factor):
    s = te.create_schedule(tensor.op)
    s[tensor].vectorize(s[tensor].split(tensor.op.axis[-1], factor)[1])
    return s


def over_threads(factor, *tensors):
    s = te.create_schedule([tensor.op for tensor in tensors])
    for tensor in tensors:
        bound(s, tensor, factor)
    return s


def numpy_trunc(values, divisor):
    """C's quotient and remainder."""
    quotient = (np.abs(values) // abs(divisor) * np.sign(values) * np.sign(divisor)).astype(values.dtype)
    return quotient, values - quotient * divisor


@pytest.mark.parametrize("divisor", [3, -3, 4, -4, 1, 7])
@pytest.mark.parametrize("shift", [10, 0])
def test_a_remainder_compared(cpu, divisor, shift):
    """tvm PR 4127: floor and truncation, of negative numerators, as an axis and as data."""
    X, x, outputs = compared(divisor, shift)
    for F, want in outputs.items():
        cpu(vectorized(F, 4), [X, F])({X: x}, {F: want})


@pytest.mark.parametrize("divisor", [3, -4])
def test_a_remainder_compared_on_cuda(cuda, divisor):
    X, x, outputs = compared(divisor, 10)
    cuda(over_threads(8, *outputs), [X, *outputs])({X: x}, outputs)


def compared(divisor, shift):
    """Return an input, its value, and what each division is other than 0, by axis and by data."""
    X = te.placeholder((20,), "int32", name="X")
    x = np.arange(20, dtype="int32") - shift
    forms = [(te.floordiv, x // divisor), (te.floormod, x % divisor)]
    forms += zip((te.truncdiv, te.truncmod), numpy_trunc(x, divisor), strict=True)
    outputs = {}
    for form, want in forms:
        for value in (lambda i: i - shift, lambda i: X[i]):
            F = te.compute(
                (20,), lambda i, form=form, value=value: te.Select(form(value(i), divisor) != 0, 1, 0), name="F"
            )
            outputs[F] = (want != 0).astype("int32")
    return X, x, outputs


@pytest.mark.parametrize("lanes", [3, 4, 5, 8, 16])
def test_lanes_that_cross_the_modulus(cpu, lanes):
    """tvm#8852: a vector of quotients is one number only where all lanes lie between two multiples."""
    n = te.var("n")
    X = te.placeholder((n,), "int32", name="X")
    for modulus in (4, 5, 64):
        D = te.compute((n,), lambda i, m=modulus: i // m, name="D")
        M = te.compute((n,), lambda i, m=modulus: i % m, name="M")
        s = te.create_schedule([D.op, M.op])
        for tensor in (D, M):
            s[tensor].vectorize(s[tensor].split(tensor.op.axis[0], lanes)[1])
        program = cpu(s, [X, D, M])
        for size in (*around(lanes), 80, 129):
            i = np.arange(size, dtype="int32")
            program({X: i}, {D: i // modulus, M: i % modulus})


@pytest.mark.parametrize("lanes", [3, 4, 5])
def test_lanes_that_cross_the_modulus_on_cuda(cuda, lanes):
    n = te.var("n")
    X = te.placeholder((n,), "int32", name="X")
    outputs = [
        te.compute((n,), lambda i, m=modulus, form=form: form(i, m) + X[i] * 0, name="F")
        for modulus in (4, 5, 64)
        for form in (te.floordiv, te.floormod)
    ]
    s = te.create_schedule([tensor.op for tensor in outputs])
    for tensor in outputs:
        outer, inner = s[tensor].split(tensor.op.axis[0], lanes)
        s[tensor].vectorize(inner)
        bound(s, tensor, 8, outer)
    program = cuda(s, [X, *outputs])
    for size in (*around(lanes), 80, 129):
        i = np.arange(size, dtype="int32")
        wanted = [value for modulus in (4, 5, 64) for value in (i // modulus, i % modulus)]
        program({X: i}, dict(zip(outputs, wanted, strict=True)))


@pytest.mark.parametrize(("step", "rest", "factor"), [(320, 255, 256), (4, 3, 8), (6, 1, 4), (3, 2, 32)])
def test_the_guard_of_a_length_with_a_remainder(cuda, step, rest, factor):
    """tvm PR 19978: the remainder of the length came out as an empty interval, and the guard was dropped."""
    n = te.var("n")
    A = te.placeholder((n * step + rest,), name="A")
    B = te.compute((n * step + rest,), lambda i: A[i] + 1, name="B")
    program = cuda(over_threads(factor, B), [A, B])
    for size in range(8):
        a = DATA.random(size * step + rest, "float32")
        program({A: a}, {B: a + np.float32(1)})


@pytest.mark.parametrize(("step", "rest", "factor"), [(320, 255, 256), (4, 3, 8), (3, 2, 32)])
def test_the_tail_of_a_length_with_a_remainder(cpu, step, rest, factor):
    n = te.var("n")
    A = te.placeholder((n * step + rest,), name="A")
    B = te.compute((n * step + rest,), lambda i: A[i] + 1, name="B")
    program = cpu(vectorized(B, factor), [A, B])
    for size in range(8):
        a = DATA.random(size * step + rest, "float32")
        program({A: a}, {B: a + np.float32(1)})


@pytest.mark.parametrize(
    ("step", "rest", "modulus", "ends"),
    [(320, 255, 256, (63, 255)), (4, 3, 8, (3, 7)), (6, 1, 4, (1, 3)), (3, 2, 32, (0, 31)), (256, 7, 256, (7, 7))],
)
def test_the_interval_of_a_remainder(step, rest, modulus, ends):
    """tvm PR 19978: (320 n + 255) % 256 is 63, 127, 191 or 255."""
    zero = make.const(0, INDEX)
    n = Var("n", INDEX, zero, make.const(1000, INDEX))
    remainder = simplify((n * step + rest) % modulus)
    low, high = bounds_of(remainder, {n: Range(zero, make.const(1000, INDEX))})
    assert (int(low.value), int(high.value)) == ends


@pytest.mark.parametrize("form", ["//", "%", "truncdiv", "truncmod"])
def test_division_by_the_constant_zero(refused, form):
    """tvm PR 8961: an internal check failed."""
    apply = {"//": te.floordiv, "%": te.floormod, "truncdiv": te.truncdiv, "truncmod": te.truncmod}[form]
    A = te.placeholder((8,), "int32", name="A")
    with refused(f"""
        division by zero
          because: the divisor of {form} is the constant 0
        """):
        te.compute((8,), lambda i: apply(A[i], 0), name="B")


def test_a_reduce_axis_that_takes_zero_as_a_divisor(refused):
    """tvm#15199: found only after the loop was unrolled."""
    A = te.placeholder((8,), "int32", name="A")
    r = te.reduce_axis((0, 2), name="r")
    with refused("""
        division by zero in stage 'B': divisor r takes value 0
          because: it divides in (i + 2) % r
          legal: a divisor that is never 0, or te.if_then_else(divisor != 0, ..., otherwise)
        """):
        te.compute((6,), lambda i: te.max(A[te.floormod(i + 2, r)], axis=r), name="B")


@pytest.mark.parametrize("choose", [te.if_then_else, te.Select])
def test_a_divisor_that_is_zero_only_in_the_branch_not_taken(cpu, choose):
    """Of an axis, and of data; the eager choice is made lazy for it."""
    inputs, B, C, wanted = chosen_divisors(choose)
    s = te.create_schedule([B.op, C.op])
    s[C].vectorize(s[C].split(C.op.axis[0], 4)[1])
    cpu(s, [*inputs, B, C])(inputs, wanted)


@pytest.mark.parametrize("choose", [te.if_then_else, te.Select])
def test_a_divisor_that_is_zero_only_in_the_branch_not_taken_on_cuda(cuda, choose):
    inputs, B, C, wanted = chosen_divisors(choose)
    cuda(over_threads(4, B, C), [*inputs, B, C])(inputs, wanted)


def chosen_divisors(choose):
    A, D = te.placeholder((9,), "int32", name="A"), te.placeholder((9,), "int32", name="D")
    r = te.reduce_axis((0, 3), name="r")
    B = te.compute((9,), lambda i: te.sum(choose(r > 0, te.floormod(A[i], r), 0), axis=r), name="B")
    C = te.compute((9,), lambda i: choose(D[i] != 0, A[i] // D[i], choose(A[i] != 0, 9 % A[i], -1)), name="C")
    a, d = DATA.integers(-3, 3, 9).astype("int32"), DATA.integers(-1, 2, 9).astype("int32")
    with np.errstate(divide="ignore"):
        quotients = np.where(d != 0, a // d, np.where(a != 0, 9 % a, -1)).astype("int32")
    return {A: a, D: d}, B, C, {B: a % 1 + a % 2, C: quotients}


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_division(cpu, dtype):
    """taichi#6118: 3583196299 % 524288 was done with signs."""
    A, B = te.placeholder((16,), dtype, name="A"), te.placeholder((16,), dtype, name="B")
    D = te.compute((16,), lambda i: A[i] // B[i], name="D")
    M = te.compute((16,), lambda i: A[i] % B[i], name="M")
    a, b, quotient, remainder = unsigned(dtype)
    s = te.create_schedule([D.op, M.op])
    s[M].vectorize(M.op.axis[0])
    cpu(s, [A, B, D, M])({A: a, B: b}, {D: quotient, M: remainder})


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_division_by_a_constant(cpu, dtype):
    A = te.placeholder((16,), dtype, name="A")
    a = unsigned(dtype)[0]
    for divisor in (3, 64, int(np.iinfo(dtype).max), int(np.iinfo(dtype).max) // 2 + 1):
        F = te.compute((16,), lambda i, d=divisor: A[i] // d + A[i] % d, name="F")
        by = np.dtype(dtype).type(divisor)
        cpu(te.create_schedule(F.op), [A, F])({A: a}, {F: a // by + a % by})


def test_unsigned_division_on_cuda(cuda):
    inputs, outputs = {}, {}
    for dtype in ("uint8", "uint32", "uint64"):
        A, B = te.placeholder((16,), dtype, name="A"), te.placeholder((16,), dtype, name="B")
        F = te.compute((16,), lambda i, A=A, B=B: A[i] // B[i] + A[i] % B[i], name="F")
        inputs[A], inputs[B], quotient, remainder = unsigned(dtype)
        outputs[F] = quotient + remainder
    cuda(over_threads(4, *outputs), [*inputs, *outputs])(inputs, outputs)


def unsigned(dtype):
    """Return numerators, half of them with the highest bit set, divisors, quotients and remainders."""
    most = np.iinfo(dtype).max
    a = DATA.integers(most // 2, most, 16, dtype=dtype, endpoint=True)
    b = DATA.integers(1, most, 16, dtype=dtype)
    a[:2], b[:2] = (most, 3583196299 % (most + 1)), (most // 2 + 1, min(524288, most))
    return a, b, a // b, a % b


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("least", [0, 1, 2, 3])
def test_a_convolution_over_padding_over_dilation(cpu, n, least):
    """tvm#15201: an index of the form max(2, axis), the stages in between inlined."""
    inputs, outputs, between = dilated_convolution(n, least)
    s = te.create_schedule([tensor.op for tensor in outputs])
    for tensor in between:
        s[tensor].compute_inline()
    cpu(s, [*inputs, *outputs])(inputs, outputs)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_a_convolution_over_padding_over_dilation_on_cuda(cuda, n):
    inputs, outputs, between = dilated_convolution(n, 2)
    s = over_threads(4, *outputs)
    for tensor in between:
        s[tensor].compute_inline()
    cuda(s, [*inputs, *outputs])(inputs, outputs)


def dilated_convolution(n, least):
    """Return the inputs and outputs with their values, and the stages in between."""
    A, W = te.placeholder((n,), name="A"), te.placeholder((3,), name="W")
    wide = 2 * n - 1
    dilated = te.compute((wide,), lambda i: te.if_then_else(i % 2 == 0, A[i // 2], 0.0), name="dilated")
    padded = te.compute(
        (wide + 4,), lambda i: te.if_then_else(te.all(i >= 2, i < wide + 2), dilated[i - 2], 0.0), name="padded"
    )
    r = te.reduce_axis((0, 3), name="r")
    C = te.compute((wide + 2,), lambda i: te.sum(padded[te.max(least, i) - te.max(least - i, 0) + r] * W[r], axis=r))
    D = te.compute((wide + 4,), lambda i: padded[te.min(te.max(2, i), wide + 3)], name="D")
    a, w = DATA.integers(-9, 9, n).astype("float32"), DATA.integers(-9, 9, 3).astype("float32")
    p = np.zeros(wide + 4, "float32")
    p[2 : 2 + wide : 2] = a
    want = np.convolve(p, w[::-1], "valid").astype("float32")
    read = p[np.minimum(np.maximum(2, np.arange(wide + 4)), wide + 3)]
    return {A: a, W: w}, {C: want, D: read}, (dilated, padded)


@pytest.mark.parametrize("scale", [2, 3, 4, 5])
def test_a_quotient_of_a_multiple_with_a_negative_part(cpu, scale):
    """tinygrad PR 9674: ((i - 7) * 4 + 3) // 4 is i - 7, and C's division says otherwise."""
    n = te.var("n")
    X = te.placeholder((n,), "int32", name="X")
    for rest in (0, 1, scale - 1, scale, -1, -scale):
        outputs = quotients(n, scale, rest)
        program = cpu(te.create_schedule([tensor.op for tensor in outputs]), [X, *outputs])
        check_quotients(program, X, outputs, scale, rest)


@pytest.mark.parametrize(("scale", "rest"), [(4, 3), (3, -1), (2, -2)])
def test_a_quotient_of_a_multiple_with_a_negative_part_on_cuda(cuda, scale, rest):
    n = te.var("n")
    X, outputs = te.placeholder((n,), "int32", name="X"), quotients(n, scale, rest)
    check_quotients(cuda(over_threads(4, *outputs), [X, *outputs]), X, outputs, scale, rest)


def quotients(n, scale, rest):
    return (
        te.compute((n,), lambda i: ((i - 7) * scale + rest) // scale, name="F"),
        te.compute((n,), lambda i: ((i - 7) * scale + rest) % (scale * 2), name="M"),
        te.compute((n,), lambda i: te.truncdiv((i - 7) * scale + rest, scale), name="T"),
    )


def check_quotients(program, X, outputs, scale, rest):
    for size in (0, 1, 7, 8, 13):
        x = np.arange(size, dtype="int32")
        v = (x - 7) * scale + rest
        program({X: x}, dict(zip(outputs, (v // scale, v % (scale * 2), numpy_trunc(v, scale)[0]), strict=True)))
