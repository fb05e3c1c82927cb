"""Calls that leave the program, as LLVM: C functions, Python functions, intrinsics that the user names.

A Python function is a symbol `te.packed.0`, which the runtime provides. It takes one record of 64-bit words: of an
array its address, extents and, where it may have gaps, strides in elements; of a number its bits, an integer's as an
int64, a float's as a double. It returns 0, or the number of what the function raised; the program ends with that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dtype import BOOL, HANDLE, DType
from ..errors import UnsupportedError
from ..ir import expr as E
from ..ir.foreign import Foreign
from ..ir.node import Expr
from .llvm_code import Code
from .llvm_control import leave, where
from .llvm_convert import from_memory, nonzero, to_memory
from .llvm_memory import Steps
from .llvm_tiles import TILE_CALLS, tile_call
from .llvm_types import MEMORY, SMALL_FLOATS, Value, value_type, vector

_EXTENDED: Final = {"bool": "zeroext", "int8": "signext", "int16": "signext", "uint8": "zeroext", "uint16": "zeroext"}
"""How C passes what is narrower than an int."""


def foreign_call(code: Code, node: E.Call, called: Foreign) -> Steps:
    """Emit the call of a function outside the program."""
    return (yield from _CALLS[called.kind](code, node, called.symbol))


def _c_function(code: Code, node: E.Call, symbol: str) -> Steps:
    kinds = [arg.dtype for arg in node.args]
    wrong = next((kind for kind in (*kinds, node.dtype) if kind in SMALL_FLOATS or kind.lanes > 1), None)
    if wrong is not None:
        raise UnsupportedError(
            f"the C function {symbol!r} on llvm",
            because=f"a {wrong} is passed to it or comes back, which C has not",
            legal="float32, float64, integers, bool, addresses",
            ir=repr(node),
        )
    texts: list[str] = []
    for arg, kind in zip(node.args, kinds, strict=True):
        value = yield arg
        texts.append(_passed(code, value, kind))
    result = "i8" if node.dtype is BOOL else value_type(node.dtype)
    types = tuple("i8" if kind is BOOL else value_type(kind) for kind in kinds)
    code.module.declare(symbol, result, types)
    extended = f"{_EXTENDED[node.dtype]} " if node.dtype in _EXTENDED else ""
    found = code.op(result, f"call {extended}{result} @{symbol}({', '.join(texts)})", symbol)
    return nonzero(code, found) if node.dtype is BOOL else found


def _passed(code: Code, value: Value, kind: DType) -> str:
    """Return an argument as a call of C writes it."""
    if kind is BOOL:
        value = code.op("i8", f"zext {value} to i8")
    extended = f" {_EXTENDED[kind]}" if kind in _EXTENDED else ""
    return f"{value.type}{extended} {value.name}"


def _intrinsic(code: Code, node: E.Call, symbol: str) -> Steps:
    """Call an intrinsic in the types of the arguments; LLVM adds to its name what those decide."""
    args: list[Value] = []
    for arg in node.args:
        value = yield arg
        args.append(_own_type(code, value, arg.dtype))
    if symbol in TILE_CALLS:
        return tile_call(code, symbol, args)
    result = _llvm_type(node.dtype)
    overload = code.module.use_intrinsic(symbol, result, args)
    found = code.op(result, f"call {result} @{overload}({', '.join(map(str, args))})", symbol.rpartition(".")[2])
    return _back(code, found, node.dtype)


def _llvm_type(dtype: DType) -> str:
    """Return LLVM's own type: half and bfloat as such."""
    element = {"float16": "half", "bfloat16": "bfloat"}.get(dtype.element)
    return vector(element, dtype.lanes) if element else value_type(dtype)


def _own_type(code: Code, value: Value, dtype: DType) -> Value:
    if dtype.element not in SMALL_FLOATS:
        return value
    raw = to_memory(code, value, dtype.element)
    wanted = _llvm_type(dtype)
    return raw if raw.type == wanted else code.op(wanted, f"bitcast {raw} to {wanted}")


def _back(code: Code, value: Value, dtype: DType) -> Value:
    if dtype.element not in SMALL_FLOATS:
        return value
    memory = vector(MEMORY[dtype.element], dtype.lanes)
    raw = value if value.type == memory else code.op(memory, f"bitcast {value} to {memory}")
    return from_memory(code, raw, dtype.element, "t")


def _python_function(code: Code, node: E.Call, symbol: str) -> Steps:
    words: list[Value] = []
    described: list[dict[str, Any]] = []
    for arg in node.args:
        value = yield arg
        if isinstance(arg, E.Address):
            words += [value, *(yield from _layout(code, arg))]
            described.append(_array(arg))
        else:
            words.append(_word(code, value, arg.dtype))
            described.append({"kind": "scalar", "dtype": str.__str__(arg.dtype)})
    record = code.alloca(f"[{max(len(words), 1)} x i64]", "record", align=8)
    for place, word in enumerate(words):
        at = code.op("ptr", f"getelementptr inbounds i64, {record}, i64 {place}")
        code.do(f"store {word}, {at}")
    failed = code.call(code.module.use_packed(symbol, described), "i32", record, name="failed", attributes="")
    where(code, code.op("i1", f"icmp ne {failed}, 0", "raised"), lambda: leave(code, failed.name))
    return Value("i32", "0")


def _layout(code: Code, arg: E.Address) -> Any:
    """Emit the extents of an array, and its strides where it has any, as 64-bit integers."""
    found: list[Value] = []
    for part in (*arg.buffer.shape, *(arg.buffer.strides or ())):
        value = yield part
        found.append(_wide(code, value, part))
    return found


def _array(arg: E.Address) -> dict[str, Any]:
    buffer = arg.buffer
    return {
        "kind": "array",
        "dtype": str.__str__(buffer.dtype.element),
        "lanes": buffer.dtype.lanes,
        "rank": len(buffer.shape),
        "strided": buffer.strides is not None,
        "writable": "w" in arg.mode,
    }


def _wide(code: Code, value: Value, source: Expr) -> Value:
    if value.type == "i64":
        return value
    return code.op("i64", f"{'zext' if source.dtype.kind in ('uint', 'bool') else 'sext'} {value} to i64")


def _word(code: Code, value: Value, dtype: DType) -> Value:
    """Return a number as 64 bits."""
    if dtype.is_float:
        return value if value.type == "double" else code.op("double", f"fpext {value} to double")
    if dtype is HANDLE or value.type == "i64":
        return value
    return code.op("i64", f"{'sext' if dtype.kind == 'int' else 'zext'} {value} to i64")


_CALLS: Final[dict[str, Callable[[Code, E.Call, str], Steps]]] = {
    "call_extern": _c_function,
    "call_pure_extern": _c_function,
    "call_packed": _python_function,
    "call_llvm_intrin": _intrinsic,
    "call_llvm_pure_intrin": _intrinsic,
}
