"""Arguments of an interpreted program: arrays and numbers checked, sizes solved from the arrays' shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InternalError, UserError
from .evaluate import evaluate, scalar
from .expr import Const, Var
from .func import Func
from .node import Expr
from .stmt import Buffer
from .text import text
from .visit import walk

Values = dict[Buffer | Var, Any]


def arguments(func: Func, given: tuple[Any, ...]) -> Values:
    """Return the value of each parameter and size; UserError where the arguments do not fit the parameters."""
    if len(given) != len(func.params):
        raise UserError(f"{func.name} was given {len(given)} arguments", because=f"it takes {len(func.params)}")
    values: Values = {param: _argument(param, value) for param, value in zip(func.params, given, strict=True)}
    solve(func, values)
    for condition, why in func.requires:
        if not evaluate(condition, known(values)):
            sizes = ", ".join(f"{var.name}={values[var]}" for var in walk(condition) if isinstance(var, Var))
            raise UserError(f"{func.name} was called with {sizes}", because=why)
    return values


def known(values: Values) -> dict[Var, int]:
    """Return the scalars among the values."""
    return {thing: value for thing, value in values.items() if isinstance(thing, Var)}


def _argument(param: Buffer | Var, value: Any) -> Any:
    """Return an array of the parameter's type and rank, or a scalar of its type."""
    if isinstance(param, Var):
        return _number(param, scalar(param.dtype, value))
    if not isinstance(value, np.ndarray):
        raise UserError(f"{param.name!r} was given {type(value).__name__}", because="it takes a NumPy array")
    rank = len(param.shape) + (param.dtype.lanes > 1)
    if value.dtype != param.dtype.numpy or value.ndim != rank:
        raise UserError(
            f"{param.name!r} was given an array of {value.dtype} with {value.ndim} dimensions",
            because=f"it takes {param.dtype.element} with {rank}",
        )
    return value


def _number(param: Var, value: Any) -> Any:
    """Return the value of a scalar, which may not be less than its least one."""
    if isinstance(param.min, Const) and value < param.min.value:
        raise UserError(f"{param.name!r} was given {value}", because=f"it is at least {param.min.value}")
    return value


def solve(func: Func, values: Values) -> None:
    """Add the sizes, as the arrays' shapes and strides give them; UserError where two of these disagree."""
    facts: list[tuple[str, Expr, int]] = []
    for param in (param for param in func.params if isinstance(param, Buffer)):
        array: np.ndarray = values[param]
        steps = [step // array.itemsize for step in array.strides]
        for what, exprs, numbers in (("extent", param.shape, array.shape), ("stride", param.strides or (), steps)):
            pairs = enumerate(zip(exprs, numbers, strict=False))
            facts += [(f"{what} {axis} of {param.name!r}", expr, number) for axis, (expr, number) in pairs]
    waiting = [(expr, number) for _, expr, number in facts]
    while waiting:
        later = [(expr, number) for expr, number in waiting if not _found(expr, number, values)]
        if len(later) == len(waiting):
            break
        waiting = later
    for what, expr, number in facts:
        _check(what, expr, number, known(values))


def _found(expr: Expr, number: int, values: Values) -> bool:
    """Add the one size that is not known in `expr` = `number`, linear in it; answer whether none is left there.

    The line through its points gives it: n * 3 + 2 = 14 is 2, 5, 8 at 0, 1, 2, so n is (14 - 2) / 3. Whether the size
    is right is checked when all are known.
    """
    unknown = {var for var in walk(expr) if isinstance(var, Var)} - values.keys()
    if len(unknown) != 1:
        return not unknown
    (size,) = unknown
    first, second, third = (int(evaluate(expr, {**known(values), size: at})) for at in (0, 1, 2))
    step = second - first
    if step == 0 or third - second != step:
        return False
    values[size] = (number - first) // step
    return True


def _check(what: str, expr: Expr, number: int, sizes: Mapping[Var, int]) -> None:
    try:
        expected = evaluate(expr, sizes)
    except InternalError as unknown:
        why = "its sizes cannot be solved from the shapes alone"
        raise UserError(f"{what} is {text(expr)}", because=why) from unknown
    if expected != number:
        raise UserError(f"{what} is {number}", because=f"{text(expr)} is {expected}")
