"""Boxes of tensors that one instruction copies: what the driver is to encode of a tensor, and what it cannot.

tensor_load_2d(address(S, 'w'), address(A, 'r'), address(bar, 'rw'), 128, 64, 32, x, y)
    ->    tensor_load_2d(S, &A_map, bar, x, y);        const __grid_constant__ TensorMap A_map
          tensor_map(A, 'float16', (n, m), (2, n * 2), (64, 32), 128)       in the host part
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..arith import modular
from ..dtype import INDEX
from ..errors import UnsupportedError
from ..ir import expr as E
from ..ir import make
from ..ir.instruction import signature_of
from ..ir.node import Expr
from ..ir.stmt import Buffer, Evaluate, Stmt
from ..ir.visit import walk
from ..te.shape import plain
from .cuda_mma import factors

KIND: Final = "tensor_map"
"""The type of a kernel's argument that says where a tensor lies, and the runtime's function that makes it."""
BYTES: Final = 128
TENSOR_TYPES: Final = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)
ALIGN: Final = 16
"""What rows of a tensor, and of a box, must be a multiple of in bytes."""
SHARED_BOX: Final = 128
"""What a box in shared memory must begin at a multiple of, in bytes."""


class TensorMap(NamedTuple):
    """A tensor, and the box of it that one instruction copies, innermost first."""

    buffer: Buffer
    box: tuple[int, ...]
    swizzle: int

    @property
    def strides(self) -> list[Expr]:
        """The distance of neighbours along each dimension in bytes, innermost first."""
        buffer = self.buffer
        steps = list(buffer.strides or ())
        if not steps:
            extents = [make.cast(INDEX, extent) for extent in buffer.shape[1:]]
            steps = [functools.reduce(make.mul, extents[at:], make.index(1)) for at in range(len(buffer.shape))]
        return [make.mul(make.cast(INDEX, step), buffer.dtype.bytes) for step in reversed(steps)]


def tensor_position(call: Expr) -> int | None:
    """Return which operand of a call is the tensor of which it copies a box; None where it copies none."""
    known = signature_of(call)
    names = [operand.name for operand in known.operands] if known is not None else []
    return names.index("tensor") if "tensor" in names else None


def tensor_of(call: E.Call) -> TensorMap:
    """Return what a copy of a box needs to know of its tensor."""
    known, at = signature_of(call), tensor_position(call)
    assert known is not None and at is not None
    tensor, named = call.args[at], {operand.name: arg for operand, arg in zip(known.operands, call.args, strict=True)}
    assert isinstance(tensor, E.Address)
    box = [_number(arg) for name, arg in named.items() if name.startswith("box_")]
    return TensorMap(tensor.buffer, tuple(box), _number(named["swizzle"]))


def _number(node: Expr) -> int:
    assert isinstance(node, E.Const)
    return int(node.value)


def copies(body: Stmt) -> Iterator[tuple[Evaluate, E.Call]]:
    """Yield the statements that copy boxes, each with its call."""
    for stmt in walk(body):
        if isinstance(stmt, Evaluate) and isinstance(stmt.value, E.Call) and tensor_position(stmt.value) is not None:
            yield stmt, stmt.value


def tensor_maps(body: Stmt) -> list[TensorMap]:
    """Return what a kernel must be told of tensors, each once; UnsupportedError for what the driver cannot encode."""
    found: dict[TensorMap, None] = {}
    for stmt, call in copies(body):
        tensor = tensor_of(call)
        because = _wrong_tensor(call, tensor) or _wrong_box(tensor) or _wrong_place(call)
        if because is not None:
            asked = f"{call.name} of '{tensor.buffer.name}'"
            raise UnsupportedError(asked, *because, location=stmt.loc or tensor.buffer.loc, ir=repr(call))
        found[tensor] = None
    return list(found)


def box_alignments(body: Stmt) -> dict[Buffer, int]:
    """Return what shared memory must begin at a multiple of, in bytes, from or to which boxes are copied, or which
    warpgroups multiply.

    What is swizzled is so by bits of its address, and must begin where these are zero.
    """
    found: dict[Buffer, int] = {}
    asked = [(_in_shared(call).buffer, max(SHARED_BOX, 8 * tensor_of(call).swizzle)) for _, call in copies(body)]
    for memory, align in (*asked, *factors(body)):
        found[memory] = max(found.get(memory, 0), align)
    return found


def _in_shared(call: E.Call) -> E.Address:
    return next(arg for arg in call.args if isinstance(arg, E.Address) and arg.buffer.is_shared)


def _wrong_tensor(call: E.Call, tensor: TensorMap) -> tuple[str, str] | None:
    buffer, rank = tensor.buffer, len(tensor.box)
    if len(buffer.shape) != rank:
        return f"it has {len(buffer.shape)} dimensions, and the box {rank}", f"a tensor of {rank} dimensions"
    if buffer.dtype not in TENSOR_TYPES:
        return f"it holds {buffer.dtype}", ", ".join(TENSOR_TYPES)
    address = call.args[tensor_position(call) or 0]
    if isinstance(address, E.Address) and not (isinstance(address.offset, E.Const) and address.offset.value == 0):
        return f"its address is that of element {plain(address.offset)}", "its first element, and coordinates"
    inner, *outer = tensor.strides
    if isinstance(inner, E.Const) and inner.value != buffer.dtype.bytes:
        return f"its innermost elements are {inner.value} bytes apart", "a tensor whose last dimension has no gaps"
    wrong = next((step for step in outer if isinstance(step, E.Const) and int(step.value) % ALIGN), None)
    if wrong is not None:
        return f"its rows are {wrong.value} bytes apart", f"rows at multiples of {ALIGN} bytes"
    return None


def _wrong_box(tensor: TensorMap) -> tuple[str, str] | None:
    line = tensor.box[0] * tensor.buffer.dtype.bytes
    if line % ALIGN:
        return f"a row of the box has {line} bytes", f"multiples of {ALIGN} bytes"
    if tensor.swizzle and line > tensor.swizzle:
        return f"a row of the box has {line} bytes, and the swizzle {tensor.swizzle}", "rows of so many bytes at most"
    return None


def _wrong_place(call: E.Call) -> tuple[str, str] | None:
    at = _in_shared(call)
    elements = SHARED_BOX // at.buffer.dtype.bytes
    coefficient, remainder = modular(at.offset)
    if coefficient % elements or remainder % elements:
        because = f"the box begins at element {plain(at.offset)} of '{at.buffer.name}'"
        return because, f"multiples of {elements} elements, which are {SHARED_BOX} bytes"
    return None
