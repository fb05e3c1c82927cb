"""Kernels under the interpreter: blocks one after the other, the threads of a block in turns between barriers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

from .interpret_memory import Fault, Memory, allocated
from .stmt import Buffer, Evaluate

WARP: Final = 32

Access = tuple[Callable[..., Any], Callable[..., None]]
Waiting = Generator[Evaluate, None, None]


class Host:
    """Where a program runs outside kernels."""

    def alloc(self, buffer: Buffer, shape: Sequence[int], strides: Sequence[int] | None, flat: bool) -> Access:
        """Return (read, write) of fresh memory."""
        memory = allocated(buffer, shape, strides, flat)
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
        for block in itertools.product(*grid):
            shared: dict[Any, Memory] = {}
            started: list[tuple[tuple[int, ...], Any]] = []
            for serial, thread in enumerate(threads):
                indices = tuple(map(sum, zip(block, thread, strict=True)))
                started.append((indices, kernel(Thread(shared, serial), *indices)))
            if waits:
                _run(tags, started)


class Thread(Host):
    """Where one thread of a kernel runs: shared memory is its block's, warp memory its warp's, other memory its own."""

    def __init__(self, shared: dict[Any, Memory], serial: int) -> None:
        self.shared, self.serial = shared, serial

    def alloc(self, buffer: Buffer, shape: Sequence[int], strides: Sequence[int] | None, flat: bool) -> Access:
        """Return (read, write) of the memory that `buffer` is to this thread."""
        if buffer.scope not in ("shared", "warp"):
            return super().alloc(buffer, shape, strides, flat)
        key = (buffer, self.serial // WARP if buffer.scope == "warp" else 0)
        if key not in self.shared:
            self.shared[key] = allocated(buffer, shape, strides, flat)
        memory = self.shared[key]
        return memory.read, memory.write

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


def _run(tags: Sequence[str], started: list[tuple[tuple[int, ...], Waiting]]) -> None:
    """Advance all threads from barrier to barrier until all have ended."""
    while started:
        at = [(indices, thread, next(thread, None)) for indices, thread in started]
        first_indices, _, first = at[0]
        for indices, _, barrier in at:
            if barrier is not first:
                names = [
                    ", ".join(f"{tag}={index}" for tag, index in zip(tags, who, strict=True))
                    for who in (first_indices, indices)
                ]
                raise Fault(
                    f"a barrier diverges: thread ({names[0]}) {_where(first)}, thread ({names[1]}) {_where(barrier)}"
                )
        started = [(indices, thread) for indices, thread, barrier in at if barrier is not None]


def _where(barrier: Evaluate | None) -> str:
    if barrier is None:
        return "has ended"
    return "waits" if barrier.loc is None else f"waits at {barrier.loc}"
