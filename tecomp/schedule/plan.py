"""What a schedule knows: the stages in order, who reads whom, each one's record, and what was done, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import UserError
from ..ir.axis import IterVar
from ..location import Location
from ..te.graph import consumers, post_order, scan_body
from ..te.tensor import Operation, ScanOp
from .relation import Relation, Split
from .stage import At, Attach, LoopMark, StageState, initial


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


class ScanGroup(NamedTuple):
    """A scan with the stages around it: `init` computes its first steps, `body` is computed at each later one."""

    scan: ScanOp
    init: tuple[Operation, ...]
    body: tuple[Operation, ...]


class Plan:
    """The stages of a program and how each is to be computed. Only `commit` changes it."""

    def __init__(self, outputs: Sequence[Operation]) -> None:
        self.outputs = tuple(dict.fromkeys(outputs))
        self.ops = tuple(post_order(self.outputs))
        self.position = {op: number for number, op in enumerate(self.ops)}
        self.readers = consumers(self.ops)
        self.groups = tuple(_group(op) for op in self.ops if isinstance(op, ScanOp))
        self.states = _initial_states(self)
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
        moved = {parent: _heir(relation) for relation in self.states[attach.op].relations for parent in relation.parents}
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


class StageView:
    """A stage of a plan, to be read. Each property answers for the primitives applied so far."""

    __slots__ = ("_draft", "op", "plan")

    def __init__(self, plan: Plan, op: Operation, draft: StageState | None = None) -> None:
        self.plan, self.op, self._draft = plan, op, draft

    @property
    def state(self) -> StageState:
        """The stage's record; a later primitive leaves it as it is and makes another."""
        return self._draft or self.plan.states[self.op]

    def after(self, state: StageState) -> StageView:
        """Return this stage as it will be with `state`: for the second step of a primitive made of several."""
        return StageView(self.plan, self.op, state)

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.op.name

    @property
    def all_iter_vars(self) -> tuple[IterVar, ...]:
        """Every axis there is or was."""
        return self.state.axes

    @property
    def leaf_iter_vars(self) -> tuple[IterVar, ...]:
        """The axes that are loops, outermost first."""
        return self.state.leaves

    @property
    def relations(self) -> tuple[Relation, ...]:
        """How the leaves were made, oldest first."""
        return self.state.relations

    @property
    def iter_var_attrs(self) -> Mapping[IterVar, LoopMark]:
        """What is special about some of the loops."""
        return self.state.loops

    @property
    def attach_type(self) -> Attach:
        """Where the stage is computed: ROOT, INLINE, SCAN, or At(op, axis)."""
        return self.state.attach

    @property
    def attach_stage(self) -> Operation | None:
        """The operation in whose loops it is computed, if any."""
        attach = self.state.attach
        return attach.op if isinstance(attach, At) else None

    @property
    def attach_ivar(self) -> IterVar | None:
        """The loop in whose body it is computed, if any."""
        return self.plan.attach_axis(self.op) if isinstance(self.state.attach, At) else None

    @property
    def scope(self) -> str:
        """Where the result is kept; empty where the threads around the stage decide."""
        return self.state.scope

    @property
    def is_output(self) -> bool:
        """Whether the program's caller gets the result."""
        return self.state.is_output

    @property
    def group(self) -> ScanOp | None:
        """The scan at each of whose steps it is computed, if any."""
        return self.state.group

    def __repr__(self) -> str:
        return f"s[{self.name}]"


def _heir(relation: Relation) -> IterVar:
    """Return the axis in whose body a place at one of the relation's parents stays."""
    return relation.inner if isinstance(relation, Split) else relation.children[0]


def _group(scan: ScanOp) -> ScanGroup:
    init = tuple(dict.fromkeys(tensor.op for tensor in scan.init))
    return ScanGroup(scan, init, tuple(scan_body(scan)))


def _initial_states(plan: Plan) -> dict[Operation, StageState]:
    """Return the records before any primitive; a stage in the bodies of nested scans belongs to the innermost."""
    computed_by: dict[Operation, ScanOp] = {}
    written_into: dict[Operation, ScanOp] = {}
    for scan, init, body in plan.groups:
        for op in body:
            computed_by.setdefault(op, scan)
        for op in dict.fromkeys((*init, *(tensor.op for tensor in scan.update))):
            other = written_into.setdefault(op, scan)
            if other is not scan:
                raise _two_scans(op, other, scan)
    bodies = {scan: {scan, *body} for scan, _, body in plan.groups}
    for op, scan in computed_by.items():
        outside = [reader for reader in plan.readers[op] if reader not in bodies[scan]]
        if outside or op in plan.outputs:
            raise _needed_outside(op, scan, outside)
    outputs = set(plan.outputs)
    return {
        op: initial(op, is_output=op in outputs, group=computed_by.get(op), feeds=written_into.get(op)) for op in plan.ops
    }


def _two_scans(op: Operation, one: ScanOp, other: ScanOp) -> UserError:
    return UserError(
        f"te.create_schedule: '{op.name}' belongs to two scans, '{one.name}' and '{other.name}'",
        because="it computes steps of a scan's result, in that result's memory",
        legal="an init and an update of its own for each scan",
    )


def _needed_outside(op: Operation, scan: ScanOp, readers: Sequence[Operation]) -> UserError:
    who = f"'{readers[0].name}' reads it" if readers else "it is an output"
    return UserError(
        f"te.create_schedule: '{op.name}' is needed outside scan '{scan.name}'",
        because=f"{who}, and only one step of it exists at a time",
        legal=f"the result of the scan, or a state of '{scan.name}' that keeps it",
    )
