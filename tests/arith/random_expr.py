"""Random integer expressions over variables with ranges, and values of the variables within them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tecomp.dtype import INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.evaluate import evaluate
from tecomp.ir.node import Expr
from tests.arith.meaning import Env
from tests.arith.scope import loop, size

Choose = Callable[[int], int]
"""choose(n) is one of 0 ... n - 1; 0 is the simplest."""

BINARY = (E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.Min, E.Max, E.TruncDiv, E.TruncMod)
ARITHMETIC = (*BINARY, E.Select, E.IfElse, E.Cast, E.Call)
LOGIC = (E.Lt, E.Le, E.Eq, E.Ne, E.And, E.Or, E.Not)
CALLS = ("abs", "bitwise_and", "bitwise_or", "bitwise_xor")
CASTS = ("int8", "int16", "index", "uint8")


def number(value: int, dtype: DType) -> Expr:
    return make.broadcast(E.Const(make.wrap(value, dtype), dtype.element), dtype.lanes)


def index_vars() -> list[E.Var]:
    """Sizes n and m, loops over them, tiles whose extents are symbolic, a variable of which nothing is known."""
    n, m = size("n"), size("m")
    io = loop("io", 0, (n + 3) // 4)
    tail = loop("tail", 0, make.minimum(4, n - io * 4))
    return [n, m, io, loop("ii", 0, 4), tail, loop("j", 0, m), loop("k", -3, 7), E.Var("x", INDEX)]


def narrow_vars(dtype: DType) -> list[E.Var]:
    """Two variables of any value, two of small ranges."""
    return [
        E.Var("u", dtype),
        E.Var("v", dtype),
        loop("s", 0, 4, dtype),
        loop("t", -2 if dtype.kind == "int" else 1, 6, dtype),
    ]


class Maker:
    """Makes expressions of one type out of choices."""

    def __init__(self, choose: Choose, variables: Sequence[E.Var], lanes: int = 1) -> None:
        self.choose, self.variables, self.lanes = choose, variables, lanes
        self.element = variables[0].dtype
        self.dtype = self.element.with_lanes(lanes)
        low = -9 if self.element is INDEX else max(-9, self.element.limits()[0])
        self.numbers = (0, 1, 2, 3, 4, 8, 16, *range(low, 17))

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.choose(len(options))]

    def leaf(self) -> Expr:
        scalar = self.pick(self.variables) if self.choose(3) else number(self.pick(self.numbers), self.element)
        if self.lanes == 1:
            return scalar
        if self.choose(2):
            return E.Broadcast(scalar, self.lanes)
        return E.Ramp(scalar, number(self.pick(self.numbers), self.element), self.lanes)

    def integer(self, depth: int) -> Expr:
        """Return an integer at most `depth` operations deep."""
        if depth == 0 or self.choose(6) == 5:
            return self.leaf()
        kind = self.pick(ARITHMETIC)
        if kind in (E.Select, E.IfElse):
            return kind(self.condition(depth - 1), self.integer(depth - 1), self.integer(depth - 1))
        a = self.integer(depth - 1)
        if kind is E.Cast:
            return E.Cast(self.dtype, E.Cast(DType(self.pick(CASTS)).with_lanes(self.lanes), a))
        if kind is E.Call and (name := self.pick(CALLS)) == "abs":
            return E.Call(self.dtype, name, (a,))
        b = number(self.pick(self.numbers), self.dtype) if self.choose(3) else self.integer(depth - 1)
        return E.Call(self.dtype, name, (a, b)) if kind is E.Call else kind(a, b)

    def condition(self, depth: int) -> Expr:
        """Return a bool at most `depth` operations deep."""
        kind = self.pick(LOGIC if depth > 0 else LOGIC[:4])
        if kind is E.Not:
            return E.Not(self.condition(depth - 1))
        if kind in (E.And, E.Or):
            return kind(self.condition(depth - 1), self.condition(depth - 1))
        depth = max(depth - 1, 0)
        return kind(self.integer(depth), self.integer(depth))


def environment(choose: Choose, variables: Sequence[E.Var]) -> Env | None:
    """Return a value in its range for each variable, in order; None when a range is empty."""
    values: dict[Any, Any] = {}
    for var in variables:
        if var.min is None and var.dtype is not INDEX:
            low, high = var.dtype.limits()
            values[var] = low + choose(high - low + 1)
            continue
        low = -12 if var.min is None else evaluate(var.min, values)
        count = 25 if var.extent is None else evaluate(var.extent, values)
        if count <= 0:
            return None
        values[var] = low + choose(count)
    return values
