"""Calls that leave the program, under the interpreter: Python functions get its arrays, C functions their addresses."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tecomp_runtime.host_array import HostArray

from ..dtype import HANDLE, DType
from ..errors import UnsupportedError
from .expr import Address, Call
from .foreign import FUNCTIONS, Foreign
from .interpret_llvm import LLVM_MEANINGS
from .interpret_memory import Fault, Memory
from .node import Expr

if TYPE_CHECKING:
    from .interpret_expr import Source

_C_TYPES: Final = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "index": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "handle": ctypes.c_void_p,
}


class Raised(Exception):
    """A Python function that a program calls raised `error`, which is the user's to see."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__(str(error))


class Place(NamedTuple):
    """An address: an element of memory, and how many elements behind it."""

    memory: Memory
    indices: tuple[int, ...]
    offset: int
    mode: str

    def pointer(self) -> int:
        """Return the address as a number; Fault where the memory has gaps that whoever gets it cannot know of."""
        array = self.memory.array
        if not self.indices and not array.flags.c_contiguous:
            raise Fault(f"it gives away the address of {self.memory.name}, which has gaps")
        self.given()
        at = sum(index * step for index, step in zip(self.indices, array.strides, strict=False))
        lanes = array.shape[-1] if self.memory.lanes > 1 else 1
        return array.ctypes.data + at + self.offset * array.itemsize * lanes

    def array(self, shape: Sequence[int], strides: Sequence[int] | None) -> np.ndarray:
        """Return the whole memory as an array; of memory addressed by offset, in the shape of its buffer."""
        self.given()
        array = self.memory.array.view()
        wanted = (*(max(0, extent) for extent in shape), *array.shape[array.ndim - (self.memory.lanes > 1) :])
        if strides is not None and array.shape != wanted and 0 not in wanted:
            steps = tuple(step * array.itemsize * self.memory.lanes for step in strides)
            steps += (array.itemsize,) * (len(wanted) - len(steps))
            array = np.lib.stride_tricks.as_strided(array, wanted, steps)
        else:
            array = array.reshape(wanted)
        array.flags.writeable = "w" in self.mode and array.flags.writeable
        return array

    def given(self) -> None:
        """Note that all of the memory holds something from here on, where it may be written; Fault where it must."""
        marks = self.memory.marks
        if marks is None:
            return
        if self.mode == "r" and not marks.all():
            raise Fault(f"it gives {self.memory.name} away to be read, and not all of it was written")
        if "w" in self.mode:
            marks[...] = True


def address(source: Source, node: Address, _lane: str, _done: Any, operands: list[str]) -> str:
    """Return the text of an address."""
    *indices, offset = operands
    at = "".join(f"{index}, " for index in indices)
    return f"{source.constant('place', place)}({source.local(node.buffer)}_read, ({at}), {offset}, {node.mode!r})"


def place(read: Any, indices: tuple[int, ...], offset: int, mode: str) -> Place:
    """Return an address in the memory that `read` reads."""
    return Place(read.memory, indices, offset, mode)


def foreign_call(source: Source, node: Call, called: Foreign, operands: list[str]) -> str:
    """Add the line that calls a function outside the program; return the name of its result."""
    values = list(operands)
    for position, arg in enumerate(node.args):
        if isinstance(arg, Address) and called.kind == "call_packed":
            layout = ", ".join(_tuple(source, parts) for parts in (arg.buffer.shape, arg.buffer.strides))
            values[position] = f"({values[position]}, {layout})"
    function = source.constant(source.fresh("foreign"), function_of(node, called))
    name = source.fresh("t")
    source.line(f"{name} = {function}({', '.join(values)})")
    return name


def _tuple(source: Source, parts: Sequence[Expr] | None) -> str:
    return "None" if parts is None else f"({''.join(f'{source.value(part)}, ' for part in parts)})"


def function_of(node: Call, called: Foreign) -> Callable[..., Any]:
    """Return what computes the call of values; UnsupportedError for what only a back end knows."""
    return _MEANINGS[called.kind](node, called.symbol)


def _python_function(node: Call, name: str) -> Callable[..., int]:
    def call(*operands: Any) -> int:
        values = [
            operand[0].array(*operand[1:]).view(HostArray) if isinstance(arg, Address) else _plain(operand)
            for arg, operand in zip(node.args, operands, strict=True)
        ]
        function = FUNCTIONS.get(name)
        if function is None:
            raise Fault(f"it calls the Python function {name!r}, and none of that name is registered")
        try:
            function(*values)
        except Exception as error:
            raise Raised(error) from error
        return 0

    return call


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _c_function(node: Call, symbol: str) -> Callable[..., Any]:
    kinds = [_c_type(symbol, arg.dtype) for arg in node.args]
    result = _c_type(symbol, node.dtype)

    def call(*operands: Any) -> Any:
        function = ctypes.CFUNCTYPE(result, *kinds)(_address(symbol))
        values = [operand.pointer() if isinstance(operand, Place) else _plain(operand) for operand in operands]
        found = function(*values)
        return node.dtype.numpy.type(found) if node.dtype.is_float else (found or 0)

    return call


def _c_type(symbol: str, dtype: DType) -> Any:
    known = _C_TYPES.get(dtype)
    if known is None:
        raise UnsupportedError(
            f"the C function {symbol!r} in the interpreter",
            because=f"a {dtype} is passed to it or comes back, which C has not",
            legal=", ".join(name for name in _C_TYPES if name not in ("index", HANDLE)),
        )
    return known


@functools.cache
def _address(symbol: str) -> int:
    for library in (None, "libm.so.6"):
        function = getattr(ctypes.CDLL(library), symbol, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise Fault(f"it calls the C function {symbol!r}, which no library here has")


def _llvm_function(node: Call, symbol: str) -> Callable[..., Any]:
    known = LLVM_MEANINGS.get(symbol)
    if known is not None:
        return known
    raise UnsupportedError(
        f"the intrinsic {symbol!r} in the interpreter",
        because="LLVM knows what it does, and only for a CPU",
        legal='tecomp.build(..., target="llvm")',
    )


_MEANINGS: Final[dict[str, Callable[[Call, str], Callable[..., Any]]]] = {
    "call_extern": _c_function,
    "call_pure_extern": _c_function,
    "call_packed": _python_function,
    "call_llvm_intrin": _llvm_function,
    "call_llvm_pure_intrin": _llvm_function,
}
