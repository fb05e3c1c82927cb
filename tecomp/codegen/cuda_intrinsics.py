"""The operations that a Call names, as CUDA C++: one table, a row an operation, a column a kind of operand.

{0}, {1}, {2} are the operands and {a} the first one behind a cast; {t} is its C++ type, {u} the unsigned one, {bits}
its width, {r} the type of the result. An operation of float16 or bfloat16 is the float one, rounded once, unless it has
a column of its own.
"""

from __future__ import annotations

from typing import Final

from ..dtype import DType
from ..errors import UnsupportedError
from ..instructions import MATRIX_ROWS, ROWS, typed
from ..ir import expr as E
from ..ir.atomic import ATOMICS
from ..ir.node import Expr
from .cuda_atomic import atomic
from .cuda_types import C_TYPES, SMALL_FLOATS
from .precedence import ATOM, RANKS, UNARY, Text, binary, cast

Row = dict[str, str]


def _floats(name: str, arity: int = 1, double: str = "") -> Row:
    """Return the row of a function of C's maths library: expf of float, exp of double."""
    args = ", ".join(f"{{{position}}}" for position in range(arity))
    return {"float32": f"{name}f({args})", "float64": f"{double or name}({args})"}


_MATHS: Final = (
    "exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan "
    "sinh cosh tanh asinh acosh atanh erf"
).split()
_ROUNDING: Final = ("floor", "ceil", "trunc", "round", "nearbyint")
_MATHS_OF_TWO: Final = ("pow", "atan2", "fmod", "hypot", "copysign", "nextafter", "ldexp")
_TESTS: Final = ("isnan", "isinf", "isfinite")

CALLS: Final[dict[str, Row]] = {
    **{name: _floats(name) for name in _MATHS},
    **{name: _floats(name, 2) for name in _MATHS_OF_TWO},
    **{name: {**_floats(name), "integer": "{0}"} for name in _ROUNDING},
    **{name: {"float": f"{name}({{0}})"} for name in _TESTS},
    "nextafter": {
        **_floats("nextafter", 2),
        "float16": "next_float({0}, {1})",
        "bfloat16": "next_float({0}, {1})",
    },
    "sigmoid": {"float32": "sigmoid({0})", "float64": "sigmoid({0})"},
    "abs": {**_floats("fabs"), "uint": "{0}", "small": "abs({0})", "integer": "wrapping_abs({0})"},
    "fma": {
        **_floats("fma", 3),
        "float16": "fma_half({0}, {1}, {2})",
        "bfloat16": "fma_bfloat16({0}, {1}, {2})",
        "integer": "wrapping_fma<{t}>({0}, {1}, {2})",
    },
    "popcount": {"small": "__popc(({u}){a})", "integer": "__popc({0})", "64": "__popcll({0})"},
    "clz": {"small": "__clz(({u}){a}) - (32 - {bits})", "integer": "__clz({0})", "64": "__clzll({0})"},
    "dp4a": {"32": "dot_of_bytes({0}, {1}, {2})"},
    "reinterpret": dict.fromkeys(("integer", "float"), "bits_as<{r}>({0})"),
    "shift_left": {"integer": "shift_left<{t}>({0}, {1})"},
    "shift_right": {"integer": "shift_right<{t}>({0}, {1})"},
}
"""A column is a dtype, or what several share: `_columns` says which serve a type."""

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
    row = CALLS.get(node.name, {})
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
