"""Operators as Python source, over operands that are source already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..dtype import INDEX, DType
from . import expr as E
from .make import trunc_quotient
from .rounding import truncated


def wrapped(text: str, dtype: DType) -> str:
    """Return the source of an integer sum, product or the like, as its type keeps it (index is exact)."""
    element = dtype.element
    if element is INDEX:
        return f"({text})"
    mask = (1 << element.bits) - 1
    if element.kind == "uint":
        return f"({text} & {mask})"
    half = 1 << element.bits - 1
    return f"(({text} + {half} & {mask}) - {half})"


def _arithmetic(symbol: str) -> Callable[[Any, list[str]], str]:
    def source(node: E.Binary, operands: list[str]) -> str:
        text = f" {symbol} ".join(operands)
        return f"({text})" if node.dtype.is_float else wrapped(text, node.dtype)

    return source


def _extreme(name: str) -> Callable[[Any, list[str]], str]:
    return lambda node, operands: f"{name}{'_float' if node.dtype.is_float else ''}({', '.join(operands)})"


def _between(symbol: str) -> Callable[[Any, list[str]], str]:
    return lambda _, operands: f"({operands[0]} {symbol} {operands[1]})"


def _min_float(a: Any, b: Any) -> Any:
    return a if a < b or np.isnan(a) else b


def _max_float(a: Any, b: Any) -> Any:
    return a if a > b or np.isnan(a) else b


HELPERS: Final[dict[str, Any]] = {
    "quotient": trunc_quotient,
    "select": lambda condition, yes, no: yes if condition else no,
    "min_float": _min_float,
    "max_float": _max_float,
    "truncated": truncated,
}
OPERATORS: Final[dict[type, Callable[[Any, list[str]], str]]] = {
    E.Add: _arithmetic("+"),
    E.Sub: _arithmetic("-"),
    E.Mul: _arithmetic("*"),
    E.Div: _between("/"),
    E.FloorDiv: _arithmetic("//"),
    E.FloorMod: _between("%"),
    E.TruncDiv: lambda node, operands: wrapped(f"quotient({', '.join(operands)})", node.dtype),
    E.TruncMod: lambda _, operands: "({0} - {1} * quotient({0}, {1}))".format(*operands),
    E.Min: _extreme("min"),
    E.Max: _extreme("max"),
    E.Eq: _between("=="),
    E.Ne: _between("!="),
    E.Lt: _between("<"),
    E.Le: _between("<="),
    E.Not: lambda _, operands: f"(not {operands[0]})",
    E.Select: lambda _, operands: f"select({', '.join(operands)})",
    E.Broadcast: lambda _, operands: operands[0],
}
