"""A hybrid function as plain Python, on NumPy arrays: what it means, run statement by statement.

Numbers are NumPy's of the types that the compiled function has; memory that was not written holds NaN, or the least
integer.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...dtype import FLOAT32, DType
from ...ir import expr as E
from ...ir import make
from ...ir.evaluate import evaluate
from ...ir.node import Expr
from .functions import FUNCTIONS, THREADS
from .scripted import Scripted

if TYPE_CHECKING:
    from .script import HybridFunction


def run_plain(function: HybridFunction, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Return the function's results for arrays and numbers."""
    outside = function.function.__globals__
    meaning = {name: value for name, value in NAMES.items() if _is_function(outside.get(name, value))}
    code, defaults = function.function.__code__, function.function.__defaults__
    plain = FunctionType(code, {**outside, **meaning}, function.source.name, defaults, function.function.__closure__)
    plain.__kwdefaults__ = function.function.__kwdefaults__
    with np.errstate(all="ignore"):
        return plain(*args, **keywords)


def numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of te as one of NumPy's numbers: the value that the interpreter gives it."""

    def value(*args: Any) -> Any:
        given = tuple(arg if _is_literal(arg) else np.asarray(arg)[()] for arg in args)
        expr, variables = _formula(function, tuple(arg if _is_literal(arg) else arg.dtype for arg in given))
        values = [arg.item() if arg.dtype.kind in "biu" else arg for arg in given if not _is_literal(arg)]
        return expr.dtype.numpy.type(evaluate(expr, dict(zip(variables, values, strict=True))))

    return value


def _is_function(value: Any) -> bool:
    """Return whether what a name means outside gives way to what it means in the language."""
    return callable(value) and not isinstance(value, Scripted)


def _is_literal(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


@functools.lru_cache(maxsize=1024)
def _formula(function: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[Expr, tuple[E.Var, ...]]:
    """Return the expression that a function is of variables of some types and of literals."""
    parts = [E.Var(f"x{number}", DType(kind)) if not _is_literal(kind) else kind for number, kind in enumerate(kinds)]
    return make.convert(function(*parts)), tuple(part for part in parts if isinstance(part, E.Var))


def _memory(shape: Any, dtype: Any = FLOAT32, scope: str = "global") -> Any:
    kind = DType(dtype)
    least = np.nan if kind.is_float else kind.limits()[0]
    return np.full(shape, least, kind.numpy)


def _grid(*extents: int) -> Iterable[Any]:
    return itertools.product(*map(range, extents)) if len(extents) > 1 else range(*extents)


def _bind(tag: str, extent: int) -> Iterable[int]:
    return range(extent)


def _infinite(sign: float) -> Callable[..., Any]:
    def value(dtype: Any = FLOAT32) -> Any:
        return DType(dtype).numpy.type(sign * np.inf)

    return value


def _max_num_threads(allow_none: bool = True) -> int:
    return THREADS


NAMES: Final[Mapping[str, Any]] = {
    **{row.name: numbers(row.of_numbers) for row in FUNCTIONS.values() if row.of_numbers is not None},
    **dict.fromkeys(("range", "unroll", "vectorize", "parallel", "const_range"), range),
    "grid": _grid,
    "bind": _bind,
    "len": len,
    "inf": _infinite(1.0),
    "ninf": _infinite(-1.0),
    "max_num_threads": _max_num_threads,
    "output_tensor": _memory,
    "allocate": _memory,
}
"""What the names of the language mean in Python."""
