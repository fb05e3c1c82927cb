"""Expressions as CUDA C++: parentheses, types, wrap-around, division, rounding."""

from __future__ import annotations

import pytest

from tecomp.codegen.cuda_expr import ExprPrinter
from tecomp.codegen.cuda_prelude import prelude
from tecomp.codegen.cuda_types import C_TYPES
from tecomp.dtype import DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.stmt import Buffer
from tests.codegen.cuda_programs import compiles

i, j, n = (
    E.Var("i", DType("int32"), make.const(0), make.const(1000)),
    E.Var("j", DType("int32")),
    E.Var("n", DType("int64")),
)
"""i is an index that fits, j and n are data."""


def read(name: str, dtype: str) -> E.Load:
    """Return an element of an array: data of which nothing is known."""
    return make.load(Buffer(name, (make.const(8),), DType(dtype)), [make.const(0)])


x, y, z = (read(name, "float32") for name in "xyz")
a, b = (read(name, "int32") for name in "ab")
la, lb = (read(name, "int64") for name in ("la", "lb"))
ca, cb = (read(name, "int8") for name in ("ca", "cb"))
sa, sb = (read(name, "uint16") for name in ("sa", "sb"))
ua, ub = (read(name, "uint32") for name in ("ua", "ub"))
h, g = (read(name, "float16") for name in "hg")
p, q = (read(name, "bool") for name in "pq")
w, d = read("w", "bfloat16"), read("d", "float64")


def printed(expr: E.Expr) -> str:
    """Return the text; it compiles."""
    printer = ExprPrinter()
    printer.integers.index(i)
    parameters = []
    for node in dict.fromkeys(part for part in leaves(expr)):
        thing = node.buffer if isinstance(node, E.Load) else node
        printer.names[thing] = thing.name
        pointer = "*" if isinstance(thing, Buffer) else ""
        parameters.append(f"{C_TYPES[thing.dtype]}{pointer} {thing.name}")
    text = printer.text(expr).text
    head = ", ".join([f"{C_TYPES[expr.dtype]}* out", *parameters])
    kernel = f'extern "C" __global__ void k({head}) {{ out[0] = {text}; }}'
    compiles("\n".join([prelude(kernel), kernel]))
    return text.replace("[0]", "")


def leaves(expr: E.Expr) -> list[E.Var | E.Load]:
    """Return the variables and reads of an expression."""
    found: list[E.Var | E.Load] = []
    stack = [expr]
    while stack:
        node = stack.pop()
        found += [node] if isinstance(node, (E.Var, E.Load)) else []
        stack += reversed(node.operands())
    return found


PARENTHESES = [
    (x - (y - z), "x - (y - z)"),
    (x - y - z, "x - y - z"),
    (x + (y + z), "x + (y + z)"),
    (x / (y * z), "x / (y * z)"),
    (x / y * z, "x / y * z"),
    ((x + y) * z, "(x + y) * z"),
    (x * y + z, "x * y + z"),
    (-(x + y), "-(x + y)"),
    (make.neg(-x), "-(-x)"),
    (x * make.neg(y), "x * -y"),
    (x - -1.5, "x - -1.5f"),
    (make.select(x < y, x, z) + 1.0, "(x < y ? x : z) + 1.0f"),
    (make.select(p, make.select(q, x, y), z), "p ? (q ? x : y) : z"),
    (make.select(p, x, make.select(q, y, z)), "p ? x : q ? y : z"),
    (make.logical_and(p, make.logical_or(q, x < y)), "p && (q || x < y)"),
    (make.logical_or(make.logical_and(p, q), x < y), "p && q || x < y"),
    (make.logical_not(x < y), "!(x < y)"),
    (make.logical_not(p), "!p"),
    (make.eq(p, x < y), "p == (x < y)"),
    (i % 2 * 5, "i % 2 * 5"),
    (5 * (i % 2), "5 * (i % 2)"),
    (i * 3 + (i + 1) // 4, "i * 3 + (i + 1) / 4"),
    (make.bitwise_and(a, b) + 1, "wrapping_add(a & b, 1)"),
    (make.bitwise_or(make.bitwise_and(ua, ub), ua), "ua & ub | ua"),
    (make.bitwise_and(make.bitwise_or(ua, ub), ua), "(ua | ub) & ua"),
]


@pytest.mark.parametrize(("expr", "text"), PARENTHESES, ids=[text for _, text in PARENTHESES])
def test_parentheses_stand_where_meaning_needs_them(expr: E.Expr, text: str) -> None:
    assert printed(expr) == text


TYPES = [
    (x.astype("int8"), "(signed char)(int)x"),
    (x.astype("uint32"), "(unsigned int)(long long)x"),
    (x.astype("uint64"), "float_to_unsigned(x)"),
    (x.astype("int32"), "(int)x"),
    (x.astype("bool"), "x != 0.0f"),
    (a.astype("bool"), "a != 0"),
    (p.astype("float32"), "(float)p"),
    ((a + b).astype("int64"), "(long long)wrapping_add(a, b)"),
    (d.astype("float16"), "half(d)"),
    (d.astype("bfloat16"), "bfloat16(d)"),
    (a.astype("float16"), "half((float)a)"),
    (a.astype("bfloat16"), "bfloat16((long long)a)"),
    (ua.astype("bfloat16"), "bfloat16((long long)ua)"),
    (ca.astype("bfloat16"), "bfloat16((float)ca)"),
    (h.astype("bfloat16"), "bfloat16((float)h)"),
    (h.astype("float64"), "(double)h"),
    (h.astype("bool"), "h != half(0.0f)"),
    (h + g, "half(h + g)"),
    (h * g + 1.5, "half(half(h * g) + half(1.5f))"),
    (-h, "half(-h)"),
    (make.maximum(h, g), "half(nan_max(h, g))"),
    (make.call("exp", "bfloat16", w), "bfloat16(expf(w))"),
    (make.call("isnan", "bool", h), "isnan(h)"),
    (make.maximum(x, y), "nan_max(x, y)"),
    (make.minimum(ca, cb), "min(ca, cb)"),
    (make.absolute(ca), "(signed char)abs(ca)"),
    (make.absolute(a), "wrapping_abs(a)"),
    (make.call("popcount", "int64", la), "(long long)__popcll(la)"),
    (make.call("clz", "int8", ca), "(signed char)(__clz((unsigned char)ca) - (32 - 8))"),
    (make.shift_left(a, 3), "(int)((unsigned int)a << 3)"),
    (make.shift_left(ua, 3), "ua << 3"),
    (make.shift_right(a, 3), "a >> 3"),
    (make.shift_left(a, b), "shift_left<int>(a, b)"),
]


@pytest.mark.parametrize(("expr", "text"), TYPES, ids=[text for _, text in TYPES])
def test_types(expr: E.Expr, text: str) -> None:
    assert printed(expr) == text


INTEGERS = [
    (a + b, "wrapping_add(a, b)"),
    (a * b - 1, "wrapping_sub(wrapping_mul(a, b), 1)"),
    (-la, "wrapping_sub(0ll, la)"),
    (ua * ub + 1, "ua * ub + 1u"),
    (ca + cb, "(signed char)(ca + cb)"),
    (sa * sb, "(unsigned short)((unsigned int)sa * sb)"),
    (i * 4 + i % 4, "i * 4 + i % 4"),
    (j * 4, "wrapping_mul(j, 4)"),
    (ca.astype("int32") * 4, "(int)ca * 4"),
    (i // 4, "i / 4"),
    ((i - 7) // 4, "floordiv<int>(i - 7, 4)"),
    ((i - 7) % 4, "floormod<int>(i - 7, 4)"),
    (a // b, "floordiv<int>(a, b)"),
    (ca % cb, "floormod<signed char>(ca, cb)"),
    (ua // 4, "ua / 4u"),
    (ua // ub, "floordiv<unsigned int>(ua, ub)"),
    (make.truncdiv(a, 4), "a / 4"),
    (make.truncmod(a, b), "truncmod<int>(a, b)"),
    (make.cast("int64", i) * 8 + n, "wrapping_add((long long)i * 8, n)"),
    (make.cast("int64", i) < n, "i < n"),
    (la % 8, "floormod<long long>(la, 8)"),
    (make.const(-(2**31)), "(-2147483647 - 1)"),
    (make.const(2**64 - 1, "uint64"), "18446744073709551615ull"),
    (make.const(float("-inf"), "float32"), "-INFINITY"),
    (make.const(float("nan"), "float64"), "(double)NAN"),
    (make.const(0.1, "float32"), "0.1f"),
    (make.const(1e-45, "float32"), "1e-45f"),
    (make.const(0.1, "float64"), "0.1"),
    (make.const(-0.0, "float32"), "-0.0f"),
]


@pytest.mark.parametrize(("expr", "text"), INTEGERS, ids=[text for _, text in INTEGERS])
def test_integers_wrap_and_divide_as_declared(expr: E.Expr, text: str) -> None:
    assert printed(expr) == text


def test_a_masked_load_is_read_only_where_its_mask_holds() -> None:
    mask = i < 3
    load = E.Load(x.buffer, (make.const(0),), mask)
    assert printed(load + 1.0) == "(i < 3 ? x : 0.0f) + 1.0f"
    printer = ExprPrinter()
    printer.names |= {x.buffer: "x", i: "i"}
    with printer.block():
        printer.assume(make.logical_and(q, mask))
        assert printer.text(load).text == "x[0]"
    assert printer.text(load).text == "i < 3 ? x[0] : 0.0f"


def test_a_condition_on_memory_is_tested_again() -> None:
    printer = ExprPrinter()
    printer.assume(p)
    assert not printer.holds(p)
