"""Values of the program that is differentiated: where they are read, and stages that compute more of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...ir import expr as E
from ...ir import make
from ...ir.axis import IterVar
from ...ir.node import Expr
from ...ir.visit import rewrite_expr
from ..axis import reduce_axis
from ..compute import compute
from ..linear import same_number
from ..tensor import ComputeOp, Tensor, domain


class Frame:
    """Where the operations stand that are differentiated: here all of their elements exist, and can be read.

    `suffix` ends the names of adjoints.
    """

    suffix = "grad"

    def value(self, tensor: Tensor) -> Tensor:
        """Return the tensor that has the values of `tensor`."""
        return tensor

    def span(self, op: ComputeOp, dim: int) -> tuple[Expr, Expr] | None:
        """Return the first index and the end of the elements that exist along an axis; None for all of them."""
        return None

    def turned(self, tensor: Tensor, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return where the adjoint of the element at `index` is kept; twice turned is where it was."""
        return tuple(index)


class Fold(NamedTuple):
    """The parts of a reduction over axes of its own; the condition holds only for elements that exist."""

    sources: tuple[Expr, ...]
    axes: tuple[IterVar, ...]
    condition: Expr
    init: tuple[Expr, ...]

    @property
    def options(self) -> dict[str, Any]:
        """The axes and the condition, as a reducer takes them."""
        return {"axis": list(self.axes), "where": None if self.condition is make.TRUE else self.condition}


class Restated:
    """The parts of `op`, over other axes, reading the values that exist in a frame."""

    def __init__(self, op: ComputeOp, frame: Frame, axes: Sequence[Expr]) -> None:
        self.op, self.frame = op, frame
        self.names: dict[E.Var, Expr] = {axis.var: at for axis, at in zip(op.axis, axes, strict=True)}
        self.exists = make.logical_and(*(test for dim in range(len(axes)) for test in self._inside(dim, axes[dim])))

    def _inside(self, dim: int, at: Expr) -> list[Expr]:
        span = self.frame.span(self.op, dim)
        if span is None:
            return []
        first, end = span
        to_the_end = same_number(end, self.op.output(0).shape[dim])
        return [make.le(first, at), *([] if to_the_end else [make.lt(at, end)])]

    def __call__(self, expr: Expr) -> Expr:
        """Return a part of the operation."""
        return rewrite_expr(expr, {E.Var: self._var, E.TensorRead: self._read})

    def _var(self, var: E.Var) -> Expr:
        return self.names.get(var, var)

    def _read(self, read: E.TensorRead) -> Expr:
        return E.TensorRead(self.frame.value(read.tensor), read.indices)

    def fold(self) -> Fold:
        """Return the parts of the reduction that the operation is."""
        reduce = self.op.body[0]
        assert isinstance(reduce, E.Reduce)
        axes: list[IterVar] = []
        for axis in reduce.axes:
            first, extent = map(self, domain(axis))
            axes.append(reduce_axis((first, make.add(first, extent)), name=axis.name))
            self.names[axis.var] = axes[-1].var
        condition = make.logical_and(self.exists, self(reduce.condition))
        return Fold(tuple(map(self, reduce.source)), tuple(axes), condition, tuple(map(self, reduce.init)))


def fold_again(
    op: ComputeOp, frame: Frame, name: str, formula: Callable[..., Any], extents: Sequence[Expr] = ()
) -> tuple[Tensor, ...]:
    """Return another fold of what the reduction `op` folds, over its axes and further ones of `extents`.

    `formula` gets the parts of the reduction and the variables of the further axes.
    """

    def body(*axes: E.Var) -> Any:
        given, further = axes[: len(op.axis)], axes[len(op.axis) :]
        return formula(Restated(op, frame, given).fold(), *further)

    names = [*(axis.name for axis in op.axis), *(f"{axis.name}_" for axis in op.reduce_axis[: len(extents)])]
    made = compute((*op.output(0).shape, *extents), body, name=name, varargs_names=names)
    return made if isinstance(made, tuple) else (made,)


def computed_again(op: ComputeOp, frame: Frame) -> tuple[Tensor, ...]:
    """Return the results of `op`, 0 or the identity of its reduction for elements that do not exist in the frame."""
    reduce = op.body[0]

    def body(*axes: E.Var) -> Any:
        again = Restated(op, frame, axes)
        if isinstance(reduce, E.Reduce):
            fold = again.fold()
            parts = (reduce.combiner, fold.sources, fold.axes, fold.condition, fold.init)
            return tuple(E.Reduce(*parts, index) for index in range(op.num_outputs))
        return tuple(make.if_then_else(again.exists, again(value), make.const(0, value.dtype)) for value in op.body)

    made = compute(op.output(0).shape, body, name=f"{op.name}.rows", varargs_names=[axis.name for axis in op.axis])
    return made if isinstance(made, tuple) else (made,)
