"""Tensors whose values a statement writes: a body made with tir.ir_builder, a call of a C or of a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..dtype import DType
from ..errors import UserError, UserTypeError
from ..ir.dtype_name import dtype_of
from ..ir.node import Expr
from ..location import caller
from .buffer import DeclaredBuffer
from .extern_body import Buffers, statement
from .extern_op import ExternOp
from .linear import same_number
from .shape import name_of, plain, shape_of
from .tag import tag_of
from .tensor import Tensor

Wanted = tuple[str, tuple[Expr, ...], DType | None]
"""What a buffer stands for: a tensor's name, its shape, its type where that is known."""


def extern(
    shape: Any,
    inputs: Sequence[Tensor],
    fcompute: Callable[[Buffers, Buffers], Any],
    name: str = "extern",
    dtype: Any = None,
    in_buffers: Any = None,
    out_buffers: Any = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Return the tensor, or for several shapes the list of tensors, that the statement of `fcompute` writes.

    shape        extents, or a list of tuples of extents: one result each
    fcompute     gets a buffer for each input and one for each result; returns a statement, or a call to evaluate
    dtype        the results' type, or a list of types; that of the inputs where they have one
    in_buffers   buffers in place of those made here, of the inputs' shapes and types; out_buffers likewise

        te.extern((n,), [A], lambda ins, outs: tir.call_packed("my.sort", ins[0], outs[0]), name="sorted")
    """
    asked = f"te.extern '{name_of('te.extern', name)}'"
    tensors = tensors_of(asked, inputs)
    shapes = _shapes(asked, shape)
    ins = _buffers(asked, "in_buffers", in_buffers, [(t.name, t.shape, t.dtype) for t in tensors])
    if out_buffers is None:
        types = _types(asked, dtype, tensors, len(shapes))
        names = [name] if len(shapes) == 1 else [f"{name}.v{number}" for number in range(len(shapes))]
        outs = _buffers(asked, "out_buffers", None, list(zip(names, shapes, types, strict=True)))
    else:
        outs = _buffers(asked, "out_buffers", out_buffers, [("", extents, None) for extents in shapes])
    if not callable(fcompute):
        legal = "lambda ins, outs: ..."
        raise UserTypeError(f"{asked}: {fcompute!r} as the body", because="it is no function", legal=legal)
    body = statement(asked, fcompute(ins, outs), ins, outs)
    op = ExternOp(name, tag_of(tag), attrs, caller(), tensors, ins, outs, body)
    return op.output(0) if op.num_outputs == 1 else list(op.outputs)


def tensors_of(asked: str, inputs: Any) -> tuple[Tensor, ...]:
    """Return the inputs of an opaque operation as a tuple; UserTypeError where they are no tensors."""
    given = (inputs,) if isinstance(inputs, Tensor) else inputs
    if not isinstance(given, (tuple, list)) or not all(isinstance(tensor, Tensor) for tensor in given):
        raise UserTypeError(
            f"{asked}: inputs {inputs!r}", because="they are not all tensors", legal="a list of tensors, [] for none"
        )
    return tuple(given)


def _shapes(asked: str, shape: Any) -> list[tuple[Expr, ...]]:
    """Return the shape of each result: a list of tuples has one for each."""
    several = isinstance(shape, (tuple, list)) and len(shape) > 0 and isinstance(shape[0], (tuple, list))
    return [shape_of(asked, part) for part in (shape if several else [shape])]


def _types(asked: str, dtype: Any, tensors: Sequence[Tensor], count: int) -> list[DType]:
    """Return the type of each result: those given, or the one that all inputs have."""
    if dtype is None:
        kinds = dict.fromkeys(tensor.dtype for tensor in tensors)
        if len(kinds) != 1:
            because = f"the inputs are {' and '.join(kinds)}" if kinds else "there is no input"
            raise UserError(f"{asked} without dtype", because=because, legal='dtype="float32"')
        return list(kinds) * count
    names = list(dtype) if isinstance(dtype, (tuple, list)) else [dtype] * count
    if len(names) != count:
        raise UserError(
            f"{asked}: {len(names)} dtypes", because=f"it has {count} results", legal="one for all, or one for each"
        )
    return [dtype_of(asked, name) for name in names]


def _buffers(asked: str, role: str, given: Any, wanted: Sequence[Wanted]) -> Buffers:
    """Return a buffer for each tensor: those given, of its shape and type and without gaps, or new ones."""
    if given is None:
        return [DeclaredBuffer(name, shape, dtype) for name, shape, dtype in wanted if dtype is not None]
    buffers = [given] if isinstance(given, DeclaredBuffer) else list(given)
    if len(buffers) != len(wanted):
        because = f"there are {len(wanted)} tensors"
        raise UserError(f"{asked}: {len(buffers)} {role}", because=because, legal="one for each")
    for number, (buffer, tensor) in enumerate(zip(buffers, wanted, strict=True)):
        _check_buffer(f"{asked}: {role}[{number}]", buffer, tensor)
    return buffers


def _check_buffer(asked: str, buffer: Any, tensor: Wanted) -> None:
    """Raise UserError unless the buffer is one that a whole tensor can stand for."""
    if not isinstance(buffer, DeclaredBuffer):
        raise UserTypeError(f"{asked} is {buffer!r}", because="it is no buffer", legal="tir.decl_buffer(...)")
    name, shape, dtype = tensor
    dtype = dtype or buffer.dtype
    same = len(buffer.shape) == len(shape) and all(map(same_number, buffer.shape, shape))
    if not same or buffer.dtype is not dtype:
        given, wanted = (
            f"{kind}[{', '.join(map(plain, extents))}]"
            for kind, extents in ((buffer.dtype, buffer.shape), (dtype, shape))
        )
        raise UserError(
            f"{asked}, '{buffer.name}', is {given}",
            because=f"'{name}' is {wanted}" if name else f"the shape of the result is {wanted}",
            legal="the shape and type of its tensor",
        )
    if buffer.strides is not None or buffer.elem_offset is not None or buffer.scope != "global":
        raise UserError(
            f"{asked}, '{buffer.name}', has strides, an offset or a scope of its own",
            because="an opaque operation sees its tensors whole, row-major, in global memory",
            legal="tir.decl_buffer(shape, dtype, name)",
        )
