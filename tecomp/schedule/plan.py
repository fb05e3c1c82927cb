"""What a schedule knows: the stages in order, who reads whom, each one's record, and what was done, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..ir.axis import AxisKind, IterVar
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
    """What it returned: the axes or tensors it made."""
    definitions: tuple[Operation, ...] = ()
    """What the stages that it made or changed compute since then, where that is new."""


class Plan:
    """The stages of a program and how each is to be computed. Only `commit` changes it."""

    def __init__(self, outputs: Sequence[Operation]) -> None:
        self.outputs = tuple(dict.fromkeys(outputs))
        self.declared = tuple(post_order(self.outputs))
        """The operations that the outputs need, before any primitive."""
        self.ops = self.declared
        """The stages by the operations they were made for, each after those it reads."""
        self.position = {op: number for number, op in enumerate(self.ops)}
        self.readers = consumers(self.ops)
        scans = membership(self.ops)
        self.scans = scans.groups
        """The scans, and what each of their steps computes."""
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
        self._applied_to: dict[Operation, list[Applied]] = {}
        self._sources: tuple[Operation, frozenset[Operation]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the stages first, each after those it reads: so deep a chain is a list for pickle."""
        return {"ops": self.ops} | self.__dict__

    def commit(self, states: Iterable[StageState], applied: Applied) -> None:
        """Make `states` the records of their stages, new ones among them, and note by which call."""
        for state in states:
            old = self.states.get(state.op)
            if old is None:
                self.guests[state.op] = set()
                self.readers[state.op] = ()
            elif isinstance(old.attach, At):
                self.guests[old.attach.op].discard(state.op)
            self.states[state.op] = state
            if old is None or old.definition is not state.definition:
                self._connect(state.definition, old)
            if isinstance(state.attach, At):
                self.guests[state.attach.op].add(state.op)
            known = 0 if old is None or old.definition is not state.definition else len(old.axes)
            new = (axis for axis in state.axes[known:] if axis.kind is not AxisKind.THREAD)
            self.owner.update((axis.var, state.op) for axis in new)
        self.applied.append(applied)
        self._applied_to.setdefault(applied.op, []).append(applied)

    def _connect(self, definition: Operation, old: StageState | None) -> None:
        """Let what a stage reads now know it; a new stage stands before the first that reads it."""
        op, self._sources = definition.origin, None
        before = set() if old is None else _sources(old.definition)
        after = _sources(definition)
        for source in before - after:
            self.readers[source] = tuple(reader for reader in self.readers[source] if reader is not op)
        for source in after - before:
            self.readers[source] = (*self.readers[source], op)
        if old is None:
            last = max((self.position[source] for source in after), default=-1)
            self.ops = (*self.ops[: last + 1], op, *self.ops[last + 1 :])
            self.position = {other: number for number, other in enumerate(self.ops)}

    def reads(self, reader: Operation, producer: Operation) -> bool:
        """Return whether `reader` reads `producer`, directly or through other stages."""
        return reader in self.readers[producer] or producer in self.needs(reader)

    def needs(self, op: Operation) -> frozenset[Operation]:
        """Return the stages whose results `op` depends on."""
        if self._sources is None or self._sources[0] is not op:
            found: set[Operation] = set()
            waiting = [op]
            while waiting:
                new = _sources(self.states[waiting.pop()].definition) - found
                found |= new
                waiting += new
            self._sources = (op, frozenset(found))
        return self._sources[1]

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
        for applied in reversed(self._applied_to.get(op, ())):
            on_axis = axis is None or any(value is axis for value in applied.arguments.values())
            if applied.primitive == primitive and on_axis:
                return applied.location
        return op.loc


def _sources(definition: Operation) -> set[Operation]:
    """Return the stages that an operation reads."""
    return {tensor.op for tensor in definition.input_tensors}


def _heir(relation: Relation) -> IterVar:
    """Return the axis in whose body a place at one of the relation's parents stays."""
    return relation.inner if isinstance(relation, Split) else relation.children[0]
