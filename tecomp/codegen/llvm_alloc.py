"""Memory of a function's own buffers: the stack where they are small, the heap elsewhere."""

from __future__ import annotations

import math
from typing import Final

from ..ir.expr import Const
from ..ir.stmt import Buffer
from .llvm_code import Code
from .llvm_control import leave, where
from .llvm_expr import value
from .llvm_types import MEMORY, Value

STACK_BUFFER: Final = 16 * 1024
"""The largest buffer that is put on the stack, in bytes."""
STACK_TOTAL: Final = 128 * 1024
"""What all stack buffers of a function may take together, in bytes: threads have small stacks."""
ALIGN: Final = 64
"""Memory starts at multiples of this: a cache line, and the widest vector."""


def allocate(code: Code, buffer: Buffer) -> None:
    """Give `buffer` an address; whoever opened it calls `release` for the heap blocks that it added."""
    size = _constant_size(buffer)
    code.module.aligned[buffer] = ALIGN
    if size is None or size * buffer.dtype.bytes > min(STACK_BUFFER, STACK_TOTAL - code.stack_bytes):
        code.pointers[buffer] = _heap(code, buffer)
        code.heap.append(code.pointers[buffer])
        return
    code.stack_bytes += size * buffer.dtype.bytes
    elements = size * buffer.dtype.lanes
    element = MEMORY[buffer.dtype.element]
    align = ALIGN if elements > 1 else 0
    code.pointers[buffer] = code.alloca(element if elements == 1 else f"[{elements} x {element}]", buffer.name, align)


def release(code: Code, depth: int) -> None:
    """Free the heap blocks that are open beyond the first `depth`, the newest first."""
    while len(code.heap) > depth:
        code.call("free", "void", code.heap.pop())


def _constant_size(buffer: Buffer) -> int | None:
    """Return how many elements a buffer of constant size spans, gaps included."""
    parts = [*buffer.shape, *(buffer.strides or ())]
    numbers = [int(part.value) for part in parts if isinstance(part, Const)]
    if len(numbers) < len(parts):
        return None
    shape, strides = numbers[: len(buffer.shape)], numbers[len(buffer.shape) :]
    if buffer.strides is None or 0 in shape:
        return math.prod(shape)
    return sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) + 1


def _heap(code: Code, buffer: Buffer) -> Value:
    with code.scope():
        elements = _elements(code, buffer)
    size = code.op("i64", f"mul {elements}, {buffer.dtype.bytes}", f"{buffer.name}.bytes")
    padded = code.op("i64", f"add {size}, {2 * ALIGN - 1}")  # a line more, so that an empty buffer has an address
    whole = code.op("i64", f"and {padded}, {-ALIGN}")
    code.module.declare("aligned_alloc", "noalias ptr", ("i64", "i64"))
    pointer = code.op("ptr", f"call noalias ptr @aligned_alloc(i64 {ALIGN}, {whole})", buffer.name)
    where(code, code.op("i1", f"icmp eq {pointer}, null", "missing"), lambda: leave(code))
    return pointer


def _elements(code: Code, buffer: Buffer) -> Value:
    """Emit how many elements a buffer spans, as i64."""
    total = Value("i64", "1")
    for extent, stride in zip(buffer.shape, buffer.strides or buffer.shape, strict=True):
        length = _wide(code, value(code, extent))
        if buffer.strides is None:
            total = length if total.name == "1" else code.op("i64", f"mul {total}, {length.name}")
            continue
        last = code.op("i64", f"sub {length}, 1")
        reach = code.op("i64", f"mul {last}, {_wide(code, value(code, stride)).name}")
        total = code.op("i64", f"add {total}, {reach.name}")
    return total


def _wide(code: Code, size: Value) -> Value:
    return size if size.type == "i64" else code.op("i64", f"sext {size} to i64")
