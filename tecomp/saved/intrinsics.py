"""Tensor intrinsics in a text: what one computes as TE, its statements as functions over its buffers.

def vadd_body(x: f32[i32(16)], y: f32[i32(16)], z: out[f32[i32(16)]]):
    ...
vadd = te.decl_tensor_intrin(z, [(vadd_body, []), None, None], [], [(None, 0), (None, 0), (None, 0)], 'vadd')

That is: the compute; body, reduce_init and reduce_update, each with its variables; the scalar parameters; elem_offset
and offset_factor of each buffer; the name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.expr import Var
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.parse import parse
from ..ir.stmt import Buffer, Stmt
from ..ir.subst import substitute, substitute_stmt
from ..ir.syntax import identifier
from ..te.buffer import DeclaredBuffer
from ..te.tensor import ComputeOp, Operation
from ..te.tensor_compute import TensorComputeOp
from ..te.tensor_intrin import TensorIntrin, decl_tensor_intrin
from .statements import variables, written

Names = Callable[[Any, str], str]
Text = tuple[str, list[Expr]]
"""A function, and what stands for its variables."""


def functions(intrin: TensorIntrin, give: Names) -> list[Func | None]:
    """Return the statements of an intrinsic as functions, whose names `give` gives."""
    count = len(intrin.inputs)
    ins, outs = intrin.buffers[:count], intrin.buffers[count:]
    parts = {"body": intrin.body, "reduce_init": intrin.reduce_init, "reduce_update": intrin.reduce_update}
    return [
        None if part is None else written(give((intrin, verb), f"{verb}_of_{identifier(intrin.name)}"), ins, outs, part)
        for verb, part in parts.items()
    ]


def offsets(intrin: TensorIntrin) -> list[Expr]:
    """Return the offsets that the buffers of an intrinsic declare."""
    return [buffer.elem_offset for buffer in intrin.buffers if buffer.elem_offset is not None]


def declared(
    op: Operation, texts: Sequence[Text | None], scalars: Sequence[Var], memory: Sequence[Any], name: str
) -> TensorIntrin:
    """Return the intrinsic that computes `op` by these functions."""
    assert isinstance(op, ComputeOp)
    parts = [None if text is None else _Part(*text) for text in texts]
    first = next(part for part in parts if part is not None)
    buffers = [first.declared(param, *known) for param, known in zip(first.buffers, memory, strict=True)]

    def emit(*_: Any) -> tuple[Stmt | None, ...]:
        return tuple(None if part is None else part.over(buffers) for part in parts)

    before = TensorIntrin.find(name)
    binds = dict(zip((*op.input_tensors, *op.outputs), buffers, strict=True))
    made = decl_tensor_intrin(op, emit, name, binds, scalars)
    if before is not None:
        before.declare()
    return made


class _Part:
    """A function of a text over the variables `known` in the place of its own."""

    def __init__(self, text: str, known: Sequence[Expr]) -> None:
        self.func = parse(text)
        self.buffers = [param for param in self.func.params if isinstance(param, Buffer)]
        self.known: dict[Var, Expr] = dict(zip(variables(self.func), known, strict=True))

    def declared(self, param: Buffer, elem_offset: Expr | None, offset_factor: int) -> DeclaredBuffer:
        """Return the buffer that a parameter stands for."""
        shape = tuple(substitute(extent, self.known) for extent in param.shape)
        strides = None if param.strides is None else tuple(substitute(stride, self.known) for stride in param.strides)
        place = param.scope, strides, param.align, elem_offset, offset_factor
        return DeclaredBuffer(param.name, shape, param.dtype, *place)

    def over(self, buffers: Sequence[Buffer]) -> Stmt:
        return substitute_stmt(self.func.body, self.known, dict(zip(self.buffers, buffers, strict=True)))


def by_intrinsic(made: Any, intrin: TensorIntrin, within: Sequence[int]) -> Any:
    """Return a compute as one by an intrinsic that runs over its last axes: so many of its data, of its reduction."""
    several = isinstance(made, (list, tuple))
    op = (made[0] if several else made).op
    new = TensorComputeOp(op.name, op.axis, op.body, op.tag, op.attrs, op.loc)
    data, reduced = (len(axes) - count for axes, count in zip((op.axis, op.reduce_axis), within, strict=True))
    new.intrin, new.within = intrin, (*op.axis[data:], *op.reduce_axis[reduced:])
    return type(made)(new.outputs) if several else new.outputs[0]
