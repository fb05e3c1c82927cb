"""Some blocks of one launch, running: the gangs of threads, what they share, what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..codegen.cuda_vector import SHARED_ALIGN
from ..instructions.bulk_numpy import ended
from ..instructions.meeting import Meetings, Waiting
from ..instructions.register_pool import RegisterPool
from ..ir.matrix import is_fragment
from ..ir.stmt import CLUSTER, Buffer, Stmt
from .clock import WARP, Array, Clock
from .count import Counters
from .faults import Fault, Stopped
from .flight import Flights
from .gang import Gang
from .kernel import Program
from .memory import BLOCK, WARPS, Memory
from .options import Options


class Shape:
    """The extents of a launch: threads of a block, blocks of the grid, along x, y and z."""

    def __init__(self, grid: Sequence[int], block: Sequence[int]) -> None:
        self.grid, self.block = tuple(grid), tuple(block)
        self.threads = int(np.prod(self.block))
        self.blocks = int(np.prod(self.grid))
        self.warps = -(-self.threads // WARP)
        self.lanes = self.warps * WARP

    def thread(self, number: int) -> tuple[dict[str, int], dict[str, int]]:
        """Return the indices of a thread in its block, and of its block, by axis."""
        block, inside = divmod(number, self.lanes)
        return _indices(inside, self.block), _indices(block, self.grid)


def _indices(number: int, extents: tuple[int, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for axis, extent in zip("xyz", extents, strict=True):
        found[axis] = number % extent
        number //= extent
    return found


class Run:
    """The blocks `numbers` of a launch, one after the other in them, running at once."""

    def __init__(self, launch: Any, numbers: range, apart: bool) -> None:
        self.launch, self.apart = launch, apart
        self.program: Program = launch.program
        self.shape: Shape = launch.shape
        self.options: Options = launch.options
        self.random: np.random.Generator = launch.random
        self.ticker, self.counters = launch.ticker, launch.counters
        self.sites = self.program.sites.all
        self.blocks, self.lanes, self.block_threads = len(numbers), self.shape.lanes, self.shape.threads
        self.watches = self.options.sanitize
        agents = sum(max(self._count(buffer), 1) for buffer in self.program.shared if buffer.dtype == "uint64")
        self.clock = Clock(self.ticker, launch.start, numbers.start, self.blocks, self.lanes, agents if apart else 0)
        self.meetings, self.flights = Meetings(self), Flights(self)
        self.flags, self.registers = launch.flags, RegisterPool(self.block_threads)
        self._memories: dict[Buffer, Memory] = {}
        inside = np.arange(self.blocks * self.lanes) % self.lanes
        self.live_lane = inside < self.block_threads
        self.warp_threads = self.live_lane.reshape(-1, WARP).sum(axis=1)
        self._end = 0
        self._ended = np.zeros(self.blocks, np.int64)

    @staticmethod
    def _count(buffer: Buffer) -> int:
        return int(np.prod([getattr(extent, "value", 1) for extent in buffer.shape], dtype=np.int64))

    def live_threads(self, block: int | None = None) -> int:
        """Return how many threads of a block, or of all, have not ended."""
        ended = self._ended.sum() if block is None else self._ended[block]
        return int((self.blocks if block is None else 1) * self.block_threads - ended)

    def memory_of(self, buffer: Buffer, count: int) -> Memory:
        """Return the memory that a block or a warp has for a buffer."""
        known = self._memories.get(buffer)
        if known is None:
            of_warp = buffer.scope == "warp" or is_fragment(buffer)
            instances = self.blocks * (self.shape.warps if of_warp else 1)
            known = self._memories[buffer] = Memory(buffer, WARPS if of_warp else BLOCK, count, instances)
            known.address = self._place(buffer, known.data.itemsize * count)
            if self.watches and not is_fragment(buffer):
                known.watch(self.lanes, also_read=True)
        return known

    def _place(self, buffer: Buffer, size: int) -> int:
        """Return where in a block's memory a buffer begins."""
        if not buffer.is_shared:
            return 0
        align = max(SHARED_ALIGN, buffer.align, self.program.aligns.get(buffer, 0))
        start = -(-self._end // align) * align
        self._end = start + size
        return start

    def gang(self, own: Array) -> Gang:
        """Return the gang of those threads, numbered from the first of these blocks on, with what all know."""
        live = self.live_lane[own]
        gang = Gang(self, own + self.clock.origin, None if live.all() else live, len(self.program.slots))
        for slot, value in self.launch.given.items():
            gang.v[slot] = value
        inside, block = own % self.lanes, own // self.lanes + self.clock.origin // self.lanes
        for tag, slot in self.program.threads:
            extents, number = self._counted(tag, inside, block)
            axis = "xyz".index(tag[-1])
            step = int(np.prod(extents[:axis], dtype=np.int64))
            gang.v[slot] = (number // step % extents[axis]).astype(self.launch.types[slot])
        return gang

    def _counted(self, tag: str, inside: Array, block: Array) -> tuple[tuple[int, ...], Array]:
        """Return the extents that a thread axis is one of, and the number of each thread among all of them."""
        if tag == CLUSTER:
            return (self.program.cluster,), block
        return (self.shape.block, inside) if tag.startswith("threadIdx") else (self.shape.grid, block)

    def go(self) -> None:
        """Run all threads to their end."""
        total = self.blocks * self.lanes
        if not self.apart:
            gang = self.gang(np.arange(total))
            step = self.program.body
            for _ in step.run(gang, gang.live) if step.waits else _done(step.run(gang, gang.live)):
                pass
            ended(gang)
            return
        gangs = [self.gang(np.arange(first, first + WARP)) for first in range(0, total, WARP)]
        gangs = [gang for gang in gangs if gang.live is None or gang.live.any()]
        started = [(gang, self._steps(gang)) for gang in gangs]
        self._in_turns(started)

    def _steps(self, gang: Gang) -> Any:
        step = self.program.body
        if step.waits:
            yield from step.run(gang, gang.live)
        else:
            step.run(gang, gang.live)

    def _in_turns(self, started: list[tuple[Gang, Any]]) -> None:
        """Let warps run in an order that the seed decides, each as far as it can go."""
        waiting: dict[int, Waiting] = {}
        going = list(range(len(started)))
        while going:
            able = [one for one in going if one not in waiting or waiting[one].ready()]
            if not able:
                if self.flights.land_one():
                    continue
                self._deadlock([waiting[one] for one in going])
            one = able[int(self.random.integers(len(able)))]
            waiting.pop(one, None)
            gang, steps = started[one]
            found = next(steps, None)
            if found is not None:
                waiting[one] = found
                continue
            going.remove(one)
            ended(gang)
            self._ended[gang.block[0]] += len(gang.lanes_of(gang.live))
            self.meetings.ended(gang)
        self.flights.end()

    def _deadlock(self, waiting: list[Waiting]) -> None:
        groups: dict[str, list[str]] = {}
        for one in waiting:
            groups.setdefault(one.what(), []).append(f"thread ({one.gang.name(0)})")
        lines = [f"{_warps(first)} for {what}" for what, first in groups.items()]
        what = (
            f"deadlock: {'1 warp waits' if len(waiting) == 1 else f'{len(waiting)} warps wait'} for what does not come"
        )
        self.report("deadlock", what, "\n           ".join(lines), waiting[0].site.stmt)
        raise Stopped

    def step(self, stmt: Stmt) -> None:
        """Count a statement; stop a program that does not end."""
        self.launch.steps += 1
        if self.launch.steps > self.options.steps:
            because = f"it has run {self.options.steps} statements, each by many threads at once"
            self.report("limit", "the program does not end", because, stmt)
            raise Stopped

    def report(self, kind: str, what: str, because: str, stmt: Stmt | None, times: int = 1) -> None:
        """Note a fault; the first of its kind at a statement counts."""
        self.launch.report(Fault(kind, what, because, stmt, times))

    def thread_name(self, number: int) -> str:
        """Return the indices of a thread, as a launch names them."""
        thread, block = self.shape.thread(number)
        tags = [tag for tag, _ in self.program.launch.threads]
        parts = [
            f"{tag}={(thread if tag.startswith('threadIdx') else block)[tag[-1]]}" for tag in tags if tag != CLUSTER
        ]
        return ", ".join(parts)

    def other_name(self, memory: Memory, x: int, who: int) -> str:
        """Return who touched an element before, in words."""
        shadow = memory.shadow
        if shadow is not None and shadow.writes.agent is not None and shadow.writes.agent[x]:
            return "an asynchronous copy"
        return "several threads" if who < 0 else f"thread ({self.thread_name(who)})"

    def operation(self, number: int) -> str:
        """Return an asynchronous operation in words."""
        return self.flights.name(number)

    def tally(self, name: str, times: int) -> None:
        """Count instructions of warps."""
        if self.counters is not None:
            self.counters.instruction(name, times)

    def multiplied(self, warps: int, flops: int, factor: str) -> None:
        """Count matrix instructions of warps, each of so many multiplications and additions of that type."""
        if self.counters is not None:
            self.counters.matrix(warps, flops, factor)

    def turned(self, g: Gang, work: Any, mask: Any) -> None:
        """Count a turn of a loop."""
        if self.counters is not None:
            self.counters.work(g, work, mask)

    def count(self, g: Gang, site: Any, memory: Memory, found: Any, vector: bool, verb: str) -> None:
        """Count the requests of an access."""
        if self.counters is not None:
            self.counters.access(g, site, memory, found, vector, verb)

    def count_uniform(self, g: Gang, site: Any, memory: Memory, index: Any, mask: Any) -> None:
        """Count a read in which all threads ask for one element."""
        if self.counters is not None:
            self.counters.access(g, site, memory, g.located(site, memory, index, mask, "reads"), False, "load")


def _warps(first: list[str]) -> str:
    """Return in words which warps, by their first threads, wait."""
    if len(first) == 1:
        return f"warp of {first[0]} waits"
    return f"warps of {', '.join(first[:4])}{' and others' if len(first) > 4 else ''} wait"


def _done(_result: None) -> tuple[()]:
    return ()


__all__ = ["Counters", "Run", "Shape"]
