"""Names that tests of arithmetic write in expressions: sizes, loops over them, integers of every kind."""

from __future__ import annotations

from tecomp.dtype import BOOL, FLOAT32, INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.node import Expr
from tecomp.ir.parse_expr import parse_expr
from tecomp.ir.stmt import Buffer


def loop(name: str, low: object, extent: object, dtype: DType = INDEX) -> E.Var:
    """Return a variable that takes `extent` values from `low` on."""
    return E.Var(name, dtype, make.cast(dtype, low), make.cast(dtype, extent))


def size(name: str) -> E.Var:
    return E.Var(name, INDEX, make.const(0, INDEX), None)


n, m = size("n"), size("m")
io, ii = loop("io", 0, (n + 255) // 256), loop("ii", 0, 256)
to, ti = loop("to", 0, n // 64), loop("ti", 0, 64)
tail = loop("tail", 0, make.minimum(256, n - io * 256))
i, j = loop("i", 0, n), loop("j", 0, m)
k, l = loop("k", 0, 4), loop("l", -3, 7)
x, y, z, w = (E.Var(name, INDEX) for name in "xyzw")
p, q, r = (E.Var(name, BOOL) for name in "pqr")
f, g = E.Var("f", FLOAT32), E.Var("g", FLOAT32)
u, v = E.Var("u", DType("int8")), E.Var("v", DType("int8"))
s, t = loop("s", 0, 4, DType("int8")), loop("t", -2, 6, DType("int8"))
b = E.Var("b", DType("uint8"))
a, c = E.Var("a", DType("int32")), loop("c", 0, 1000, DType("int32"))
A = Buffer("A", (n,), FLOAT32)
B = Buffer("B", (n,), DType("int32"))

NAMES = {name: value for name, value in globals().items() if isinstance(value, (Expr, Buffer))}


def expr(text: str) -> Expr:
    """Return the expression of that text over these names."""
    return parse_expr(text, **NAMES)
