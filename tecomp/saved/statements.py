"""Operations whose bodies are statements (te.extern, te.hybrid) as functions in the notation of printed programs.

def E(A: f32[n, i32(3)], E: out[f32[n, i32(3)]]):
    n: size[i32]
    for i in range(n):
        ...
E = te.extern([A], E, 'extern', [n], name='E')          the tensors it reads; the variables of the function
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..ir.expr import Var
from ..ir.func import Func, Level
from ..ir.node import Expr
from ..ir.parse import parse
from ..ir.stmt import Buffer, Stmt
from ..ir.subst import substitute, substitute_stmt
from ..location import caller
from ..te.extern_op import ExternOp, named_variables
from ..te.hybrid import HybridOp
from ..te.tensor import Tensor

KINDS: Final[dict[str, type[ExternOp]]] = {"extern": ExternOp, "hybrid": HybridOp}
"""The operations, by how a text names them."""


def function(op: ExternOp, name: str) -> Func:
    """Return the body of an operation as a function of its buffers and then its scalars."""
    requires = op.requires if isinstance(op, HybridOp) else ()
    return written(name, op.input_placeholders, op.output_placeholders, op.body, requires)


def written(
    name: str, ins: Sequence[Buffer], outs: Sequence[Buffer], body: Stmt, requires: Sequence[tuple[Expr, str]] = ()
) -> Func:
    """Return a statement as a function of the buffers it reads and writes, and then of its scalars."""
    buffers, outputs, body = (*ins, *outs), tuple(outs), _without_lines(body)
    sizes = Func(name, buffers, outputs, body, Level.LOOPS, tuple(requires)).sizes()
    scalars = tuple(var for var in named_variables(body) if var not in sizes)
    return Func(name, (*buffers, *scalars), outputs, body, Level.LOOPS, tuple(requires))


def _without_lines(node: Stmt) -> Stmt:
    """Return a statement without the lines of the user's program, which would stand in its text."""
    new = node.map(_without_lines, lambda expr: expr)
    return type(new)(**{field: getattr(new, field) for field in new.fields})


def variables(func: Func) -> list[Var]:
    """Return the variables that a function does not define itself: its sizes, its scalars."""
    return [*func.sizes(), *(param for param in func.params if isinstance(param, Var))]


def operation(
    text: str, inputs: Sequence[Tensor], kind: str, known: Sequence[Expr], name: str, tag: str, attrs: Any
) -> ExternOp:
    """Return the operation whose function is `text`, over the variables `known` in the place of the function's."""
    func = parse(text)
    values: dict[Var, Expr] = dict(zip(variables(func), known, strict=True))
    change = {
        param: Buffer(
            param.name,
            tuple(substitute(extent, values) for extent in param.shape),
            param.dtype,
            param.scope,
            None if param.strides is None else tuple(substitute(stride, values) for stride in param.strides),
            param.align,
        )
        for param in func.params
        if isinstance(param, Buffer)
    }
    body = substitute_stmt(func.body, values, change)
    ins = [change[param] for param in list(change)[: len(inputs)]]
    outs = [change[param] for param in func.outputs]
    if kind == "hybrid":
        requires = [(substitute(condition, values), reason) for condition, reason in func.requires]
        return HybridOp(name, tag, caller(), inputs, ins, outs, body, requires)
    return ExternOp(name, tag, attrs, caller(), inputs, ins, outs, body)
