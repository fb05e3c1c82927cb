"""The schedule users hold: `s[T]` is the stage of a tensor, and each primitive a method of it.

A call that is refused changes nothing.

    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=64)
    s[B].compute_at(s[C], outer)
    print(s)
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from copy import copy
from typing import Any, Final

from ..errors import ScheduleError, UserError, UserTypeError
from ..te.legality import check_graph
from ..te.tensor import Operation, PlaceholderOp, ScanOp, Tensor
from . import loops, mark, place, prefetch, storage, tensorize
from .cache_read import cache_read
from .cache_write import cache_write
from .duplicate import duplicate
from .env import env_threads
from .group import Group, Members, group_of
from .pad import pad
from .plan import Applied, Plan
from .reverse import reverse_compute_at
from .rfactor import rfactor
from .sketch import sketch
from .text import replay
from .transform import transform_layout
from .view import StageView

_EXPLAIN: Final = "tecomp.bounds.explain"
"""Loaded when first asked: a schedule is made without bound inference."""


class Stage(StageView):
    """One stage of a schedule; its methods are the primitives."""

    __slots__ = ()

    @property
    def group(self) -> Group | ScanOp | None:
        """The smallest group it belongs to; without one, the scan at each of whose steps it is computed, if any."""
        assert isinstance(self.plan, Schedule)
        groups = [group for group in self.plan.groups if self.origin in group.ops]
        return min(groups, key=lambda group: len(group.ops), default=self.state.group)

    split = loops.split
    fuse = loops.fuse
    reorder = loops.reorder
    tile = loops.tile

    bind = mark.bind
    vectorize = mark.vectorize
    unroll = mark.unroll
    parallel = mark.parallel
    pragma = mark.pragma
    prefetch = prefetch.prefetch
    tensorize = tensorize.tensorize

    compute_at = place.compute_at
    env_threads = env_threads
    compute_inline = place.compute_inline
    compute_root = place.compute_root
    set_scope = place.set_scope
    set_store_predicate = place.set_store_predicate

    reverse_compute_at = reverse_compute_at

    pad = pad
    transform_layout = transform_layout
    storage_align = storage.storage_align
    double_buffer = storage.double_buffer
    rolling_buffer = storage.rolling_buffer


class Schedule(Plan):
    """How the stages of a program are computed. `print(s)` draws it, `s.text()` is Python that makes it again."""

    def __init__(self, outputs: Sequence[Operation]) -> None:
        super().__init__(outputs)
        self._stages: dict[Operation, Stage] = {}
        self.groups: list[Group] = []
        """What `create_group` gave so far."""

    cache_read = cache_read
    cache_write = cache_write
    duplicate = duplicate
    rfactor = rfactor

    def create_group(self, outputs: Members, inputs: Members, include_inputs: bool = False) -> Group:
        """Return the stages that `outputs` need and that need `inputs` as a group, which moves as one.

        `include_inputs` makes the inputs themselves members, where they are computed.
        """
        self.groups.append(group_of(self, outputs, inputs, include_inputs))
        return self.groups[-1]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, each after those it reads."""
        return tuple(map(self._stage, self.ops))

    @property
    def stage_map(self) -> dict[Operation, Stage]:
        """The stages by their operations."""
        return {stage.origin: stage for stage in self.stages}

    def normalize(self) -> Schedule:
        """Return this schedule: what TVM brings into a normal form here is in it always."""
        return self

    def copy(self) -> Schedule:
        """Return another schedule of the same computation, which goes on from where this one is."""
        other = object.__new__(Schedule)
        kept = {name: copy(value) if isinstance(value, (dict, list)) else value for name, value in vars(self).items()}
        vars(other).update(kept, guests={op: set(inside) for op, inside in self.guests.items()}, _stages={})
        other.groups = [Group(other, group.ops) for group in self.groups]
        return other

    def _stage(self, op: Operation) -> Stage:
        if op not in self._stages:
            self._stages[op] = Stage(self, op)
        return self._stages[op]

    def __getitem__(self, key: Tensor | Operation) -> Stage:
        """Return the stage that computes a tensor, or of an operation; ScheduleError where it has none here."""
        op = key.op if isinstance(key, Tensor) else key
        if not isinstance(op, Operation):
            raise UserTypeError(
                f"s[{key!r}]", f"it is of type {type(key).__name__}", "a tensor or an operation of this schedule"
            )
        if op.origin not in self.position:
            because = f"no output reads it; the outputs are {', '.join(output.name for output in self.outputs)}"
            raise ScheduleError(f"'{op.name}' has no stage in this schedule", because, f"one of {_some(self.ops)}")
        return self._stage(op.origin)

    @property
    def history(self) -> tuple[Applied, ...]:
        """What was applied so far, oldest first, each with the user's line."""
        return tuple(self.applied)

    def text(self) -> str:
        """Return Python that makes this schedule of a fresh one, `s`, of the same computation."""
        return replay(self)

    def explain(self, *tensors: Tensor | Operation) -> Any:
        """Return what this schedule makes of the stages of `tensors`, of all where none is named; it prints as text.

        For each: where it is computed, what of it and in which memory, its loops, the loops at which it may be
        computed, and of every primitive whether it is legal now, and why not.
        """
        stages = [self[tensor] for tensor in tensors] or self.stages
        return importlib.import_module(_EXPLAIN).explain(self, stages)

    def __repr__(self) -> str:
        return sketch(self)


def create_schedule(ops: Operation | Sequence[Operation]) -> Schedule:
    """Return a schedule for the outputs `ops`: every stage they need, one after the other, in serial loops."""
    outputs: list[Any] = list(ops) if isinstance(ops, (list, tuple)) else [ops]
    if not outputs:
        raise UserError("te.create_schedule of no operation", "nothing would be computed", "te.create_schedule(T.op)")
    for output in outputs:
        _check_output(output)
    check_graph(outputs)
    return Schedule(outputs)


def _check_output(output: Any) -> None:
    if isinstance(output, Tensor):
        because = "a schedule is made for operations: one may compute several tensors"
        raise UserTypeError(
            f"te.create_schedule of tensor '{output.name}'", because, f"te.create_schedule({output.op.name}.op)"
        )
    if not isinstance(output, Operation):
        raise UserTypeError(
            f"te.create_schedule of {output!r}",
            f"it is of type {type(output).__name__}",
            "T.op, or a list of operations",
        )
    if isinstance(output, PlaceholderOp):
        raise UserError(
            f"te.create_schedule of placeholder '{output.name}'", "nothing computes it", "an operation that reads it"
        )


def _some(ops: Sequence[Operation], most: int = 12) -> str:
    """List operations by name, the last ones when there are many."""
    listed = ", ".join(op.name for op in ops[-most:])
    return listed if len(ops) <= most else f"..., {listed}"
