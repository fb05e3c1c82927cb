"""create_group: the stages between some results and what they are made of, moved together.

A group is a way to name stages: it is no stage itself, and what is done to it is done to each of its members, in the
history too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ScheduleError, UserTypeError
from ..ir.axis import IterVar
from ..te.tensor import Operation, PlaceholderOp, Tensor
from . import place
from .plan import Plan
from .stage import INLINE, At
from .view import StageView

if TYPE_CHECKING:
    from .schedule import Schedule, Stage

Members = Tensor | Operation | Sequence[Tensor | Operation]


class Group:
    """Stages that are moved together. Those in loops of other members, and those inlined, stay where they are."""

    __slots__ = ("_schedule", "ops")

    def __init__(self, schedule: Schedule, ops: frozenset[Operation]) -> None:
        self._schedule, self.ops = schedule, ops

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The members, each after those it reads."""
        return tuple(stage for stage in self._schedule.stages if stage.origin in self.ops)

    def compute_at(self, target: StageView, axis: IterVar) -> None:
        """Compute the members in a loop of a stage outside of the group that reads them; see `s[T].compute_at`."""
        if isinstance(target, StageView) and target.origin in self.ops:
            because = f"'{target.name}' is a member itself"
            raise ScheduleError(f"compute_at of {self!r}", because, "a stage outside of it that reads its members")
        self._each(place.compute_at, target, axis)

    def compute_root(self) -> None:
        """Compute the members before all that read them; see `s[T].compute_root`."""
        self._each(place.compute_root)

    def _each(self, primitive: Callable[..., None], *arguments: Any) -> None:
        """Apply a primitive to all members that are to move, or to none where it is refused for one."""
        moving = list(self._moving())
        for stage in moving:
            primitive.__wrapped__(stage, *arguments)  # pyright: ignore[reportFunctionMemberAccess] (looks, changes nothing)
        for stage in moving:
            primitive(stage, *arguments)

    def _moving(self) -> Iterator[Stage]:
        """Yield the members that no other member has in its loops, readers first."""
        for stage in reversed(self.stages):
            attach = stage.state.attach
            if attach is not INLINE and not (isinstance(attach, At) and attach.op in self.ops):
                yield stage

    def __repr__(self) -> str:
        return f"group({', '.join(stage.name for stage in self.stages)})"


def group_of(schedule: Schedule, outputs: Members, inputs: Members, include_inputs: bool) -> Group:
    """Return the group of the stages that `outputs` need and that need `inputs`: these too, if said so."""
    ends, begins = _given(schedule, "outputs", outputs), _given(schedule, "inputs", inputs)
    needed = set(ends).union(*map(schedule.needs, ends))
    between = {op for op in needed if not schedule.needs(op).isdisjoint(begins) and op not in begins}
    ops = frozenset(
        op for op in (between | set(begins) if include_inputs else between) if not isinstance(op, PlaceholderOp)
    )
    if not ops:
        because = f"none of {_names(ends)} is made of any of {_names(begins)}"
        raise ScheduleError("create_group", because, "results, and what they are made of")
    for other in schedule.groups:
        common = [op for op in schedule.ops if op in ops & other.ops]
        if common and not (ops <= other.ops or other.ops <= ops):
            because = f"{_names(common)} would be in it and in {other!r}, and neither is in the other"
            raise ScheduleError("create_group", because, "groups apart from each other, or one within another")
    return Group(schedule, ops)


def _given(plan: Plan, what: str, tensors: Any) -> list[Operation]:
    """Return the stages named by tensors or operations."""
    found: list[Operation] = []
    for part in tensors if isinstance(tensors, (list, tuple)) else [tensors]:
        op = part.op if isinstance(part, Tensor) else part
        if not isinstance(op, Operation):
            because = f"it is of type {type(part).__name__}"
            raise UserTypeError(f"create_group: {part!r} among the {what}", because, "tensors or operations")
        if op.origin not in plan.position:
            because = "it has no stage in this schedule"
            raise ScheduleError(f"create_group: '{op.name}' among the {what}", because, "what the outputs need")
        found.append(op.origin)
    return found


def _names(ops: Sequence[Operation]) -> str:
    return ", ".join(f"'{op.name}'" for op in ops) or "nothing"
