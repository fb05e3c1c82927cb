"""What a compute's formula may return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.axis import IterVar
from ..ir.expr import Reduce, Var
from ..ir.foreign import gives_nothing
from ..ir.node import Expr
from ..ir.visit import walk
from .axis import ReduceAxis
from .graph import post_order
from .tensor import ComputeOp, domain

Axes = tuple[IterVar, ...]
Body = tuple[Expr, ...]


def body_of(asked: str, result: Any, axes: Axes) -> Body:
    """Return what the formula gave as expressions, one for each output.

    UserError for None, for a reduction below the top, for outputs that are different reductions, for an axis of another
    stage.
    """
    if result is None:
        raise UserTypeError(
            f"{asked}: the formula returned None",
            because="its value is what each element is",
            legal="an expression: write return",
        )
    given = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if not given:
        raise UserTypeError(
            f"{asked}: the formula returned no outputs",
            because="a compute has one or more",
            legal="an expression, a tuple of them",
        )
    body = tuple(map(make.convert, given))
    _check_reductions(asked, body)
    for value in body:
        _check_below(asked, value, axes)
    return body


def _check_reductions(asked: str, body: Body) -> None:
    first = body[0]
    if not any(isinstance(value, Reduce) for value in body):
        return
    if not isinstance(first, Reduce) or not all(isinstance(value, Reduce) for value in body):
        raise UserError(
            f"{asked}: some outputs are reductions, some are not",
            because="the outputs of one compute share its loops",
            legal="a te.compute for each of the two kinds",
        )
    if len(body) != len(first.source):
        raise UserError(
            f"{asked}: {len(body)} output{'' if len(body) == 1 else 's'} for a reduction of {len(first.source)} values",
            because=f"te.{first.combiner.name} computes them together",
            legal="return the tuple that the reducer gave",
        )
    for position, value in enumerate(body):
        if value is not Reduce(*first.parts()[:-1], position):
            raise UserError(
                f"{asked}: output {position} is not part {position} of the reduction of output 0",
                because="the outputs of one compute are the parts of one reduction, in order",
                legal="return the tuple that the reducer gave, or a te.compute for each reduction",
            )


def _check_below(asked: str, value: Expr, axes: Axes) -> None:
    """Check what stands below the top: no reduction, no axis but those of the compute and of its own reduction."""
    own = {axis.var for axis in axes}
    if isinstance(value, Reduce):
        for start in value.init:
            _check_axes(asked, start, own)
        for axis in value.axes:
            for end in domain(axis):
                _check_axes(asked, end, own)
            own.add(axis.var)
    _check_axes(asked, value, own)


def _check_axes(asked: str, root: Expr, own: set[Var]) -> None:
    for node in walk(root):
        if isinstance(node, Reduce) and node is not root:
            raise UserError(
                f"{asked}: te.{node.combiner.name} below the top of the formula",
                because="a reduction is the whole of a compute: it has loops of its own",
                legal="a te.compute for the reduction, and one that reads it",
            )
        if gives_nothing(node):
            raise UserError(
                f"{asked}: {node!r} in the formula",
                because="the call gives no value: what it does, it does to arrays",
                legal="te.extern, which passes arrays; tir.call_pure_extern of a C function",
            )
        if isinstance(node, Var) and node.extent is not None and node not in own:
            raise UserError(
                f"{asked}: '{node.name}' is none of its axes",
                because="it is a reduce axis that nothing folds over here, or an axis of another stage",
                legal=_legal(own, node),
            )


def _legal(own: set[Var], stray: Var) -> Sequence[str]:
    names = ", ".join(sorted(var.name for var in own))
    return [*([names] if names else []), f"te.sum(..., axis={stray.name})"]


def claim_reduce_axes(op: ComputeOp) -> None:
    """Note that `op` folds over its reduce axes; UserError when a stage that it reads does so too."""
    for axis in op.reduce_axis:
        if not isinstance(axis, ReduceAxis):
            continue
        other = axis.user
        if other is not None and other in post_order([op]):
            raise reused_axis(axis, other, op)
        axis.user = op


def reused_axis(axis: IterVar, first: ComputeOp, second: ComputeOp) -> UserError:
    """Return the refusal of one reduce axis in two stages."""
    where = f" ({first.loc})" if first.loc else ""
    return UserError(
        f"te.compute '{second.name}': reduce axis '{axis.name}' is used twice",
        because=f"'{first.name}'{where} folds over it, and an axis belongs to one stage",
        legal=f"another te.reduce_axis for '{second.name}'",
        location=second.loc,
    )
