"""Random integer expressions over variables with ranges, and values of the variables within them."""

from __future__ import annotations

from collections.abc import Callable

from tecomp.dtype import BOOL, INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.node import Expr

from .evaluate import evaluate

Choose = Callable[[int], int]
"""choose(n) is one of 0 ... n - 1; 0 is the simplest."""

ARITHMETIC = (
    E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.Min, E.Max, E.TruncDiv, E.TruncMod, E.Select, E.IfElse, E.Cast, E.Call,
)  # fmt: skip
LOGIC = (E.Lt, E.Le, E.Eq, E.Ne, E.And, E.Or, E.Not)
CALLS = ("abs", "bitwise_and", "bitwise_or", "bitwise_xor")


def number(value: int, dtype: DType) -> Expr:
    return make.broadcast(E.Const(make.wrap(value, dtype), dtype.element), dtype.lanes)


def index_vars() -> list[E.Var]:
    """Sizes n and m, loops over them, tiles whose extents are symbolic, a variable of which nothing is known."""

    def var(name: str, low: Expr, extent: Expr | None) -> E.Var:
        return E.Var(name, INDEX, low, extent)

    zero = number(0, INDEX)
    n, m = var("n", zero, None), var("m", zero, None)
    io = var("io", zero, (n + 3) // 4)
    ii = var("ii", zero, number(4, INDEX))
    tail = var("tail", zero, make.minimum(4, n - io * 4))
    j = var("j", zero, m)
    k = var("k", number(-3, INDEX), number(7, INDEX))
    return [n, m, io, ii, tail, j, k, E.Var("x", INDEX)]


def narrow_vars(dtype: DType) -> list[E.Var]:
    """Two variables of any value, two of small ranges."""
    small = E.Var("s", dtype, number(0, dtype), number(4, dtype))
    other = E.Var("t", dtype, number(-2, dtype) if dtype.kind == "int" else number(1, dtype), number(6, dtype))
    return [E.Var("u", dtype), E.Var("v", dtype), small, other]


class Maker:
    """Makes expressions of one type out of choices."""

    def __init__(self, choose: Choose, variables: list[E.Var], lanes: int = 1) -> None:
        self.choose, self.variables, self.lanes = choose, variables, lanes
        self.element = variables[0].dtype
        self.dtype = self.element.with_lanes(lanes)
        low, high = (-9, 17) if self.element is INDEX else (max(-9, self.element.limits()[0]), 17)
        self.numbers = [number(value, self.element) for value in (0, 1, 2, 3, 4, 8, 16, *range(low, high))]

    def pick(self, options):
        return options[self.choose(len(options))]

    def leaf(self) -> Expr:
        scalar = self.pick(self.variables) if self.choose(3) else self.pick(self.numbers)
        if self.lanes == 1:
            return scalar
        if self.choose(2):
            return E.Broadcast(scalar, self.lanes)
        return E.Ramp(scalar, self.pick(self.numbers), self.lanes)

    def integer(self, depth: int) -> Expr:
        if depth == 0 or self.choose(6) == 5:
            return self.leaf()
        kind = self.pick(ARITHMETIC)
        if kind in (E.Select, E.IfElse):
            return kind(self.condition(depth - 1), self.integer(depth - 1), self.integer(depth - 1))
        a = self.integer(depth - 1)
        if kind is E.Cast:
            return E.Cast(
                self.dtype, E.Cast(DType(self.pick(("int8", "int16", "index", "uint8"))).with_lanes(self.lanes), a)
            )
        if kind is E.Call:
            name = self.pick(CALLS)
            return E.Call(self.dtype, name, (a,) if name == "abs" else (a, self.integer(depth - 1)))
        constant = self.choose(3)
        b = number(self.pick(self.numbers).value, self.dtype) if constant else self.integer(depth - 1)
        return kind(a, b)

    def condition(self, depth: int) -> Expr:
        kind = self.pick(LOGIC if depth > 0 else LOGIC[:4])
        if kind is E.Not:
            return E.Not(self.condition(depth - 1))
        if kind in (E.And, E.Or):
            return kind(self.condition(depth - 1), self.condition(depth - 1))
        depth = max(depth - 1, 0)
        return kind(self.integer(depth), self.integer(depth))


def environment(choose: Choose, variables: list[E.Var]) -> dict[Expr, int] | None:
    """Return a value in its range for each variable, in order; None when a range is empty."""
    values: dict[Expr, int] = {}
    for var in variables:
        low = -12 if var.min is None else evaluate(var.min, values)
        count = 25 if var.extent is None else evaluate(var.extent, values)
        if var.dtype is not INDEX and var.min is None:
            low, high = var.dtype.limits()
            count = high - low + 1
        if count <= 0:
            return None
        values[var] = low + choose(count)
    return values


__all__ = ["BOOL", "Maker", "environment", "index_vars", "narrow_vars", "number"]
