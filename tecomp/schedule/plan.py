"""What a schedule knows: the stages in order, who reads whom, each one's record, and what was done, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..ir.axis import IterVar
from ..location import Location
from ..te.graph import consumers, post_order
from ..te.tensor import Operation
from .relation import Relation, Split
from .scans import membership
from .stage import At, StageState, initial


class Applied(NamedTuple):
    """One primitive as it was applied."""

    primitive: str
    stage: str
    arguments: Mapping[str, Any]
    """By parameter; those left at their default are not there."""
    location: Location | None
    op: Operation
    result: Any
    """What it returned: the axes it made."""


class Plan:
    """The stages of a program and how each is to be computed. Only `commit` changes it."""

    def __init__(self, outputs: Sequence[Operation]) -> None:
        self.outputs = tuple(dict.fromkeys(outputs))
        self.ops = tuple(post_order(self.outputs))
        self.position = {op: number for number, op in enumerate(self.ops)}
        self.readers = consumers(self.ops)
        scans = membership(self.ops)
        self.groups = scans.groups
        ends = set(self.outputs)
        self.states = {
            op: initial(op, is_output=op in ends, group=scans.computed_by.get(op), feeds=scans.written_into.get(op))
            for op in self.ops
        }
        self.guests: dict[Operation, set[Operation]] = {op: set() for op in self.ops}
        """Which stages are computed in the loops of each."""
        self.owner = {axis.var: op for op, state in self.states.items() for axis in state.axes}
        """Whose axis a variable is."""
        self.applied: list[Applied] = []
        self._sources: tuple[Operation, frozenset[Operation]] | None = None

    def commit(self, state: StageState, applied: Applied) -> None:
        """Make `state` the record of its stage, and note by which call."""
        old = self.states[state.op]
        if isinstance(old.attach, At):
            self.guests[old.attach.op].discard(state.op)
        if isinstance(state.attach, At):
            self.guests[state.attach.op].add(state.op)
        self.owner.update((axis.var, state.op) for axis in state.axes[len(old.axes) :])
        self.states[state.op] = state
        self.applied.append(applied)

    def reads(self, reader: Operation, producer: Operation) -> bool:
        """Return whether `reader` reads `producer`, directly or through other stages."""
        if reader in self.readers[producer]:
            return True
        if self._sources is None or self._sources[0] is not reader:
            self._sources = (reader, frozenset(post_order([reader])) - {reader})
        return producer in self._sources[1]

    def attach_axis(self, op: Operation) -> IterVar:
        """Return the leaf in whose body `op` is computed: the axis it was placed at, followed through later changes.

        A place at an axis that was split is in its inner loop; at one that was fused, in the fused loop.
        """
        attach = self.states[op].attach
        assert isinstance(attach, At), f"{op.name} is not placed at a loop"
        relations = self.states[attach.op].relations
        moved = {parent: _heir(relation) for relation in relations for parent in relation.parents}
        axis = attach.axis
        while axis in moved:
            axis = moved[axis]
        return axis

    def location_of(self, op: Operation, primitive: str, axis: IterVar | None = None) -> Location | None:
        """Return the user's line that last applied `primitive` to the stage of `op` (on `axis`, when one is given)."""
        for applied in reversed(self.applied):
            on_axis = axis is None or any(value is axis for value in applied.arguments.values())
            if applied.op is op and applied.primitive == primitive and on_axis:
                return applied.location
        return op.loc


def _heir(relation: Relation) -> IterVar:
    """Return the axis in whose body a place at one of the relation's parents stays."""
    return relation.inner if isinstance(relation, Split) else relation.children[0]
