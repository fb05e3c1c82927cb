"""Where each stage is computed: the loops around it, and whether they are around all its readers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..errors import ScheduleError
from ..ir.axis import IterVar
from ..schedule.schedule import Schedule
from ..schedule.stage import SCAN, At, StageState
from ..te.tensor import ComputeOp, Operation
from .shared_out import in_order


class Place(NamedTuple):
    """A loop: the leaf `axis` of the stage of `op`."""

    op: Operation
    axis: IterVar


class Placement:
    """The attach points of one schedule. A path lists the loops around a stage, outermost first."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        hosts = {schedule.attach_axis(stage.origin) for stage in schedule.stages if isinstance(stage.state.attach, At)}
        self.states: dict[Operation, StageState] = {
            stage.origin: in_order(stage.state, hosts) for stage in schedule.stages
        }
        self._paths: dict[Operation, tuple[Place, ...]] = {}

    def point(self, op: Operation) -> Place | None:
        """Return the loop in whose body `op` is computed; None at the root."""
        attach = self.states[op].attach
        if isinstance(attach, At):
            return Place(attach.op, self.schedule.attach_axis(op))
        if attach is SCAN:
            scan = self.states[op].group
            assert scan is not None
            return Place(scan, self.states[scan].leaves[-1])
        return None

    def path(self, op: Operation) -> tuple[Place, ...]:
        """Return the loops around the whole of `op`'s nest."""
        chain: list[Operation] = []
        while op not in self._paths:
            chain.append(op)
            point = self.point(op)
            if point is None:
                self._paths[op] = ()
                break
            op = point.op
        for inner in reversed(chain):
            point = self.point(inner)
            if point is not None:
                leaves = self.states[point.op].leaves
                around = leaves[: leaves.index(point.axis) + 1]
                self._paths[inner] = self._paths[point.op] + tuple(
                    Place(point.op, axis) for axis in self._seen(point, around)
                )
        return self._paths[chain[0] if chain else op]

    def _seen(self, point: Place, around: Sequence[IterVar]) -> Sequence[IterVar]:
        """Leave out the threads that live over a scan's steps for what is computed in a step: its loops name them."""
        env = self.states[point.op].env
        return around if point.axis in env else [axis for axis in around if axis not in env]

    def outermost(self, op: Operation) -> Operation:
        """Return the stage at the root in whose loops `op` is computed; itself when it is at the root."""
        path = self.path(op)
        return path[0].op if path else op

    def reading_path(self, op: Operation) -> tuple[Place, ...]:
        """Return the loops around the body of `op`, its own among them."""
        around = [*self.path(op), *(Place(op, axis) for axis in self.states[op].leaves)]
        living = [Place(at.op, axis) for at in around[:1] for axis in self.states[at.op].env]
        return (*(place for place in living if place not in around), *around)

    def around_all(self, readers: Sequence[Operation]) -> list[Place]:
        """Return the loops that are around every reader, innermost first."""
        shared: list[Place] = []
        for places in zip(*map(self.reading_path, readers), strict=False):
            if any(place != places[0] for place in places):
                break
            shared.append(places[0])
        return shared[::-1]

    def check(self, op: Operation, readers: Sequence[Operation]) -> None:
        """Raise ScheduleError unless the loop at which `op` is computed is around every reader."""
        point = self.point(op)
        if point is None:
            return
        paths = {reader: self.reading_path(reader) for reader in readers}
        outside = [reader for reader, path in paths.items() if point not in path]
        if readers and not outside:
            return
        name = point.op.name
        because = f"'{name}' does not read '{op.name}'"
        if outside:
            reader = outside[0]
            at = self.point(reader)
            where = f"at '{at.axis.name}' of '{at.op.name}'" if at else "at the root"
            beyond = f"outside '{point.axis.name}' of '{name}'"
            because = f"'{reader.name}' also reads '{op.name}' and is computed {where}, {beyond}"
        raise ScheduleError(
            f"compute_at: '{op.name}' cannot be placed at loop '{point.axis.name}' of '{name}'",
            because=because,
            legal=[
                *(f"s[{place.op.name}] at {place.axis.name}" for place in self.around_all(readers)),
                "root",
                *_again(op, outside, paths),
            ],
            location=self.schedule.location_of(op, "compute_at"),
        )


def _again(op: Operation, outside: Sequence[Operation], readers: Collection[Operation]) -> list[str]:
    """Say that readers outside of the loop may have a stage of their own, where others are inside."""
    named = ", ".join(reader.name for reader in outside)
    both = isinstance(op, ComputeOp) and 0 < len(outside) < len(readers)
    return [f"s.duplicate({op.name}, [{named}]) and each at its own reader"] if both else []
