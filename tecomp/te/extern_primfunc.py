"""A lowered program as an operation of another graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func, Level
from ..ir.node import Expr
from ..ir.stmt import Buffer, Stmt
from ..ir.subst import substitute_stmt
from .buffer import DeclaredBuffer
from .extern import extern, tensors_of
from .extern_body import Buffers
from .linear import linear, same_number
from .shape import plain
from .tensor import Tensor


def extern_primfunc(input_tensors: Sequence[Tensor], primfunc: Func, **kwargs: Any) -> Any:
    """Return what a program computes of tensors, as te.extern does; `kwargs` are its name, tag and attrs.

    The parameters that the program only reads take the tensors, in order; those that it writes are the results.
    """
    asked = "te.extern_primfunc"
    if not isinstance(primfunc, Func):
        raise UserTypeError(
            f"{asked} of {primfunc!r}", because=f"it is a {type(primfunc).__name__}", legal="what tecomp.lower returns"
        )
    tensors = tensors_of(asked, input_tensors)
    read = _arrays_read(f"{asked} of '{primfunc.name}'", primfunc, tensors)
    sizes = _sizes(f"{asked} of '{primfunc.name}'", primfunc, read, tensors)
    indices: dict[E.Var, Expr] = {size: make.index(extent) for size, extent in sizes.items()}
    results = [tuple(_extent(asked, extent, sizes) for extent in output.shape) for output in primfunc.outputs]

    def body(ins: Buffers, outs: Buffers) -> Stmt:
        memory: dict[Buffer, Buffer] = dict(zip((*read, *primfunc.outputs), (*ins, *outs), strict=True))
        return substitute_stmt(primfunc.body, indices, memory)

    outs = [
        DeclaredBuffer(output.name, shape, output.dtype)
        for output, shape in zip(primfunc.outputs, results, strict=True)
    ]
    kwargs.setdefault("name", primfunc.name)
    return extern(results, tensors, body, out_buffers=outs, **kwargs)


def _arrays_read(asked: str, func: Func, tensors: Sequence[Tensor]) -> list[Buffer]:
    """Return the parameters that a program only reads, which the tensors stand for; UserError unless they fit."""
    scalars = [param.name for param in func.params if not isinstance(param, Buffer)]
    if func.level is not Level.LOOPS or func.requires or scalars:
        because = (
            f"it takes the scalar '{scalars[0]}'" if scalars
            else f"it requires that {func.requires[0][1]}" if func.requires
            else f"it is lowered to level {func.level.value}"
        )  # fmt: skip
        raise UserError(asked, because=because, legal="a program of arrays, as tecomp.lower gives it without a target")
    read = [param for param in func.params if isinstance(param, Buffer) and param not in func.outputs]
    kinds = [(param.dtype, len(param.shape)) for param in read]
    given = [(tensor.dtype, tensor.ndim) for tensor in tensors]
    if kinds != given:
        raise UserError(
            f"{asked}: the tensors {', '.join(map(repr, tensors)) or 'are none'}",
            because=f"it reads {', '.join(map(repr, read)) or 'nothing'}",
            legal="one tensor for each, of its type and rank",
        )
    return read


def _sizes(asked: str, func: Func, read: Sequence[Buffer], tensors: Sequence[Tensor]) -> dict[E.Var, Expr]:
    """Return what the sizes of a program are for these tensors."""
    sizes: dict[E.Var, Expr] = {}
    for param, tensor in zip(read, tensors, strict=True):
        for number, (extent, actual) in enumerate(zip(param.shape, tensor.shape, strict=True)):
            if isinstance(extent, E.Var):
                sizes.setdefault(extent, actual)
            if not same_number(_extent(asked, extent, sizes), actual):
                raise UserError(
                    f"{asked}: extent {number} of '{tensor.name}' is {plain(actual)}",
                    because=f"that of '{param.name}' is {plain(extent)}",
                    legal="the same extents",
                )
    unknown = next((size for size in func.sizes() if size not in sizes), None)
    if unknown is not None:
        raise UserError(asked, because=f"no tensor gives its size '{unknown.name}'", legal="a size of what it reads")
    return sizes


def _extent(asked: str, extent: Expr, sizes: Mapping[E.Var, Expr]) -> Expr:
    """Return an extent of a program, a sum of sizes, as one of a shape."""
    form = linear(extent)
    if form is None:
        raise UserError(asked, because=f"it has the extent {plain(extent)}", legal="extents that are sums of sizes")
    total: Expr | int = form.constant
    for size, factor in form.terms.items():
        total = total + sizes.get(size, size) * factor
    return make.convert(total)
