"""The operation that a hybrid function is, and which of its loops a schedule may change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...ir import expr as E
from ...ir.axis import AxisKind, IterVar, Range
from ...ir.node import Expr
from ...ir.stmt import Alloc, Buffer, For, Let, LoopKind, Seq, Stmt
from ...ir.visit import walk
from ...location import Location
from ..extern_op import ExternOp
from ..tensor import Tensor
from .dependence import Dependences

Requirement = tuple[Expr, str]
MARKS: Final = (LoopKind.PARALLEL, LoopKind.VECTORIZED, LoopKind.THREAD)
"""The loops whose iterations run at once."""


class HybridOp(ExternOp):
    """Tensors written by a hybrid function: `body`, over a buffer for each input and each result.

    `axis` are all of its loops in the order of the program. Those of the perfect nest it begins with, `nest`, are
    loops of the schedule; `core` is what stands inside them. `fixed` says of each other axis why it is not, and of an
    axis of kind CARRIED why its iterations run in order. `before` is the memory allocated outside of the nest.
    """

    __slots__ = ("axis", "before", "core", "fixed", "nest", "requires")

    def __init__(
        self,
        name: str,
        tag: str,
        loc: Location | None,
        inputs: Sequence[Tensor],
        input_placeholders: Sequence[Buffer],
        output_placeholders: Sequence[Buffer],
        body: Stmt,
        requires: Sequence[Requirement] = (),
    ) -> None:
        super().__init__(name, tag, None, loc, inputs, input_placeholders, output_placeholders, body)
        self.requires = tuple(requires)
        self.fixed: dict[IterVar, str] = {}
        self.before, self.nest, self.core = _perfect_nest(body)
        dependences = Dependences(body)
        axes: list[IterVar] = []
        for loop in _loops(body):
            axes.append(self._axis(loop, dependences))
        self.axis = tuple(axes)

    @property
    def variables(self) -> list[E.Var]:
        """The variables that the body and what is asserted name: sizes and scalar arguments."""
        asserted = (node for condition, _ in self.requires for node in walk(condition) if isinstance(node, E.Var))
        return list(dict.fromkeys((*super().variables, *asserted)))

    @property
    def spine(self) -> tuple[IterVar, ...]:
        """The axes that are loops of the schedule."""
        return self.axis[: len(self.nest)]

    def _axis(self, loop: For, dependences: Dependences) -> IterVar:
        domain = Range(loop.min, loop.extent)
        if not any(loop is outer for outer in self.nest):
            axis = IterVar(domain, loop.var, AxisKind.OPAQUE)
            self.fixed[axis] = _beside(self.nest, self.core)
            return axis
        reason = dependences.between_iterations(loop, around=self.nest[0])
        axis = IterVar(domain, loop.var, AxisKind.CARRIED if reason else AxisKind.DATA)
        if reason:
            self.fixed[axis] = reason
        return axis


def _perfect_nest(body: Stmt) -> tuple[tuple[Buffer, ...], tuple[For, ...], Stmt]:
    """Return the loops that stand directly inside one another from the outermost on, and what the last one does.

    Before them stands the memory that is allocated for all iterations.
    """
    before: list[Buffer] = []
    nest: list[For] = []
    core = body
    while isinstance(core, Alloc):
        before.append(core.buffer)
        core = core.body
    while isinstance(core, For) and not _depends(core, nest):
        nest.append(core)
        core = core.body
    return (tuple(before), tuple(nest), core) if nest else ((), (), body)


def _depends(loop: For, outer: Sequence[For]) -> bool:
    """Return whether how long a loop is depends on one outside of it."""
    names = {other.var for other in outer}
    return any(node in names for end in (loop.min, loop.extent) for node in walk(end) if isinstance(node, E.Var))


def _loops(root: Stmt) -> Iterator[For]:
    return (node for node in walk(root) if isinstance(node, For))


def _beside(nest: Sequence[For], core: Stmt) -> str:
    """Say what ends the perfect nest."""
    if not nest:
        return "it is in no perfect nest: other statements stand beside the outermost loops"
    if isinstance(core, For):
        return f"how long '{core.var.name}' is depends on the loops around it, so it stays inside them"
    while isinstance(core, (Alloc, Let)):
        core = core.body
    first = core.stmts[0] if isinstance(core, Seq) else core
    line = 0 if first.loc is None else first.loc.line
    return f"it is in no perfect nest: inside '{nest[-1].var.name}' it is not alone, a statement stands at line {line}"
