"""Expressions that a schedule may hold (factors over sizes, store predicates over axes too) and their Python text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..errors import ScheduleError
from ..ir import expr as E
from ..ir.node import Expr
from ..ir.visit import walk
from ..te.tensor import Operation
from .plan import Plan

_INFIX: Final[dict[type[Expr], str]] = {
    E.Add: "{} + {}",
    E.Sub: "{} - {}",
    E.Mul: "{} * {}",
    E.FloorDiv: "{} // {}",
    E.FloorMod: "{} % {}",
    E.Eq: "{} == {}",
    E.Ne: "{} != {}",
    E.Lt: "{} < {}",
    E.Le: "{} <= {}",
}
_CALL: Final[dict[type[Expr], str]] = {
    E.TruncDiv: "te.truncdiv({}, {})",
    E.TruncMod: "te.truncmod({}, {})",
    E.Min: "te.min({}, {})",
    E.Max: "te.max({}, {})",
    E.And: "te.all({}, {})",
    E.Or: "te.any({}, {})",
    E.Not: "~({})",
    E.IfElse: "te.if_then_else({}, {}, {})",
}
"""How a user writes each node that a schedule may hold, besides variables, constants and casts."""


def check_quantity(plan: Plan, asked: str, value: Expr, axes_of: Operation | None = None) -> None:
    """Raise ScheduleError unless `value` is arithmetic over sizes; with `axes_of` over its axes and threads too."""
    legal = "arithmetic over sizes"
    if axes_of is not None:
        legal += f", thread axes and axes of '{axes_of.name}'"
    for node in walk(value):
        if isinstance(node, E.TensorRead):
            raise ScheduleError(
                asked, f"it reads '{node.tensor.name}', and what a schedule says holds for all data", legal
            )
        if not isinstance(node, (E.Var, E.Const, E.Cast)) and type(node) not in _INFIX and type(node) not in _CALL:
            raise ScheduleError(asked, f"{node!r} is no arithmetic that a schedule can hold", legal)
        if isinstance(node, E.Var) and plan.owner.get(node, axes_of) is not axes_of:
            raise ScheduleError(asked, f"'{node.name}' is an axis of '{plan.owner[node].name}'", legal)


def spell(value: Expr, name: Callable[[E.Var], str]) -> str:
    """Return the Python text that makes `value`, an expression that `check_quantity` let pass.

    A literal needs no type: it takes that of the other operand.
    """
    if isinstance(value, E.Var):
        return name(value)
    if isinstance(value, E.Const):
        return repr(value.value)
    operands = [spell(operand, name) for operand in value.operands()]
    if type(value) in _CALL:
        return _CALL[type(value)].format(*operands)
    loose = isinstance(value, E.Compare)
    tight = [
        text if loose or type(part) not in _INFIX else f"({text})"
        for part, text in zip(value.operands(), operands, strict=True)
    ]
    if isinstance(value, E.Cast):
        return f"{tight[0]}.astype({str(value.dtype)!r})"
    return _INFIX[type(value)].format(*tight)
