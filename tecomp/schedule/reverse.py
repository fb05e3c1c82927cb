"""reverse_compute_at: a stage is computed in the loops of what it reads, as soon as they have produced its part."""

from __future__ import annotations

from collections.abc import Iterator

from ..arith import can_prove
from ..errors import ScheduleError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.visit import walk
from ..te.tensor import ComputeOp, domain
from .axis import as_axis, check_has_loops, loops_of, names, why_no_leaf
from .extent import Exact, show
from .moved import Moved
from .primitive import Change, primitive
from .relation import carrying
from .stage import ROOT, At
from .view import StageView


@primitive
def reverse_compute_at(stage: StageView, target: StageView, axis: IterVar) -> Change[tuple[IterVar, ...]]:
    """Compute the stage in a loop of a stage that it reads: in each iteration, what that iteration is enough for.

    The loops of `target` down to `axis` become loops of this stage, with all that was said of them, and what is left of
    `target` is computed inside. Return those loops, and behind them the pieces of this stage's axes that stay inside.
    So `target` needs memory for one iteration only. Along the axes that these loops are made of, an element may depend
    on the elements of `target` at its own place alone.

        for io in range(n // 8):            for io in range(n // 8):                 # s[C].reverse_compute_at(s[P], io)
            for ii in range(8):                 for ii in range(8):
                for k in range(m):                  for k in range(m):
                    P[io*8 + ii] += A[..]  ->           P[ii] += A[io*8 + ii, k]
        for i in range(n):                      for ii in range(8):
            C[i] = max(P[i], 0)                     C[io*8 + ii] = max(P[ii], 0)
    """
    if not isinstance(target, StageView):
        because = f"it is of type {type(target).__name__}"
        raise UserTypeError(f"reverse_compute_at: {target!r} is no stage", because, "s[P], a stage that this one reads")
    check_has_loops(stage, "reverse_compute_at")
    check_has_loops(target, "reverse_compute_at")
    found = as_axis(target, "reverse_compute_at", axis)
    move = _Move(stage, target, found)
    move.check()
    moved = Moved(target.state, move.loops)
    part = moved.no_box()
    if part is not None:
        because = f"what an iteration of it produces is no range of '{part.name}', which the loop is a part of"
        raise move.refused(because, "loops with the outer pieces of splits first, and fused loops whole")
    consumer, loops = moved.outside(stage.state, move.matching())
    return (consumer, moved.inside(At(stage.origin, loops[len(move.loops) - 1]))), loops


class _Move:
    """The loops of one stage down to an axis, on their way to a stage that reads it."""

    def __init__(self, stage: StageView, target: StageView, axis: IterVar) -> None:
        self.stage, self.target, self.axis = stage, target, axis

    def check(self) -> None:
        """Raise ScheduleError where the loops cannot go there."""
        self._check_places()
        position = self.target.state.positions()[self.axis]
        self.loops = self.target.state.leaves[: position + 1]
        made = self.target.op
        assert isinstance(made, ComputeOp)
        reduced = carrying(made.reduce_axis, self.target.state.relations)
        partial = next((loop for loop in self.loops if loop in reduced), None)
        if partial is not None:
            data = [leaf for leaf in self.target.state.leaves if leaf not in reduced]
            because = f"'{partial.name}' reduces, so no element is complete before its last iteration"
            raise self.refused(because, f"a loop outside those that reduce: {names(data)}")

    def matching(self) -> dict[IterVar, IterVar]:
        """Return the axis of the stage for each axis of the target that the loops are made of."""
        made, relations = self.target.op, self.target.state.relations
        assert isinstance(made, ComputeOp)
        found: dict[IterVar, IterVar] = {}
        for number, own in enumerate(made.axis):
            if not carrying([own], relations).isdisjoint(self.loops):
                found[own] = axis = self._matching(number)
                if len(set(found.values())) < len(found):
                    because = f"'{self.stage.name}' reads '{self.target.name}' along '{axis.name}' in two dimensions"
                    raise self.refused(because, "a loop that one of them does not go into, or compute_at")
        return found

    def _check_places(self) -> None:
        stage, target = self.stage, self.target
        if target.plan is not stage.plan:
            raise self.refused(f"'{target.name}' is a stage of another schedule", "a stage that this one reads")
        because = why_no_leaf(target, self.axis)
        if because:
            raise self.refused(f"'{self.axis.name}' is no loop of it: {because}", loops_of(target))
        reason = next((reason for reason, holds in self._reasons() if holds), None)
        if reason is not None:
            raise self.refused(reason, f"a compute that only '{stage.name}' reads, both at the root")
        if target.state.loops and stage.state.loops:
            because = f"loops of '{stage.name}' are marked, and those of '{target.name}' bring their own marks"
            raise self.refused(because, f"this first, then mark the loops of '{stage.name}'")

    def _reasons(self) -> Iterator[tuple[str, object]]:
        """Yield what could keep the two stages apart, each with whether it does."""
        stage, target = self.stage, self.target
        others = [f"'{reader.name}'" for reader in stage.plan.readers[target.origin] if reader is not stage.origin]
        yield f"'{stage.name}' does not read '{target.name}'", stage.origin not in stage.plan.readers[target.origin]
        yield f"'{target.name}' is an output, and outputs are computed whole", target.state.is_output
        for view in (target, stage):
            yield f"'{view.name}' is no compute", not isinstance(view.op, ComputeOp)
            yield f"'{view.name}' is computed in the loops of another stage", view.state.attach is not ROOT
            yield f"'{view.name}' is computed by an instruction", view.state.tensorized
        yield f"{', '.join(others)} also read '{target.name}', of which one iteration's part is kept", others

    def _matching(self, number: int) -> IterVar:
        """Return the axis of the stage along which it reads that dimension of the target, at its own place."""
        made, target = self.stage.op, self.target.op
        assert isinstance(made, ComputeOp)
        assert isinstance(target, ComputeOp)
        along = target.axis[number]
        own: dict[Expr, IterVar] = {axis.var: axis for axis in made.axis}
        reads = list(dict.fromkeys(self._indices(number)))
        if len(reads) > 1 or reads[0] not in own:
            at = " and at ".join(map(repr, reads))
            because = (
                f"'{made.name}' reads '{target.name}' at {at} along '{along.name}', so it needs other iterations too"
            )
            raise self.refused(because, f"a loop that '{along.name}' does not go into, or compute_at")
        axis, exact = own[reads[0]], Exact()
        extents = [domain(part).extent for part in (axis, along)]
        if not can_prove(make.eq(*map(exact, extents))):
            lengths = " and ".join(map(show, extents))
            because = f"'{axis.name}' of '{made.name}' and '{along.name}' have the extents {lengths}"
            raise self.refused(because, "stages of one extent along the loops that move")
        if axis not in self.stage.state.positions():
            because = f"'{axis.name}' of '{made.name}' gets new loops, and {why_no_leaf(self.stage, axis)}"
            raise self.refused(because, f"this before the loops of '{made.name}' are scheduled")
        return axis

    def _indices(self, number: int) -> list[Expr]:
        """Return where the stage reads the target along a dimension."""
        made = self.stage.op
        assert isinstance(made, ComputeOp)
        nodes = (node for part in made.expressions() for node in walk(part) if isinstance(node, E.TensorRead))
        return [node.indices[number] for node in nodes if node.tensor.op is self.target.origin]

    def refused(self, because: str, legal: str) -> ScheduleError:
        asked = f"reverse_compute_at: '{self.stage.name}' cannot be computed at loop '{self.axis.name}'"
        return ScheduleError(f"{asked} of '{self.target.name}'", because, legal)
