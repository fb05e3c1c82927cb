"""The notation of printed programs, which is Python's: one table, read by the printer and by the parser."""

from __future__ import annotations

import ast
import keyword
import re
from typing import Final, NamedTuple

from ..dtype import BOOL, HANDLE, INDEX, INT32, DType
from . import expr as E
from .func import Level
from .instruction import INSTRUCTIONS
from .matrix import MATRIX_CALLS
from .node import Expr
from .stmt import LoopKind


class Infix(NamedTuple):
    """An operator between its operands: how it prints, how tightly it binds, and its node in Python's grammar."""

    symbol: str
    precedence: int
    python: type[ast.AST]


TERNARY, OR, AND, NOT, COMPARE, ATOM = 0, 1, 2, 3, 4, 12
"""How tightly Python's constructs bind; the infix operators lie between COMPARE and ATOM."""

INFIX: Final[dict[type[E.Binary], Infix]] = {
    E.Add: Infix("+", 9, ast.Add),
    E.Sub: Infix("-", 9, ast.Sub),
    E.Mul: Infix("*", 10, ast.Mult),
    E.Div: Infix("/", 10, ast.Div),
    E.FloorDiv: Infix("//", 10, ast.FloorDiv),
    E.FloorMod: Infix("%", 10, ast.Mod),
}
COMPARISONS: Final[dict[type[E.Compare], Infix]] = {
    E.Eq: Infix("==", COMPARE, ast.Eq),
    E.Ne: Infix("!=", COMPARE, ast.NotEq),
    E.Lt: Infix("<", COMPARE, ast.Lt),
    E.Le: Infix("<=", COMPARE, ast.LtE),
}
LOGIC: Final[dict[type[E.Binary], Infix]] = {E.And: Infix("and", AND, ast.And), E.Or: Infix("or", OR, ast.Or)}
INFIX_CALLS: Final[dict[str, Infix]] = {
    "bitwise_or": Infix("|", 5, ast.BitOr),
    "bitwise_xor": Infix("^", 6, ast.BitXor),
    "bitwise_and": Infix("&", 7, ast.BitAnd),
    "shift_left": Infix("<<", 8, ast.LShift),
    "shift_right": Infix(">>", 8, ast.RShift),
}
FUNCTIONS: Final[dict[type[E.Binary], str]] = {
    E.Min: "min",
    E.Max: "max",
    E.TruncDiv: "truncdiv",
    E.TruncMod: "truncmod",
}
LOOPS: Final = {kind.value: kind for kind in LoopKind}
NOT_A_CALL: Final = {*FUNCTIONS.values(), "select", "ramp", "broadcast", "address", "call"}
"""Function names of the notation: a Call of such a name prints as call('name')."""
RESERVED: Final = {*keyword.kwlist, "inf", "nan"}
PREDICATES: Final = {"isnan", "isinf", "isfinite"}
UPDATES: Final = {"atomic_add", "atomic_mul", "atomic_min", "atomic_max"}


def default_integer(level: Level) -> DType:
    """Return the type of an integer literal that nothing around it types."""
    return INT32 if level is Level.FLAT else INDEX


def rest_type(name: str, first: Expr) -> DType | None:
    """Return what types a literal behind the first operand of a call, if not the level: that one, or lanes count.

    Behind an address the level does, and in an instruction: nothing else there is of the first one's type.
    """
    return None if name in INSTRUCTIONS or first.dtype is HANDLE else first.dtype.element


def natural_type(name: str, args: tuple[Expr, ...] | list[Expr]) -> DType:
    """Return the result type that a call has when none is written: bool of a predicate, else its first argument's."""
    if name in PREDICATES:
        return BOOL.with_lanes(args[0].dtype.lanes) if args else BOOL
    if name in INSTRUCTIONS:
        return INSTRUCTIONS[name].result(args)
    return INT32 if name in MATRIX_CALLS or not args else args[-1 if name in UPDATES else 0].dtype


_SHORT_NAMES: Final = {
    DType(name).short: name
    for name in (
        *("bool", "index", "handle", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "bfloat16", "float32", "float64"),
    )
}
_SHORT = re.compile(r"(bool|index|handle|(?:bf|f|i|u)\d+)(?:x(\d+))?")


def dtype_of_short(text: str) -> DType | None:
    """Return the type that `DType.short` prints as `text` (f32, i8x4), or None."""
    match = _SHORT.fullmatch(text)
    if match is None or match[1] not in _SHORT_NAMES:
        return None
    return DType(_SHORT_NAMES[match[1]]).with_lanes(int(match[2] or 1))


def identifier(name: str) -> str:
    """Return `name` as an identifier: other characters become _, a reserved word or a type's name gets one behind."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    if text[0].isdigit():
        text = f"_{text}"
    return f"{text}_" if text in RESERVED or dtype_of_short(text) is not None else text
