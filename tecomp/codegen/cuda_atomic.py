"""Indivisible updates in CUDA C++: the device's own where it has them, else compare and exchange."""

from __future__ import annotations

from typing import Final

from ..instructions.updates import UPDATES
from ..ir import expr as E
from .cuda_types import SMALL_FLOATS, c_type
from .precedence import Text

_OWN: Final = ("int32", "uint32", "uint64", "float32", "float64")
"""What atomicAdd takes; an int64 is added as a uint64, bit for bit."""


def atomic(node: E.Call, pointer: Text, value: Text) -> Text:
    """Return the text of an update; integers wrap, and NaN stays."""
    dtype = node.dtype
    if node.name == "atomic_add" and dtype in _OWN:
        return Text(f"atomicAdd({pointer.text}, {value.text})")
    type_ = c_type(dtype)
    join = f"({type_})({UPDATES[node.name].cuda})" if dtype in SMALL_FLOATS else UPDATES[node.name].cuda
    if dtype.kind == "int" and node.name in ("atomic_add", "atomic_mul"):
        join = f"({type_})(({_unsigned(type_)})a {join[2]} ({_unsigned(type_)})b)"
    function = f"[]({type_} a, {type_} b) -> {type_} {{ return {join}; }}"
    return Text(f"atomic_update({pointer.text}, ({type_})({value.text}), {function})")


def _unsigned(type_: str) -> str:
    return {"int": "unsigned int", "long long": "unsigned long long"}.get(type_, "unsigned int")
