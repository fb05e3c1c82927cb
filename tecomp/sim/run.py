"""Some blocks of one launch, running: the gangs of threads, what they share, what was found."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codegen.cuda_vector import SHARED_ALIGN
from ..instructions.bulk_numpy import ended
from ..instructions.meeting import Meetings
from ..instructions.register_pool import RegisterPool
from ..ir.matrix import is_fragment
from ..ir.stmt import CLUSTER, Buffer, Stmt
from ..target.limits import WARP
from .clock import Array, Clock
from .faults import Fault
from .flight import Flights
from .gang import Gang
from .kernel import Program
from .memory import BLOCK, WARPS, Memory
from .options import Options
from .shape import Shape
from .turns import in_turns


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
        agents = self.program.barriers * self.blocks if apart else 0
        self.clock = Clock(self.ticker, launch.start, numbers.start, self.blocks, self.lanes, agents)
        self.meetings, self.flights = Meetings(self), Flights(self)
        self.flags, self.registers = launch.flags, RegisterPool(self.block_threads)
        self._memories: dict[Buffer, Memory] = {}
        inside = np.arange(self.blocks * self.lanes) % self.lanes
        self.live_lane = inside < self.block_threads
        self.warp_threads = self.live_lane.reshape(-1, WARP).sum(axis=1)
        self._end = 0
        self._ended = np.zeros(self.blocks, np.int64)

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
                known.watch(self.shape, also_read=True)
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
        size = WARP if self.apart else total
        gangs = [self.gang(np.arange(first, first + size)) for first in range(0, total, size)]
        gangs = [gang for gang in gangs if gang.live is None or gang.live.any()]
        try:
            in_turns(self, [(gang, self._steps(gang)) for gang in gangs])
        finally:  # gangs and what they have begun refer to each other: memories should not wait for a collection
            self._memories.clear()
            for gang in gangs:
                gang.forget()

    def _steps(self, gang: Gang) -> Any:
        step = self.program.body
        if step.waits:
            yield from step.run(gang, gang.live)
        else:
            step.run(gang, gang.live)

    def step(self, stmt: Stmt) -> None:
        """Count a statement; stop a program that does not come to its end."""
        self.ticker.steps += 1
        if self.ticker.steps > self.options.steps:
            self.launch.too_long(stmt)

    def report(self, kind: str, what: str, because: str, stmt: Stmt | None, times: int = 1, legal: str = "") -> None:
        """Note a fault; the first of its kind at a statement counts."""
        self.launch.report(Fault(kind, what, because, stmt, times, legal))

    def thread_name(self, number: int) -> str:
        """Return the indices of a thread, as a launch names them."""
        return self.shape.name(number, [tag for tag, _ in self.program.launch.threads])

    def ended(self, gang: Gang) -> None:
        """The threads of a gang have ended: nobody waits for them any more."""
        ended(gang)
        self._ended[gang.block[0]] += len(gang.lanes_of(gang.live))
        self.meetings.ended(gang)

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
