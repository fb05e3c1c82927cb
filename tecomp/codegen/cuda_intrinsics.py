"""The operations that a Call names, as CUDA C++: which text of the tables serves the types of the operands."""

from __future__ import annotations

from typing import Final

from ..dtype import DType
from ..errors import UnsupportedError
from ..instructions import MATRIX_ROWS, ROWS, typed
from ..instructions.maths import MATHS
from ..ir import expr as E
from ..ir.atomic import ATOMICS
from ..ir.node import Expr
from .cuda_atomic import atomic
from .cuda_types import C_TYPES, SMALL_FLOATS
from .precedence import ATOM, RANKS, UNARY, Text, binary, cast

BITWISE: Final = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
SHIFTS: Final = {"shift_left": "<<", "shift_right": ">>"}
"""What is plain C++ where the count is a constant within the width."""


def call(node: E.Call, operands: list[Text]) -> Text:
    """Return the text of `node`; UnsupportedError where the table has no column for its operands' type."""
    if node.name in ROWS:
        return Text(ROWS[node.name].cuda.format(*operands))
    if node.name in MATRIX_ROWS and (chosen := typed(node)) is not None:
        return Text(chosen.cuda.format(*operands))
    if node.name in ATOMICS:
        return atomic(node, *operands)
    dtype = node.args[0].dtype.element if node.args else node.dtype.element
    if node.name in BITWISE and not dtype.is_float:
        return _as(node.dtype.element, dtype, binary(BITWISE[node.name], *operands))
    if node.name in SHIFTS and dtype.is_integer and isinstance(count := spread(node.args[1]), E.Const):
        return _shift(node, operands[0], int(count.value))
    row = MATHS[node.name].cuda if node.name in MATHS else {}
    column = next((name for name in _columns(dtype) if name in row), None)
    if column is None:
        raise UnsupportedError(
            f"{node.name} of {dtype} on cuda", because="CUDA C++ has no such function", legal=", ".join(row) or "a cast"
        )
    unsigned = C_TYPES.get(f"uint{dtype.bits}", "")
    places = {"t": C_TYPES[dtype], "u": unsigned, "bits": dtype.bits, "a": operands[0].at(UNARY)}
    places["r"] = C_TYPES[node.dtype.element]
    text = row[column].format(*(operand.text for operand in operands), **places)
    rank = RANKS["-"] if " - " in row[column] else ATOM
    whole = Text(text, rank)
    return whole if node.name == "reinterpret" else _rounded(node, dtype, column, whole)


def _columns(dtype: DType) -> tuple[str, ...]:
    """Return the columns that serve a type; the first that a row has counts."""
    if dtype.is_float:
        return (dtype, "float", "float32") if dtype in SMALL_FLOATS else (dtype, "float")
    if not dtype.is_integer:
        return (dtype,)
    unsigned = ("uint",) if dtype.kind == "uint" else ()
    width = "small" if dtype.bits < 32 else str(dtype.bits)
    return (*unsigned, width, "integer")


def _rounded(node: E.Call, dtype: DType, column: str, text: Text) -> Text:
    """Return `text`, which `column` computed from operands of `dtype`, in the node's own type."""
    result = node.dtype.element
    if result in SMALL_FLOATS and column != result:
        return Text(f"{C_TYPES[result]}({text})")
    if result.is_integer and result.bits != 32 and column in ("small", "64", "integer"):
        return cast(C_TYPES[result], text)
    return text


def _as(result: DType, operand: DType, text: Text) -> Text:
    return text if result is operand else cast(C_TYPES[result], text)


def _shift(node: E.Call, a: Text, count: int) -> Text:
    """x << 3; of a signed type through the unsigned one, where it wraps."""
    dtype = node.dtype.element
    symbol, plain = SHIFTS[node.name], Text(str(count))
    if symbol == ">>" or (dtype.kind == "uint" and dtype.bits >= 32):
        return binary(symbol, a, plain)
    unsigned = C_TYPES[f"uint{max(dtype.bits, 32)}"]
    return cast(C_TYPES[dtype], binary(symbol, cast(unsigned, a), plain))


def spread(node: Expr) -> Expr:
    """Return what a Broadcast holds in every lane; anything else as it is."""
    return node.value if isinstance(node, E.Broadcast) else node
