"""The quick way in from Python: a function that CPython calls directly, for kernels that take less time than a call.

    ptr te.f.call(ptr fallback, ptr args, i64 count)

takes each argument's buffer (Python's buffer protocol: row-major without gaps, writable for an output), asks of it all
that the runtime would (type, rank, extents, alignment, overlap), and runs the kernel. Where any answer is no it calls
`fallback` with the same arguments, which finds out what is wrong or knows how to go on. It takes 0.2 microseconds where
the checks in Python take 5. Only documented parts of CPython's interface are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..ir.expr import Var
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Buffer
from .llvm_code import Code, Module
from .llvm_expr import value
from .llvm_types import Value, constant

FORMATS: Final = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "il",
    "int64": "lq",
    "uint8": "B",
    "uint16": "H",
    "uint32": "IL",
    "uint64": "LQ",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}
"""How the buffer protocol spells each type; of two letters the size decides. It has none for bfloat16."""

_MOST_ARRAYS: Final = 16
_POINTER, _BYTES, _ITEM, _RANK, _FORMAT, _SHAPE = 0, 16, 24, 36, 40, 48
_VIEW_WORDS: Final = 10
"""Where the parts of a Py_buffer are, in bytes, and how many words it has."""
_WRITABLE, _FORMATTED, _COMPACT = 0x1, 0x4, 0x38
"""PyBUF_WRITABLE, PyBUF_FORMAT, PyBUF_C_CONTIGUOUS."""


def define_call(module: Module, func: Func, symbol: str) -> str | None:
    """Define the way in to the function `symbol`; None where its arguments need what only the runtime can do."""
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    if len(buffers) != len(func.params) or not 0 < len(buffers) <= _MOST_ARRAYS or not _plain(func, buffers):
        return None
    _Call(module, func, buffers, symbol).define()
    return f"{symbol}.call"


def _plain(func: Func, buffers: Sequence[Buffer]) -> bool:
    """Return whether all sizes are extents themselves, and all types ones that the buffer protocol has."""
    extents = {extent for buffer in buffers for extent in buffer.shape}
    return all(size in extents and size.dtype in ("int64", "index") for size in func.sizes()) and all(
        buffer.dtype in FORMATS and buffer.strides is None for buffer in buffers
    )


class _Call:
    """Emits the function, block by block."""

    def __init__(self, module: Module, func: Func, buffers: list[Buffer], symbol: str) -> None:
        self.func, self.buffers, self.symbol = func, buffers, symbol
        self.code = code = Code(module, f"{symbol}.call")
        self.fallback, self.args, self.count = (
            Value(type, f"%{code.names.fresh(name)}")
            for type, name in (("ptr", "fallback"), ("ptr", "args"), ("i64", "count"))
        )
        self.views = {buffer: code.alloca(f"[{_VIEW_WORDS} x i64]", f"{buffer.name}.view") for buffer in buffers}
        self.give_back = [code.label(f"give_back.{taken}") for taken in range(len(buffers) + 1)]

    def define(self) -> None:
        """Emit all of it: take the buffers, ask, run, give the buffers back."""
        code = self.code
        number = code.op("i1", f"icmp eq {self.count}, {len(self.buffers)}", "number")
        self.go_on(number, self.give_back[0])
        for place, buffer in enumerate(self.buffers):
            self.take(place, buffer)
        self.ask([self.kind(buffer) for buffer in self.buffers])
        with code.scope():
            self.ask([*self.extents(), *self.requirements()])
        self.ask([self.aligned(buffer) for buffer in self.buffers] + self.apart())
        self.run()
        self.give_buffers_back()
        parameters = f"{self.fallback}, {self.args}, {self.count}"
        code.define(f"ptr @{self.symbol}.call({parameters}) nounwind")

    def go_on(self, condition: Value, otherwise: str) -> None:
        """Continue where `condition` holds."""
        following = self.code.label("next")
        self.code.branch(condition, following, otherwise)
        self.code.start(following)

    def ask(self, conditions: list[Value]) -> None:
        """Continue where all conditions hold, else give the buffers back and fall back."""
        for condition in conditions:
            self.go_on(condition, self.give_back[-1])

    def take(self, place: int, buffer: Buffer) -> None:
        code = self.code
        at = code.op("ptr", f"getelementptr ptr, {self.args}, i64 {place}")
        argument = code.op("ptr", f"load ptr, {at}", buffer.name)
        flags = _COMPACT | _FORMATTED | (_WRITABLE if buffer in self.func.outputs else 0)
        wanted = Value("i32", str(flags))
        failed = code.call("PyObject_GetBuffer", "i32", argument, self.views[buffer], wanted)
        self.go_on(code.op("i1", f"icmp eq {failed}, 0", "taken"), self.give_back[place])

    def part(self, buffer: Buffer, offset: int, type: str, name: str = "t") -> Value:
        """Load one part of a Py_buffer."""
        at = self.code.op("ptr", f"getelementptr i8, {self.views[buffer]}, i64 {offset}")
        return self.code.op(type, f"load {type}, {at}", name)

    def kind(self, buffer: Buffer) -> Value:
        """Ask for the rank, the size of an element, and its letter with nothing after it."""
        code = self.code
        rank = self.equal(self.part(buffer, _RANK, "i32"), len(buffer.shape))
        item = self.equal(self.part(buffer, _ITEM, "i64"), buffer.dtype.bytes)
        letters = self.part(buffer, _FORMAT, "ptr")
        text = code.op("i16", f"load i16, {letters}, align 1", "letter")
        spelled = [self.equal(text, ord(letter)) for letter in FORMATS[buffer.dtype]]
        either = spelled[0] if len(spelled) == 1 else code.op("i1", f"or {spelled[0]}, {spelled[1].name}")
        both = code.op("i1", f"and {rank}, {item.name}")
        return code.op("i1", f"and {both}, {either.name}", "kind")

    def equal(self, found: Value, expected: int | Value) -> Value:
        other = constant(expected, found.type) if isinstance(expected, int) else expected
        return self.code.op("i1", f"icmp eq {found}, {other.name}")

    def extents(self) -> list[Value]:
        """Give each size its value from where it stands alone, and ask for every other extent."""
        code = self.code
        others: list[tuple[Value, Expr]] = []
        for buffer in self.buffers:
            shape = self.part(buffer, _SHAPE, "ptr") if buffer.shape else None
            for dimension, extent in enumerate(buffer.shape):
                at = code.op("ptr", f"getelementptr i64, {shape}, i64 {dimension}")
                found = code.op("i64", f"load i64, {at}", f"{buffer.name}.extent")
                if isinstance(extent, Var) and extent not in code.values:
                    code.values[extent] = found
                else:
                    others.append((found, extent))
        return [self.equal(found, value(code, extent)) for found, extent in others]

    def requirements(self) -> list[Value]:
        return [value(self.code, condition) for condition, _ in self.func.requires]

    def aligned(self, buffer: Buffer) -> Value:
        self.code.pointers[buffer] = start = self.part(buffer, _POINTER, "ptr", buffer.name)
        address = self.code.op("i64", f"ptrtoint {start} to i64")
        return self.equal(self.code.op("i64", f"urem {address}, {max(buffer.align, buffer.dtype.bytes)}"), 0)

    def apart(self) -> list[Value]:
        """Ask that outputs lie before or behind each other array."""
        code = self.code
        ends = {
            buffer: code.op(
                "ptr", f"getelementptr i8, {code.pointers[buffer]}, {self.part(buffer, _BYTES, 'i64')}", "end"
            )
            for buffer in self.buffers
        }
        asked: list[Value] = []
        for place, a in enumerate(self.buffers):
            for b in self.buffers[place + 1 :]:
                if a in self.func.outputs or b in self.func.outputs:
                    before = code.op("i1", f"icmp ule {ends[a]}, {code.pointers[b].name}")
                    behind = code.op("i1", f"icmp ule {ends[b]}, {code.pointers[a].name}")
                    asked.append(code.op("i1", f"or {before}, {behind.name}", "apart"))
        return asked

    def run(self) -> None:
        """Run the kernel without the interpreter's lock, and return None; where it had no memory, fall back."""
        code = self.code
        operands = [
            *(code.pointers[buffer] for buffer in self.buffers),
            *(code.values[size] for size in self.func.sizes()),
        ]
        state = code.call("PyEval_SaveThread", "ptr", name="state")
        failed = code.op("i32", f"call i32 @{self.symbol}({', '.join(map(str, operands))})", "failed")
        code.call("PyEval_RestoreThread", "void", state)
        self.go_on(code.op("i1", f"icmp eq {failed}, 0", "done"), self.give_back[-1])
        for buffer in self.buffers:
            code.call("PyBuffer_Release", "void", self.views[buffer])
        code.module.external("_Py_NoneStruct")
        code.call("Py_IncRef", "void", Value("ptr", "@_Py_NoneStruct"))
        code.do("ret ptr @_Py_NoneStruct")

    def give_buffers_back(self) -> None:
        """Release the buffers taken so far, the last first, and fall back."""
        code = self.code
        for taken in range(len(self.buffers), 0, -1):
            code.start(self.give_back[taken])
            code.call("PyBuffer_Release", "void", self.views[self.buffers[taken - 1]])
            code.jump(self.give_back[taken - 1])
        code.start(self.give_back[0])
        code.call("PyErr_Clear", "void")
        nothing = Value("ptr", "null")
        result = code.call("PyObject_Vectorcall", "ptr", self.fallback, self.args, self.count, nothing, name="result")
        code.do(f"ret {result}")
