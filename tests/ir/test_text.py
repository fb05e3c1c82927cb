"""Printed programs: what they look like, that they are read back as they were, and that they are Python."""

from __future__ import annotations

import ast
import time
from typing import Any

import pytest

from tecomp.dtype import FLOAT32, INDEX, DType
from tecomp.ir import alpha_equal
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.alpha import difference
from tecomp.ir.func import Func, Level
from tecomp.ir.node import Expr
from tecomp.ir.parse import parse
from tecomp.ir.parse_expr import ParseError, parse_expr
from tecomp.ir.stmt import Alloc, Buffer, For, If, LoopKind, Seq
from tecomp.ir.subst import substitute
from tecomp.ir.text import text
from tecomp.ir.text_expr import Names
from tecomp.ir.verify import verify
from tests.ir.programs import PROGRAMS, axis, loop, store

i, j, k, n = (E.Var(name, INDEX) for name in "ijkn")
a, b = E.Var("a", DType("int32")), E.Var("b", DType("int32"))
x, y = E.Var("x", FLOAT32), E.Var("y", FLOAT32)
p, q, r = (E.Var(name, DType("bool")) for name in "pqr")
h = E.Var("h", DType("float16"))
B = Buffer("B", (n, n), FLOAT32)
S = Buffer("S", (), FLOAT32, "local")
V = E.Ramp(i, M.const(1, INDEX), 4)
W = E.Load(B, (i, V), M.TRUE)
NAMES: dict[str, Any] = {thing.name: thing for thing in (i, j, k, n, a, b, x, y, p, q, r, h, B, S)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_round_trip(name: str, golden: Any) -> None:
    func = PROGRAMS[name]()
    printed = text(func)
    golden(printed)
    ast.parse(printed)
    read = parse(printed)
    assert difference(func, read) == ""
    assert alpha_equal(read, func)
    assert parse(text(read)).level is func.level
    verify(func)
    verify(read)


EXPRESSIONS: list[tuple[Expr, str]] = [
    (a - (b - a), "a - (b - a)"),
    ((a - b) - a, "a - b - a"),
    (a - (b + a), "a - (b + a)"),
    (5 * (i % 2), "5 * (i % 2)"),
    ((5 * i) % 2, "5 * i % 2"),
    (x / (y * x), "x / (y * x)"),
    (x / y * x, "x / y * x"),
    (a % (b * a), "a % (b * a)"),
    ((a + b) * -1, "(a + b) * -1"),
    (M.neg(x), "x * -1.0"),
    (x * 0.1, "x * 0.1"),
    (h * 0.1, "h * 0.1"),
    (x + 1, "x + 1.0"),
    (M.const(3), "i32(3)"),
    (M.const(3, INDEX), "3"),
    (M.const(-1, "int8"), "i8(-1)"),
    (M.const(1.5, "float32"), "f32(1.5)"),
    (M.const(float("-inf"), "float64"), "f64(-inf)"),
    (M.const(float("nan"), "bfloat16"), "bf16(nan)"),
    (M.const(-0.0, "float32"), "f32(-0.0)"),
    (M.const(1e30, "float32"), "f32(1e+30)"),
    (M.const(2**64 - 1, "uint64"), "u64(18446744073709551615)"),
    (M.TRUE, "True"),
    (M.minimum(a, M.maximum(b, 3)), "min(a, max(b, 3))"),
    (M.truncdiv(a, b) + M.truncmod(a, 3), "truncdiv(a, b) + truncmod(a, 3)"),
    (M.lt(b, a), "b < a"),
    (a > b, "b < a"),
    (M.eq(M.lt(a, b), p), "(a < b) == p"),
    (M.logical_and(p, M.logical_or(q, r)), "p and (q or r)"),
    (M.logical_or(M.logical_and(p, q), r), "p and q or r"),
    (E.And(p, E.And(q, r)), "p and (q and r)"),
    (E.And(E.And(p, q), r), "p and q and r"),
    (E.Not(M.logical_and(p, q)), "not (p and q)"),
    (E.Not(x < y), "not x < y"),
    (E.Eq(E.Not(p), q), "(not p) == q"),
    (M.if_then_else(p, x, 0.0), "x if p else 0.0"),
    (M.if_then_else(p, x, y) + 1.0, "(x if p else y) + 1.0"),
    (M.if_then_else(p, M.if_then_else(q, x, y), x), "(x if q else y) if p else x"),
    (M.if_then_else(p, x, M.if_then_else(q, x, y)), "x if p else x if q else y"),
    (M.select(p, 1, a), "select(p, 1, a)"),
    (M.cast("float32", a), "f32(a)"),
    (E.Cast(FLOAT32, M.const(3)), "f32(i32(3))"),
    (E.Cast(FLOAT32, M.const(3, INDEX)), "f32(index(3))"),
    (M.cast("int32", i * 4 + 1), "i32(i * 4 + 1)"),
    (M.load(B, (i, j + 1)), "B[i, j + 1]"),
    (M.load(S, ()) * 2.0, "S * 2.0"),
    (E.Load(S, (), p), "S.where(p)[()]"),
    (E.Load(B, (i, V), E.Lt(V, E.Broadcast(n, 4))), "B.where(ramp(i, 1, 4) < n)[i, ramp(i, 1, 4)]"),
    (E.Add(W, E.Broadcast(M.const(1.0, "float32"), 4)), "B[i, ramp(i, 1, 4)] + 1.0"),
    (E.Add(E.Broadcast(x, 4), E.Broadcast(y, 4)), "broadcast(x, 4) + broadcast(y, 4)"),
    (E.Mul(E.Broadcast(x, 4), W), "x * B[i, ramp(i, 1, 4)]"),
    (E.Broadcast(M.const(0, INDEX), 8), "broadcast(0, 8)"),
    (M.bitwise_and(a, 255) | a << 2, "a & 255 | a << 2"),
    ((a >> 1) + b, "(a >> 1) + b"),
    (a ^ b & ~a, "a ^ b & (a ^ -1)"),
    (M.call("exp", "float32", x), "exp(x)"),
    (M.call("isnan", "bool", x), "isnan(x)"),
    (M.call("fma", "float32", x, y, 1.0), "fma(x, y, 1.0)"),
    (M.call("rank", "int32", x), "rank[i32](x)"),
    (M.call("max", "float32", x, y), "call('max', x, y)"),
    (M.call("a b", "float32"), "call[f32]('a b')"),
    (M.call("barrier_block", "int32"), "barrier_block()"),
    (E.Sub(E.Const(2, INDEX), E.Const(6, INDEX)), "2 - 6"),
    (E.Sub(M.const(2), M.const(6)), "i32(2) - i32(6)"),
]


@pytest.mark.parametrize(("expr", "printed"), EXPRESSIONS, ids=[printed for _, printed in EXPRESSIONS])
def test_expression(expr: Expr, printed: str) -> None:
    assert text(expr) == repr(expr) == printed
    assert parse_expr(printed, **NAMES) is expr


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_floats_are_read_back_exactly(kind: str) -> None:
    dtype = DType(kind)
    for number in (0.1, 1 / 3, 65504.0, 6e-8, 1e-30, 3.0e4, 123456.789e-3):
        constant = M.const(number, dtype)
        assert parse_expr(text(constant)) is constant


def test_names() -> None:
    one, other, word, odd = (E.Var(name, INDEX) for name in ("x", "x", "class", "2.x y"))
    assert text(one + other * 2 + word - odd) == "x + x_1 * 2 + class_ - _2_x_y"
    assert text(E.Var("f32", INDEX) + E.Var("inf", INDEX)) == "f32_ + inf_"


def large(kind: str) -> Expr:
    """Return an expression that Python cannot read in one piece."""
    value = M.load(B, (i, j))
    for term in range({"sum": 5000, "choices": 500, "differences": 500, "shared": 60}[kind]):
        match kind:
            case "sum":
                value = value + M.call("exp", "float32", x) * float(term)
            case "choices":
                value = M.if_then_else(M.lt(i, term), M.call("sin", "float32", x + float(term)), value)
            case "differences":
                value = M.maximum(float(term), x - (y - value * 2.0))
            case _:
                value = value * value
    return value


@pytest.mark.parametrize("kind", ["sum", "choices", "differences", "shared"])
def test_large_expressions_are_cut_into_parts(kind: str) -> None:
    rows, columns = axis("i", n), axis("j", n)
    value = substitute(large(kind), {i: rows, j: columns})
    body = loop(rows, loop(columns, store(B, (rows, columns), value)))
    func = Func("large", (B, x, y), (B,), body, Level.LOOPS)
    start = time.process_time()
    printed = text(func)
    assert "(part := " in printed
    assert max(map(len, printed.splitlines())) < 30_000
    assert difference(func, parse(printed)) == ""
    assert time.process_time() - start < 5.0


def test_parts_are_of_conditions_too() -> None:
    deep = M.lt(large("differences"), 1.0)
    inner = If(M.lt(x, 1.0), store(S, (), x), If(deep, store(S, (), y)))
    body = Alloc(S, Seq((If(deep, inner), For(axis("k", i + 1), LoopKind.SERIAL, store(S, (), x)))))
    func = Func("large", (B, x, y, i, j), (B,), body, Level.LOOPS)
    assert difference(func, parse(text(func))) == ""
    assert "elif" not in text(func)


def test_without_parts_python_refuses() -> None:
    with pytest.raises(ParseError, match="nested too deeply for Python"):
        parse_expr(text(large("sum")), **NAMES)
    with pytest.raises(ParseError, match="too many nested parentheses"):
        parse_expr(text(large("differences")), **NAMES)
    wide = "def f(X: f32[n]):\n    X[0] = " + text(large("sum")) + "\n"
    with pytest.raises(ParseError, match="nested too deeply for Python"):
        parse(wide)


def test_a_tensor_expression_prints_too() -> None:
    class Tensor:
        name, dtype = "A", FLOAT32

    class Sum:
        name, lhs, rhs, result, identity = "sum", (), (), (), ()

    class Axis:
        var = k

    read = E.TensorRead(Tensor(), (i, k))
    assert text(read * 2.0) == "A[i, k] * 2.0"
    reduce = E.Reduce(Sum(), (read,), (Axis(),), M.TRUE, (), 0)  # type: ignore[arg-type]
    assert text(reduce) == "sum(A[i, k], axis=[k])"
    pair = E.Reduce(Sum(), (read, read), (Axis(),), k < 3, (x, y), 1)  # type: ignore[arg-type]
    assert text(pair) == "sum(A[i, k], A[i, k], axis=[k], where=k < 3, init=[x, y])[1]"


def test_a_statement_prints_alone() -> None:
    func = PROGRAMS["scale"]()
    assert repr(func.body) == "for i in parallel(n):\n    Y[i] = X[i] * alpha + 0.1  # program.py:7"
    assert repr(func) + "\n" == text(func)


class Asked(set):
    """A set that counts how often it is asked for an element."""

    count = 0

    def __contains__(self, element):
        self.count += 1
        return super().__contains__(element)


def test_a_name_is_found_without_trying_all():
    names = Names()
    names.taken = Asked()
    things = [E.Var("i", INDEX) for _ in range(1000)]
    assert [names(thing) for thing in things] == ["i", *(f"i_{serial}" for serial in range(1, 1000))]
    assert names.taken.count == 1000


def test_a_released_name_is_given_again():
    names = Names()
    i, j, k, other = (E.Var("i", INDEX) for _ in range(4))
    assert [names(i), names(j), names(k)] == ["i", "i_1", "i_2"]
    names.release(j)
    assert [names(other), names(j)] == ["i_1", "i_3"]
