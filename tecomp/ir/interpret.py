"""Running programs of any level on NumPy arrays, slowly and exactly: what every back end is compared with.

The function becomes Python source, every access checked. Loops run in order, whatever their kind; a Launch runs its
blocks one after the other and the threads of a block in turns, from barrier to barrier.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from ..dtype import INDEX, DType
from ..errors import InternalError, TecompError, UserError
from . import expr as E
from .func import Func, Level
from .interpret_expr import Source
from .interpret_memory import Fault, Memory, flat_view
from .interpret_stmt import ProgramSource
from .interpret_threads import Host
from .make import wrap
from .node import Expr
from .rounding import rounder
from .stmt import Buffer, Stmt
from .text import text
from .visit import walk


class ExecutionError(TecompError, RuntimeError):
    """A program reached something undefined: out of bounds, unwritten memory, a division by zero, a divergent barrier."""


def interpret(func: Func, *arguments: Any) -> None:
    """Run `func` on NumPy arrays and numbers in the order of its parameters; outputs are written in place.

    Raises UserError for arguments that do not fit, ExecutionError where the program does something undefined.
    """
    program(func)(*arguments)


@functools.lru_cache(maxsize=64)
def program(func: Func) -> Program:
    """Return `func` ready to run many times."""
    return Program(func)


class Program:
    """A function ready to run; `source` is what runs."""

    def __init__(self, func: Func) -> None:
        self.func, self.file = func, f"<program {func.name}>"
        code = ProgramSource(func)
        self.source = code.text()
        self.owners: list[Stmt | None] = [owner for _, _, owner in code.lines]
        self.run = _executed(self.source, self.file, code.constants)["program"]

    def __call__(self, *arguments: Any) -> None:
        """Run on arrays and numbers."""
        func = self.func
        if len(arguments) != len(func.params):
            raise UserError(f"{func.name} was given {len(arguments)} arguments", because=f"it takes {len(func.params)}")
        values = {param: _argument(param, value) for param, value in zip(func.params, arguments, strict=True)}
        solved = _solved(func, values)
        for condition, reason in func.requires:
            if not evaluate(condition, solved):
                raise UserError(f"{func.name} was called with {_values(condition, solved)}", because=reason)
        passed: list[Any] = []
        copies: list[tuple[np.ndarray, np.ndarray]] = []
        for param in func.params:
            value = values[param]
            if isinstance(param, Buffer):
                array, copied = flat_view(param, value) if func.level is Level.FLAT and param.shape else (value, False)
                copies += [(value, array)] if copied and any(param is output for output in func.outputs) else []
                memory = Memory(param, array, None)
                passed += [memory.read, memory.write]
            else:
                passed.append(value)
        passed += [solved[size] for size in func.sizes()]
        self.guarded(passed)
        for array, flat in copies:
            array[...] = flat.reshape(array.shape)

    def guarded(self, passed: list[Any]) -> None:
        """Run, and report a fault with the statement and the user's line."""
        try:
            with np.errstate(all="ignore"):
                self.run(Host(), *passed)
        except (Fault, ZeroDivisionError, ValueError) as problem:
            culprit = self.culprit(problem.__traceback__)
            because = "an integer is divided by zero" if isinstance(problem, ZeroDivisionError) else str(problem)
            fragment = "" if culprit is None else text(culprit).splitlines()[0]
            location = None if culprit is None else culprit.loc
            raise ExecutionError(
                f"{self.func.name} cannot go on", because=because, ir=fragment, location=location
            ) from None

    def culprit(self, trace: TracebackType | None) -> Stmt | None:
        """Return the statement that was running."""
        found = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                found = self.owners[trace.tb_lineno - 1]
            trace = trace.tb_next
        return found


def _executed(source: str, file: str, constants: Mapping[str, Any]) -> dict[str, Any]:
    scope = dict(constants)
    exec(compile(source, file, "exec"), scope)
    return scope


def _argument(param: Buffer | E.Var, value: Any) -> Any:
    """Return an argument as the program takes it: an array of the parameter's type and rank, or a scalar of its type."""
    if isinstance(param, E.Var):
        return _scalar(param.dtype, value)
    if not isinstance(value, np.ndarray):
        raise UserError(f"{param.name!r} was given {type(value).__name__}", because="it takes a NumPy array")
    rank = len(param.shape) + (param.dtype.lanes > 1)
    if value.dtype != param.dtype.numpy or value.ndim != rank:
        raise UserError(
            f"{param.name!r} was given an array of {value.dtype} with {value.ndim} dimensions",
            because=f"it takes {param.dtype.element} with {rank}",
        )
    return value


def _scalar(dtype: DType, value: Any) -> Any:
    if dtype.is_float:
        return rounder(dtype)(value)
    if dtype.is_bool:
        return bool(value)
    if int(value) != value or wrap(int(value), dtype) != value:
        raise UserError(f"{value!r} does not fit in {dtype}")
    return int(value)


def _solved(func: Func, values: Mapping[Any, Any]) -> dict[E.Var, int]:
    """Return the sizes as the arrays' shapes and strides give them; raise UserError where two arrays disagree."""
    known: dict[E.Var, int] = {param: values[param] for param in func.params if isinstance(param, E.Var)}
    facts: list[tuple[str, Expr, int]] = []
    for param in (param for param in func.params if isinstance(param, Buffer)):
        array: np.ndarray = values[param]
        facts += [
            (f"extent {axis} of {param.name!r}", *pair)
            for axis, pair in enumerate(zip(param.shape, array.shape, strict=False))
        ]
        steps = [step // array.itemsize for step in array.strides]
        facts += [
            (f"stride {axis} of {param.name!r}", *pair)
            for axis, pair in enumerate(zip(param.strides or (), steps, strict=False))
        ]
    for _, expr, value in facts:
        if isinstance(expr, E.Var):
            known.setdefault(expr, value)
    for what, expr, value in facts:
        _check(what, expr, value, known)
    return known


def _values(expr: Expr, known: Mapping[E.Var, int]) -> str:
    return ", ".join(f"{var.name}={known[var]}" for var in walk(expr) if isinstance(var, E.Var))


def _check(what: str, expr: Expr, value: int, known: dict[E.Var, int]) -> None:
    try:
        expected = evaluate(expr, known)
    except InternalError as unknown:
        raise UserError(
            f"{what} is {text(expr)}", because="its sizes cannot be solved from the shapes alone"
        ) from unknown
    if expected != value:
        raise UserError(f"{what} is {value}", because=f"{text(expr)} is {expected}")


def evaluate(expr: Expr, env: Mapping[Any, Any]) -> Any:
    """Return the value of `expr` where `env` maps variables to numbers and buffers to arrays; a list for a vector.

    Raises ExecutionError where it divides an integer by zero or reads out of bounds.
    """
    names, run = _evaluator(expr, tuple(env))
    passed: list[Any] = []
    for thing, value in env.items():
        passed.append(Memory(thing, value, None).read if isinstance(thing, Buffer) else _lanes(thing.dtype, value))
    del names
    try:
        with np.errstate(all="ignore"):
            return run(*passed)
    except (Fault, ZeroDivisionError, ValueError) as problem:
        because = "an integer is divided by zero" if isinstance(problem, ZeroDivisionError) else str(problem)
        raise ExecutionError(f"{text(expr)} has no value", because=because) from None


def _lanes(dtype: DType, value: Any) -> Any:
    return _scalar(dtype, value) if dtype.lanes == 1 else [_scalar(dtype.element, lane) for lane in value]


@functools.lru_cache(maxsize=256)
def _evaluator(expr: Expr, things: tuple[Any, ...]) -> tuple[list[str], Callable[..., Any]]:
    source = Source()
    names: list[str] = []
    for thing in things:
        name = source.names[thing] = source.fresh("p")
        names.append(name if isinstance(thing, E.Var) else f"{name}_read")
    source.line(f"def value({', '.join(names)}):")
    source.depth = 1
    lanes = expr.dtype.lanes
    if lanes == 1:
        source.line(f"return {source.value(expr)}")
    else:
        source.line("found = []")
        source.line(f"for lane in range({lanes}):")
        source.depth = 2
        source.line(f"found.append({source.value(expr, 'lane')})")
        source.depth = 1
        source.line("return found")
    return names, _executed(source.text(), "<expression>", source.constants)["value"]
