"""Calls of functions that are no part of the program: C functions, Python functions, intrinsics of LLVM."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from ..absent import INSTEAD
from ..dtype import FLOAT32, HANDLE, INT32, DType
from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.dtype_name import dtype_of
from ..ir.foreign import FUNCTIONS, UNNAMED
from ..ir.interpret_calls import CALLS
from ..ir.node import Expr
from ..ir.stmt import Buffer
from .instructions import INSTRUCTION_FUNCTIONS
from .matrix_instructions import WGMMA_FUNCTIONS
from .ptx import PTX_FUNCTIONS
from .ptx_matrix import PTX_MATRIX_FUNCTIONS
from .wmma import MATRIX_FUNCTIONS

_PTX: Final = {**PTX_FUNCTIONS, **PTX_MATRIX_FUNCTIONS}
_UINT32: Final = DType("uint32")
_serial = itertools.count(1)


def call_extern(dtype: str, func_name: str, *args: Any) -> Expr:
    """Return the call of the C function `func_name`, which gives a `dtype`.

    Arguments are numbers, in their own types (a Python float in that of a float result), and addresses:
    `buffer.access_ptr("r")`, or a buffer itself, which is then read and written. They must be what the function takes.
    On the CPU the symbol is looked up in the process, libm and libc among it; on CUDA it is a device function.
    """
    return _c_function("call_extern", dtype, func_name, args)


def call_pure_extern(dtype: str, func_name: str, *args: Any) -> Expr:
    """Return the call of a C function that only computes its result: `call_pure_extern("float32", "sinf", A[i])`."""
    return _c_function("call_pure_extern", dtype, func_name, args)


def _c_function(kind: str, dtype: str, symbol: str, args: tuple[Any, ...]) -> Expr:
    asked = f"tir.{kind} {symbol!r}"
    if not isinstance(symbol, str) or not symbol.replace("::", "_").isidentifier():
        raise UserTypeError(asked, because="it is no name of a C function", legal=f'tir.{kind}("float32", "sinf", x)')
    result = _result(asked, dtype)
    return E.Call(result, f"{kind}:{symbol}", tuple(_argument(arg, result) for arg in args))


def call_packed(func: str | Callable[..., Any], *args: Any) -> Expr:
    """Return the call of a Python function, which gets arrays and numbers in the order of `args`.

    func  the function, or the name it has through `tecomp.register_func`
    args  buffers, which arrive as NumPy arrays (CuPy arrays on CUDA) over their memory, those that are inputs not
          writable; numbers

    What the function returns is ignored: its results are what it writes.

        te.extern((n,), [A], lambda ins, outs: tir.call_packed("my.sort", ins[0], outs[0]))
    """
    name = _function_name(func)
    said = next((arg for arg in args if isinstance(arg, str)), None)
    if said is not None:
        raise UserTypeError(
            f"tir.call_packed {name!r} with {said!r}",
            because="a Python function gets arrays and numbers, no text",
            legal=f"functools.partial(f, {said!r}), or a function for each text",
        )
    parts = tuple(_argument(arg) for arg in args)
    for position, part in enumerate(parts):
        if isinstance(part, E.Address) and (part.indices or not _is_zero(part.offset)):
            raise UserError(
                f"tir.call_packed {name!r}: argument {position} is an address inside '{part.buffer.name}'",
                because="a Python function gets whole arrays",
                legal="the buffer itself; numbers that say where",
            )
        if part.dtype.lanes > 1:
            raise UserTypeError(
                f"tir.call_packed {name!r}: argument {position} is {part.dtype}",
                because="a Python function gets arrays and numbers",
                legal="a buffer, a number",
            )
    return E.Call(INT32, f"call_packed:{name}", parts)


def _function_name(func: str | Callable[..., Any]) -> str:
    if isinstance(func, str):
        return func
    if not callable(func):
        raise UserTypeError(
            f"tir.call_packed of {func!r}", because=f"it is a {type(func).__name__}", legal="a function, or its name"
        )
    known = next((name for name, function in FUNCTIONS.items() if function is func), None)
    if known is None:
        known = f"{UNNAMED}{getattr(func, '__name__', type(func).__name__)} {next(_serial)}>"
        FUNCTIONS[known] = func
    return known


def call_llvm_intrin(dtype: str, name: str, *args: Any) -> Expr:
    """Return the call of an intrinsic of LLVM, "llvm.…", whose signature follows from the types given.

    A leading constant of type uint32 is TVM's count of types in the signature; it is not needed and left out.
    """
    return _llvm("call_llvm_intrin", dtype, name, args)


def call_llvm_pure_intrin(dtype: str, name: str, *args: Any) -> Expr:
    """Return the call of an intrinsic of LLVM that only computes its result."""
    return _llvm("call_llvm_pure_intrin", dtype, name, args)


def _llvm(kind: str, dtype: str, name: str, args: tuple[Any, ...]) -> Expr:
    asked = f"tir.{kind} {name!r}"
    if not isinstance(name, str) or not name.startswith("llvm."):
        raise UserError(asked, because="an intrinsic of LLVM is named llvm.…", legal="llvm.fma, llvm.x86.…")
    parts = [_argument(arg) for arg in args]
    if parts and isinstance(parts[0], E.Const) and parts[0].dtype is _UINT32 and parts[0].value < len(parts):
        parts = parts[1:]
    return E.Call(_result(asked, dtype), f"{kind}:{name}", tuple(parts))


def call_intrin(dtype: str, func_name: str, *args: Any) -> Expr:
    """Return the call of an operation that every target knows: "tir.exp", "tir.popcount", ..."""
    name = func_name.removeprefix("tir.")
    if name in MATRIX_FUNCTIONS:
        return MATRIX_FUNCTIONS[name](*args)
    if name in _PTX:
        return _PTX[name](dtype, *args)
    if name in INSTRUCTION_FUNCTIONS:
        return INSTRUCTION_FUNCTIONS[name](*args)
    if name in INSTEAD["tecomp.tir"]:
        raise UserError(f"tir.call_intrin {func_name!r}", "there is none", INSTEAD["tecomp.tir"][name])
    if name not in CALLS:
        spelled = {*CALLS, *MATRIX_FUNCTIONS, *_PTX, *INSTRUCTION_FUNCTIONS} - WGMMA_FUNCTIONS.keys()
        known = ", ".join(sorted(spelled))
        raise UserError(f"tir.call_intrin {func_name!r}", because="no operation is called so", legal=known)
    return make.call(name, _result(f"tir.call_intrin {func_name!r}", dtype), *args)


def _result(asked: str, dtype: str) -> DType:
    return HANDLE if dtype == "handle" else dtype_of(asked, dtype)


def _argument(arg: Any, result: DType = FLOAT32) -> Expr:
    """Return an argument as an expression: a buffer as its address, a Python float in the type of a float result."""
    found = arg.as_expr() if hasattr(arg, "as_expr") else arg
    if isinstance(found, Buffer):
        return E.Address(found, (), make.const(0, INT32), "rw")
    return make.convert(found, result) if isinstance(found, float) else make.convert(found)


def _is_zero(value: Expr) -> bool:
    return isinstance(value, E.Const) and value.value == 0
