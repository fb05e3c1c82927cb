"""THE TABLE of functions: what a hybrid function may call, by name."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...dtype import DType
from ...ir import expr as E
from ...ir import make
from ...ir.dtype_name import dtype_of
from .. import logic
from .. import math as te_math
from ..symbol import infinity
from .arguments import bound, called
from .memory import Memory
from .scripted import Scripted
from .storage import MAKERS, unnamed

if TYPE_CHECKING:
    from .parser import Parser

THREADS: Final = 1024
"""How many threads a block of a GPU may have."""
LOOPS: Final = ("range", "unroll", "vectorize", "parallel", "const_range", "bind", "grid")
"""What a for statement alone may call."""
_DTYPES: Final = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 bool"
_NOT_OF_NUMBERS: Final = {"cast", "astype"}


class Function(NamedTuple):
    """A row: a function of numbers, or one that reads its arguments itself."""

    name: str
    of_numbers: Callable[..., Any] | None = None
    special: Callable[[Parser, ast.Call], Any] | None = None


def _folded(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a function of two numbers or more."""

    def fold(x: Any, y: Any, *others: Any) -> Any:
        return functools.reduce(function, others, function(x, y))

    return fold


def _cast(dtype: DType) -> Callable[[Any], Any]:
    def cast(x: Any) -> Any:
        return make.cast(dtype, make.convert(x, dtype))

    return cast


def _len(parser: Parser, node: ast.Call) -> Any:
    """Return the extent of dimension 0, or how many entries a tuple has."""
    (value,) = bound(parser, node, "x")
    if isinstance(value, tuple):
        return len(value)
    if not isinstance(value, Memory) or not value.ndim:
        raise parser.refuse(node, ast.unparse(node), "it has no length", "a tensor with dimensions, a tuple")
    extent = value.buffer.shape[0]
    return int(extent.value) if isinstance(extent, E.Const) else extent


def _infinite(sign: int) -> Callable[[Parser, ast.Call], Any]:
    def build(parser: Parser, node: ast.Call) -> Any:
        (dtype,) = bound(parser, node, "dtype", ("float32",))
        kind = parser.apply(node, dtype_of, ast.unparse(node), dtype)
        if not kind.is_float:
            raise parser.refuse(node, ast.unparse(node), f"{kind} has no infinity", "a float type")
        found = infinity(kind)
        return found if sign > 0 else make.neg(found)

    return build


def _max_num_threads(parser: Parser, node: ast.Call) -> int:
    bound(parser, node, "allow_none", (True,))
    return THREADS


FUNCTIONS: Final[Mapping[str, Function]] = {
    row.name: row
    for row in (
        *(Function(name, getattr(te_math, name)) for name in te_math.__all__ if name not in _NOT_OF_NUMBERS),
        *(Function(name, _cast(DType(name))) for name in _DTYPES.split()),
        Function("min", _folded(make.minimum)),
        Function("max", _folded(make.maximum)),
        Function("ceil_div", make.ceildiv),
        Function("likely", logic.likely),
        Function("len", special=_len),
        Function("inf", special=_infinite(1)),
        Function("ninf", special=_infinite(-1)),
        Function("max_num_threads", special=_max_num_threads),
        *(Function(name, special=unnamed) for name in MAKERS),
    )
}


def call_function(parser: Parser, node: ast.Call) -> Any:
    """Return the value of a call in an expression."""
    name = ast.unparse(node.func)
    if name in LOOPS and not isinstance(parser.names.find(name), Scripted):
        raise parser.refuse(node, f"{name} in an expression", "it says how a loop runs", f"for i in {name}(...)")
    function = parser.value(node.func) if _is_known(parser, node.func) else None
    if isinstance(function, Scripted):
        raise parser.refuse(
            node, f"the call of {name} in an expression", "its results are tensors", f"x = {name}(...), then x[i]"
        )
    if not isinstance(function, Function):
        raise parser.refuse(
            node,
            f"the call of {name}",
            "it is no function of the language",
            "exp, sqrt, min, float32, ...: what te has, by its name alone; hybrid functions",
        )
    if function.special is not None:
        return function.special(parser, node)
    assert function.of_numbers is not None
    return called(parser, node, function.of_numbers)


def _is_known(parser: Parser, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (
        node.id in FUNCTIONS or isinstance(parser.names.find(node.id), (Scripted, *_CONSTANTS))
    )


_CONSTANTS: Final = (bool, int, float, str, tuple)
