"""Arguments as the user declares them: `binds={A: tir.decl_buffer(A.shape, A.dtype, strides=[te.var("s"), 1])}`.

def f(A: f32[n, m], ...)    ->    def f(A: f32[n, m, strides=(s, 1)], ...)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir.node import Expr
from ..ir.stmt import Buffer
from ..te.buffer import DeclaredBuffer
from ..te.index import Indexer
from ..te.shape import plain
from ..te.tensor import Tensor

Binds = Mapping[Tensor, DeclaredBuffer]
NO_BINDS: Binds = MappingProxyType({})


def as_tensors(args: Sequence[Any], binds: Binds) -> list[Any]:
    """Return the arguments with the tensor in the place of each buffer that is bound to one."""
    if not isinstance(binds, Mapping):
        legal = "{A: tir.decl_buffer(A.shape, A.dtype)}"
        raise UserTypeError(f"binds={binds!r}", f"it is a {type(binds).__name__}", legal)
    for tensor, buffer in binds.items():
        _check(tensor, buffer)
    tensor_of: dict[Buffer, Tensor] = {buffer: tensor for tensor, buffer in binds.items()}
    return [tensor_of.get(arg, arg) if isinstance(arg, Buffer) else arg for arg in args]


def declared(tensor: Tensor, buffer: DeclaredBuffer, shape: tuple[Expr, ...], indexer: Indexer) -> Buffer:
    """Return the argument for `tensor` as `buffer` declares it: its name, its strides, its alignment."""
    strides = None if buffer.strides is None else tuple(map(indexer.extent, buffer.strides))
    return Buffer(buffer.name, shape, tensor.dtype, "global", strides, buffer.align, buffer.loc)


def _check(tensor: Any, buffer: Any) -> None:
    """Raise UserError where an array that a caller has cannot be what the buffer says."""
    if not isinstance(tensor, Tensor) or not isinstance(buffer, DeclaredBuffer):
        raise UserTypeError(
            f"binds: {tensor!r} to {buffer!r}",
            "a tensor is bound to a buffer",
            "{A: tir.decl_buffer(A.shape, A.dtype)}",
        )
    asked, given, needed = f"binds: '{tensor.name}' to buffer '{buffer.name}'", _text(buffer), _text(tensor)
    if given != needed:
        raise UserError(asked, f"the buffer is {given}, the tensor {needed}", "a buffer of that shape and type")
    if buffer.scope not in ("", "global"):
        raise UserError(asked, f"its scope is {buffer.scope}, and a caller's array is global", 'scope="global"')
    offset = buffer.elem_offset
    if offset is not None and not (isinstance(offset, E.Const) and offset.value == 0):
        because = "an argument is the address of its element 0, wherever that lies"
        raise UserError(asked, because, "no elem_offset: a call may give a part of an array")


def _text(array: Tensor | Buffer) -> str:
    return f"{array.dtype}[{', '.join(map(plain, array.shape))}]"
