"""Which accesses of different threads, or of different blocks, meet in one element of memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..arith.overlap import Overlap
from ..errors import UserError
from ..ir import expr as E
from ..ir.stmt import Buffer, Launch
from ..ir.visit import walk
from .accesses import bound_vars
from .events import Event, Events, Scope, is_grid_barrier

MOST_PAIRS: Final = 1 << 14
"""Pairs of accesses that are compared for one kernel; more are taken to conflict."""


class Conflicts:
    """Answers for one kernel whether a barrier must stand between accesses."""

    def __init__(self, launch: Launch) -> None:
        self.threads = [var for tag, var in launch.threads if tag.startswith("threadIdx") and not single(var)]
        self.bound = bound_vars(launch.body)
        self.known: dict[tuple[object, ...], bool] = {}

    def any(self, before: Iterable[Event], after: Iterable[Event], carrier: E.Var | None) -> bool:
        """Return whether some event of `after` must wait for one of `before`, by another thread.

        With a `carrier`, `before` is of an earlier iteration of that loop.
        """
        by_buffer: dict[Buffer, list[Event]] = {}
        for event in before:
            by_buffer.setdefault(event.buffer, []).append(event)
        return any(self._between(a, b, carrier) for b in after for a in by_buffer.get(b.buffer, ()) if a.minds(b))

    def _between(self, a: Event, b: Event, carrier: E.Var | None) -> bool:
        common = _common(a.vars, b.vars, carrier)
        key = (a.place, b.place, common)
        if key not in self.known and len(self.known) >= MOST_PAIRS:
            return True
        if key not in self.known:
            private = self.bound.difference(common)
            self.known[key] = not Overlap(self.threads, private.__contains__).apart(a.place, b.place)
        return self.known[key]


def _common(a: tuple[E.Var, ...], b: tuple[E.Var, ...], carrier: E.Var | None) -> frozenset[E.Var]:
    """Return the variables that have one value at both: of the loops around both, outside the one that carries."""
    found: list[E.Var] = []
    for x, y in zip(a, b, strict=False):
        if x is not y or x is carrier:
            break
        found.append(x)
    return frozenset(found)


def single(var: E.Var) -> bool:
    """Return whether a thread axis has one value only."""
    return isinstance(var.extent, E.Const) and var.extent.value == 1


def check_blocks(launch: Launch, events: Events) -> None:
    """Refuse kernels in which one block would have to wait for another: nothing orders blocks."""
    blocks = {var for tag, var in launch.threads if tag.startswith("blockIdx") and not single(var)}
    if any(map(is_grid_barrier, walk(launch.body))):
        return  # it stands wherever a block needs another
    threads = {var for _, var in launch.threads}
    if not blocks:
        return
    bound = bound_vars(launch.body) | (threads - blocks)
    overlap = Overlap(blocks, bound.__contains__)
    touches = events.first(launch.body, Scope(varying=frozenset(threads)))
    for buffer in events.watched:
        if buffer.scope == "global" and not reads_apart(overlap, buffer, touches):
            _refuse(launch, buffer)


def reads_apart(overlap: Overlap, buffer: Buffer, touches: Iterable[Event]) -> bool:
    """Return whether no element of `buffer` that one owner writes is read, or updated, by another.

    What is done only by functions that get its address, those order themselves: atomic ones, for instance.
    """
    own = [event for event in touches if event.buffer is buffer]
    if all(event.called for event in own):
        return True
    writes, reads = ([event.place for event in own if event.writes is writes] for writes in (True, False))
    stores, updates = (
        [event.place for event in own if event.writes and event.atomic is atomic] for atomic in (False, True)
    )
    return overlap.reads_apart(writes, reads) and overlap.reads_apart(stores, updates)


def _refuse(launch: Launch, buffer: Buffer) -> None:
    raise UserError(
        f"global buffer {buffer.name} is written by one block and read by another of the same kernel",
        because="the blocks of a kernel run in any order, and none waits for another",
        legal=f"compute_root of {buffer.name}, for a kernel of its own; or bind the same axes in both stages",
        location=buffer.loc or launch.loc,
    )
