"""From the readers of a tensor to what they read: reverse-mode differentiation of a graph.

Each operation is looked at once, after all that read its results. What it adds to the adjoints of its inputs is kept
as scatters until they are asked for in their turn; then they become one tensor for each adjoint, a gather.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ...dtype import INDEX
from ...ir import expr as E
from ...ir import make
from ...ir.subst import substitute
from ..tensor import ComputeOp, Tensor
from .adjoint import Adjoint, Scatter, collect
from .forward import Frame
from .partials import choose
from .spread import Elements, Spread
from .stages import Stages, distinct

Whole = Adjoint | Scatter
"""An adjoint; as a scatter without axes it is that one element of it which is not 0."""


class Reverse:
    """The adjoints of the tensors `active`, over the index axes `prefix`, which name the elements of the output."""

    def __init__(
        self, asked: str, stages: Stages, frame: Frame, prefix: Sequence[E.Var], active: Collection[Tensor]
    ) -> None:
        self.asked, self.stages, self.frame, self.prefix, self.active = asked, stages, frame, tuple(prefix), active
        self._scatters: dict[Tensor, list[Scatter]] = {}
        self._settled: dict[Tensor, Whole | None] = {}

    def add(self, tensor: Tensor, scatter: Scatter) -> None:
        """Note what a reader adds to the adjoint of a tensor."""
        self._scatters.setdefault(tensor, []).append(scatter)

    def set(self, tensor: Tensor, adjoint: Adjoint) -> None:
        """Give a tensor its adjoint."""
        self._settled[tensor] = adjoint

    def scatters(self, tensor: Tensor) -> list[Scatter]:
        """Return what was added to the adjoint of a tensor."""
        return self._scatters.get(tensor, [])

    def adjoint(self, tensor: Tensor) -> Whole | None:
        """Return the adjoint of a tensor all of whose readers were looked at; None where it is 0."""
        if tensor not in self._settled:
            self._settled[tensor] = self._settle(tensor)
        return self._settled[tensor]

    def whole(self, tensor: Tensor) -> Adjoint | None:
        """Return the adjoint of a tensor as one value for each of its elements."""
        found = self.adjoint(tensor)
        return self._gathered(tensor, [found]) if isinstance(found, Scatter) else found

    def _settle(self, tensor: Tensor) -> Whole | None:
        scatters = self.scatters(tensor)
        if len(scatters) == 1 and not scatters[0].axes:
            return self._one_element(tensor, scatters[0])
        return self._gathered(tensor, scatters) if scatters else None

    def _one_element(self, tensor: Tensor, only: Scatter) -> Scatter:
        """Keep a weight that takes computing in a tensor over the prefix."""
        if isinstance(only.weight, (E.Const, E.TensorRead)):
            return only
        name = f"{tensor.name}.{self.frame.suffix}.element"
        kept = self.stages.pointwise(name, self.prefix, choose(only.guard, only.weight))
        return only._replace(weight=E.TensorRead(kept, self.prefix))

    def _gathered(self, tensor: Tensor, scatters: Sequence[Scatter]) -> Adjoint:
        axes = self.stages.axes_of(tensor, axis_names(tensor, scatters))
        everywhere = (*self.prefix, *axes)
        name = f"{tensor.name}.{self.frame.suffix}"
        zero = make.const(0, tensor.dtype)
        value = collect(self.stages, name, everywhere, self.frame.turned(tensor, axes), scatters, zero)
        if not isinstance(value, (E.Const, E.TensorRead)):
            value = E.TensorRead(self.stages.pointwise(name, everywhere, value), everywhere)
        return Adjoint(axes, substitute(value, dict(zip(axes, self.frame.turned(tensor, axes), strict=True))))

    def spread(self, op: ComputeOp) -> None:
        """Add to the adjoints of what `op` reads what its results' adjoints give."""
        adjoints = [self.adjoint(tensor) for tensor in op.outputs]
        known = [adjoint for adjoint in adjoints if adjoint is not None]
        if not known:
            return
        only = known[0] if len(known) == 1 else None
        if isinstance(only, Scatter):
            seeds = tuple(None if adjoint is None else only.weight for adjoint in adjoints)
            elements = Elements(op, (), only.at, only.guard, seeds)
        else:
            axes = self.existing(op)
            wholes = (self.whole(tensor) for tensor in op.outputs)
            seeds = tuple(None if whole is None else whole.at(axes) for whole in wholes)
            elements = Elements(op, axes, axes, make.TRUE, seeds)
        for tensor, scatter in Spread(elements, self.stages.indexer, self.frame, self.active, self.asked).scatters():
            self.add(tensor, scatter)

    def existing(self, op: ComputeOp) -> tuple[E.Var, ...]:
        """Return new index axes over the elements of `op` that exist."""
        return tuple(self._axis(op, dim) for dim in range(len(op.axis)))

    def _axis(self, op: ComputeOp, dim: int) -> E.Var:
        axis, span = op.axis[dim], self.frame.span(op, dim)
        if span is None:
            return self.stages.axis(axis.name, op.output(0).shape[dim])
        first, end = (make.index(self.stages.indexer.lower(part, {})) for part in span)
        return E.Var(axis.name, INDEX, first, make.sub(end, first))


def axis_names(tensor: Tensor, scatters: Iterable[Scatter]) -> list[str]:
    """Return names for the dimensions of a tensor: its own, or those of the axes that it is read with."""
    if isinstance(tensor.op, ComputeOp):
        return [axis.name for axis in tensor.op.axis]
    names = [f"i{dim}" for dim in range(tensor.ndim)]
    for scatter in scatters:
        own = {*scatter.axes}
        read = zip(scatter.at, names, strict=True)
        return distinct(at.name if isinstance(at, E.Var) and at in own else name for at, name in read)
    return names
