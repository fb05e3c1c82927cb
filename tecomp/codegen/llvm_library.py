"""Functions of the C library, and their vector forms.

On a vector, a function is its vector form in glibc's libmvec where that is present (at most 4 units in the last place
from exact), else one scalar call a lane. The scalar call names its vector forms too, so that LLVM's loop vectoriser can
use them.
"""

from __future__ import annotations

from typing import Final

from .llvm_code import Code
from .llvm_types import Value, element_of, lanes_of, vector

LIBRARY: Final = (
    "exp exp2 exp10 log log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf "
    "pow atan2 fmod hypot"
).split()
"""Named as in C's math.h, with an f at the end for float."""

VECTOR_ABI: Final = {"avx512f": ("e", 64), "avx2": ("d", 32), "sse2": ("b", 16)}
"""Of each level of vector instructions: libmvec's letter, and the bytes of its vectors."""

_PURE: Final = "nounwind willreturn memory(none)"


def library(code: Code, name: str, *args: Value) -> Value:
    """Call a function of the C library on floats or doubles, or on vectors of them."""
    symbol = name + ("f" if element_of(args[0].type) == "float" else "")
    lanes = lanes_of(args[0].type)
    forms = _vector_forms(code, symbol, args)
    if lanes == 1:
        return _scalar_call(code, symbol, forms, args)
    width = min((width for width in forms if width >= lanes), default=max(forms, default=0))
    if not width:
        return _lane_by_lane(code, symbol, forms, args)
    pieces = [
        code.call(
            forms[width], vector(element_of(args[0].type), width), *_piece(code, args, start, width), attributes=_PURE
        )
        for start in range(0, lanes, width)
    ]
    return _joined(code, pieces, lanes)


def _vector_forms(code: Code, symbol: str, args: tuple[Value, ...]) -> dict[int, str]:
    """Return libmvec's functions for `symbol` by their lanes, widest first."""
    size = 4 if element_of(args[0].type) == "float" else 8
    forms = {
        bytes // size: f"_ZGV{letter}N{bytes // size}{'v' * len(args)}_{symbol}"
        for letter, bytes in VECTOR_ABI.values()
    }
    return {lanes: form for lanes, form in forms.items() if form in code.module.vector_functions}


def _scalar_call(code: Code, symbol: str, forms: dict[int, str], args: tuple[Value, ...]) -> Value:
    for lanes, form in forms.items():
        types = tuple(vector(arg.type, lanes) for arg in args)
        code.module.declare(form, types[0], types, _PURE)
        code.module.keep(form)
    variants = ",".join(f"{form}({form})" for form in forms.values())
    code.module.declare(symbol, args[0].type, tuple(arg.type for arg in args), _PURE)
    text = f"call {args[0].type} @{symbol}({', '.join(map(str, args))}) {_PURE}"
    return code.op(args[0].type, text + (f' "vector-function-abi-variant"="{variants}"' if variants else ""), symbol)


def _lane_by_lane(code: Code, symbol: str, forms: dict[int, str], args: tuple[Value, ...]) -> Value:
    result = Value(args[0].type, "poison")
    for lane in range(lanes_of(args[0].type)):
        scalars = tuple(code.op(element_of(arg.type), f"extractelement {arg}, i64 {lane}") for arg in args)
        one = _scalar_call(code, symbol, forms, scalars)
        result = code.op(result.type, f"insertelement {result}, {one}, i64 {lane}")
    return result


def _piece(code: Code, args: tuple[Value, ...], start: int, width: int) -> list[Value]:
    """Return lanes start to start + width of each argument; past the last lane it is repeated."""
    lanes = lanes_of(args[0].type)
    if (start, width) == (0, lanes):
        return list(args)
    picks = ", ".join(f"i32 {min(lane, lanes - 1)}" for lane in range(start, start + width))
    type = vector(element_of(args[0].type), width)
    return [code.op(type, f"shufflevector {arg}, {arg.type} poison, <{width} x i32> <{picks}>") for arg in args]


def _joined(code: Code, pieces: list[Value], lanes: int) -> Value:
    """Return the first `lanes` lanes of the pieces side by side."""
    element, width = element_of(pieces[0].type), lanes_of(pieces[0].type)
    while len(pieces) > 1:
        if len(pieces) % 2:
            pieces.append(Value(pieces[0].type, "poison"))
        width *= 2
        picks = ", ".join(f"i32 {lane}" for lane in range(width))
        pieces = [
            code.op(vector(element, width), f"shufflevector {a}, {b}, <{width} x i32> <{picks}>")
            for a, b in zip(pieces[::2], pieces[1::2], strict=True)
        ]
    if width == lanes:
        return pieces[0]
    picks = ", ".join(f"i32 {lane}" for lane in range(lanes))
    text = f"shufflevector {pieces[0]}, {pieces[0].type} poison, <{lanes} x i32> <{picks}>"
    return code.op(vector(element, lanes), text)
