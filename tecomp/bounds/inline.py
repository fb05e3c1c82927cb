"""Bodies with the inlined stages substituted into their readers."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.subst import substitute
from ..ir.visit import rewrite_expr
from ..schedule.schedule import Schedule
from ..schedule.stage import INLINE
from ..te.tensor import ComputeOp, Operation

Bodies = dict[ComputeOp, tuple[Expr, ...]]
Inlined = Callable[[Expr], Expr]


def inlined_bodies(schedule: Schedule) -> tuple[Bodies, Inlined]:
    """Return the bodies of the stages that remain, producers first, and what does the same to any expression.

    B(i) = A[i] + 1, inlined; C(i) = B[i - 1] * 2    ->    C(i) = (A[i - 1] + 1) * 2
    """
    bodies: Bodies = {}
    definitions: dict[Operation, tuple[tuple[E.Var, ...], Expr]] = {}

    def read(node: E.TensorRead) -> Expr:
        definition = definitions.get(node.tensor.op)
        if definition is None:
            return node
        axes, body = definition
        return substitute(body, {axis: make.cast(axis.dtype, at) for axis, at in zip(axes, node.indices, strict=True)})

    def inlined(expr: Expr) -> Expr:
        return rewrite_expr(expr, {E.TensorRead: read}) if definitions else expr

    for stage in schedule.stages:
        op, made = stage.origin, stage.op
        if not isinstance(op, ComputeOp) or not isinstance(made, ComputeOp):
            continue
        body = tuple(map(inlined, made.body))
        if stage.state.attach is INLINE:
            definitions[op] = (tuple(axis.var for axis in op.axis), body[0])
        else:
            bodies[op] = body
    return bodies, inlined
