"""Bodies with the inlined stages substituted into their readers."""

from __future__ import annotations

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.subst import substitute
from ..ir.visit import ExprTable, rewrite_expr
from ..schedule.schedule import Schedule
from ..schedule.stage import INLINE
from ..te.tensor import ComputeOp, Operation

Bodies = dict[Operation, tuple[Expr, ...]]


def inlined_bodies(schedule: Schedule) -> Bodies:
    """Return the bodies of the stages that remain, producers first.

    B(i) = A[i] + 1, inlined; C(i) = B[i - 1] * 2    ->    C(i) = (A[i - 1] + 1) * 2
    """
    bodies: Bodies = {}
    inlined: dict[Operation, tuple[tuple[E.Var, ...], Expr]] = {}

    def read(node: E.TensorRead) -> Expr:
        definition = inlined.get(node.tensor.op)
        if definition is None:
            return node
        axes, body = definition
        return substitute(body, {axis: make.cast(axis.dtype, at) for axis, at in zip(axes, node.indices, strict=True)})

    table: ExprTable = {E.TensorRead: read}
    for stage in schedule.stages:
        op = stage.op
        if not isinstance(op, ComputeOp):
            continue
        body = op.body if not inlined else tuple(rewrite_expr(part, table) for part in op.body)
        if stage.state.attach is INLINE:
            inlined[op] = (tuple(axis.var for axis in op.axis), body[0])
        else:
            bodies[op] = body
    return bodies
