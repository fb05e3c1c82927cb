"""The value of an expression, for given values of its variables."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..dtype import DType
from ..errors import TecompError, UserError
from . import expr as E
from .interpret_expr import Source
from .interpret_memory import Fault, Memory
from .make import wrap
from .node import Expr
from .rounding import rounder
from .stmt import Buffer
from .text import text

UNDEFINED = (Fault, ZeroDivisionError, ValueError)
"""What running source raises where the program has no meaning."""


class ExecutionError(TecompError, RuntimeError):
    """A program reached something undefined: out of bounds, unwritten memory, division by zero, a divergent barrier."""


def evaluate(expr: Expr, env: Mapping[Any, Any]) -> Any:
    """Return the value of `expr` where `env` maps variables to numbers and buffers to arrays; a list for a vector.

    Raises ExecutionError where it divides an integer by zero or reads out of bounds.
    """
    run = _compiled(expr, tuple(env))
    passed = [
        Memory(thing, value, None).read if isinstance(thing, Buffer) else _lanes(thing.dtype, value)
        for thing, value in env.items()
    ]
    try:
        with np.errstate(all="ignore"):
            return run(*passed)
    except UNDEFINED as problem:
        raise ExecutionError(f"{text(expr)} has no value", because=reason(problem)) from None


def reason(problem: Exception) -> str:
    """Return in words what was undefined."""
    return "an integer is divided by zero" if isinstance(problem, ZeroDivisionError) else str(problem)


def scalar(dtype: DType, value: Any) -> Any:
    """Return a number as programs hold it: a Python int or bool, a NumPy float; UserError for one that does not fit."""
    if dtype.is_float:
        return rounder(dtype)(value)
    if dtype.is_bool:
        return bool(value)
    if int(value) != value or wrap(int(value), dtype) != value:
        raise UserError(f"{value!r} does not fit in {dtype}")
    return int(value)


def _lanes(dtype: DType, value: Any) -> Any:
    return scalar(dtype, value) if dtype.lanes == 1 else [scalar(dtype.element, lane) for lane in value]


@functools.lru_cache(maxsize=256)
def _compiled(expr: Expr, things: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the function from the values of `things` to that of `expr`."""
    source = Source()
    names: list[str] = []
    for thing in things:
        name = source.names[thing] = source.fresh("p")
        names.append(name if isinstance(thing, E.Var) else f"{name}_read")
    lanes = expr.dtype.lanes
    source.line(f"def value({', '.join(names)}):")
    source.line(f" for lane in range({lanes}):")
    source.depth = 2
    source.line(f"yield {source.value(expr, 'lane')}")
    source.write_parts()
    run = executed(source, "<expression>")["value"]
    return (lambda *values: next(run(*values))) if lanes == 1 else lambda *values: list(run(*values))


def executed(source: Source, file: str) -> dict[str, Any]:
    """Return what the source defines."""
    scope = dict(source.constants)
    exec(compile(source.text(), file, "exec"), scope)
    return scope
