"""Kernels under the interpreter: blocks one after the other, the threads of a block in turns between barriers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

from ..target.limits import WARP
from .expr import Call
from .interpret_meet import Together, met
from .interpret_memory import Fault, Memory, allocated
from .interpret_races import Clock, Turn
from .matrix import is_fragment
from .stmt import Buffer, Evaluate

Access = tuple[Callable[..., Any], Callable[..., None]]
Waiting = Generator[Any, Any, None]
"""A thread: it yields a barrier, or where it meets other threads, and is sent what these gave it."""


Rounds = Generator[None]
"""A block: it yields where it waits for all others."""
ENDED: Final = object()


class Host:
    """Where a program runs outside kernels; `clock` is there when it has kernels."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock

    def alloc(self, buffer: Buffer, shape: Sequence[int], strides: Sequence[int] | None, flat: bool) -> Access:
        """Return (read, write) of fresh memory."""
        memory = allocated(buffer, shape, strides, flat, self.clock)
        return memory.read, memory.write

    def launch(self, kernel: Callable[..., Any], waits: bool, tags: Sequence[str], extents: Sequence[int]) -> None:
        """Run `kernel(here, *indices)` for all indices below `extents`; `waits` says that it is a generator."""
        grid = [
            range(extent) if tag.startswith("blockIdx") else range(1) for tag, extent in zip(tags, extents, strict=True)
        ]
        inside = [
            range(1) if tag.startswith("blockIdx") else range(extent) for tag, extent in zip(tags, extents, strict=True)
        ]
        threads = _in_order(inside, sorted(range(len(tags)), key=lambda axis: tags[axis]))
        clock = self.clock
        assert clock is not None
        clock.launches += 1

        def run(block: tuple[int, ...]) -> Rounds:
            shared: dict[Any, Memory] = {}
            started: list[tuple[Turn, Any]] = []
            for serial, thread in enumerate(threads):
                indices = tuple(map(sum, zip(block, thread, strict=True)))
                clock.turn = turn = Turn(clock.launches, block, 0, indices, tuple(tags))
                started.append((turn, kernel(Thread(clock, shared, serial), *indices)))
            if waits:
                yield from _run(clock, started)

        _together([run(block) for block in itertools.product(*grid)])
        clock.turn = None


class Thread(Host):
    """Where one thread of a kernel runs: shared memory is its block's, a warp's its warp's, other memory its own."""

    def __init__(self, clock: Clock, shared: dict[Any, Memory], serial: int) -> None:
        super().__init__(clock)
        self.shared, self.serial = shared, serial

    def alloc(self, buffer: Buffer, shape: Sequence[int], strides: Sequence[int] | None, flat: bool) -> Access:
        """Return (read, write) of the memory that `buffer` is to this thread."""
        of_warp = buffer.scope == "warp" or is_fragment(buffer)
        if not (buffer.is_shared or of_warp):
            memory = allocated(buffer, shape, strides, flat)
            return memory.read, memory.write
        key = (buffer, self.serial // WARP if of_warp else 0)
        if key not in self.shared:
            self.shared[key] = allocated(buffer, shape, strides, flat, self.clock)
        memory = self.shared[key]
        return memory.read, memory.write

    def together(self, site: Any, run: Callable[..., None], *args: Any) -> Together:
        """Return what this thread waits in for its warp, which then does `run` once."""
        assert self.clock is not None
        assert self.clock.turn is not None
        return Together(site, self.clock, self.clock.turn, lambda: run(*args))

    def launch(self, kernel: Callable[..., Any], waits: bool, tags: Sequence[str], extents: Sequence[int]) -> None:
        """Refuse: a kernel starts no kernel."""
        raise Fault("it launches a kernel from within a kernel")


def _in_order(ranges: Sequence[range], order: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all index tuples, the x axis running fastest."""
    slowest_first = list(reversed(order))
    found: list[tuple[int, ...]] = []
    for values in itertools.product(*(ranges[axis] for axis in slowest_first)):
        by_axis = dict(zip(slowest_first, values, strict=True))
        found.append(tuple(by_axis[axis] for axis in range(len(ranges))))
    return found


def _together(blocks: list[Rounds]) -> None:
    """Advance all blocks from one barrier of the grid to the next until all have ended."""
    while blocks:
        going = [block for block in blocks if next(block, ENDED) is not ENDED]
        if going and len(going) < len(blocks):
            ended = len(blocks) - len(going)
            raise Fault(f"a barrier of all blocks diverges: {ended} of {len(blocks)} have ended")
        blocks = going


def _run(clock: Clock, started: list[tuple[Turn, Waiting]]) -> Rounds:
    """Advance all threads of a block from barrier to barrier until all have ended; yield at those of the grid."""
    while started:
        at = _at_barriers(clock, started)
        first_turn, _, first = at[0]
        for turn, _, barrier in at:
            if barrier is not first:
                raise Fault(
                    f"a barrier diverges: thread ({first_turn}) {_where(first)}, thread ({turn}) {_where(barrier)}"
                )
        everywhere = first is not None and _is_of_grid(first)
        if everywhere:
            yield
        started = [
            (turn.next_round() if everywhere else turn.next(), thread)
            for turn, thread, barrier in at
            if barrier is not None
        ]


def _at_barriers(clock: Clock, started: list[tuple[Turn, Waiting]]) -> list[tuple[Turn, Waiting, Any]]:
    """Run all threads to their next barrier, or to their end."""
    turns = [turn for turn, _ in started]
    waiting = [_advanced(clock, turn, thread) for turn, thread in started]
    while given := met(turns, waiting):
        for number, value in given.items():
            waiting[number] = _advanced(clock, turns[number], started[number][1], value)
    return [(turn, thread, place) for (turn, thread), place in zip(started, waiting, strict=True)]


def _advanced(clock: Clock, turn: Turn, thread: Waiting, given: Any = None) -> Any:
    """Run a thread, `given` what it waited for, to where it waits next, and return that; None when it has ended."""
    clock.turn = turn
    try:
        return thread.send(given)
    except StopIteration:
        return None


def _is_of_grid(barrier: Evaluate) -> bool:
    return isinstance(barrier.value, Call) and barrier.value.name == "barrier_grid"


def _where(barrier: Evaluate | None) -> str:
    if barrier is None:
        return "has ended"
    return "waits" if barrier.loc is None else f"waits at {barrier.loc}"
