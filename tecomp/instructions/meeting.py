"""Where warps meet in the simulator: barriers of a block or of a number, and barriers in memory with their phases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..target.limits import WARP

Key = tuple[Any, int]
"""A barrier in memory: a buffer, and which of all its elements."""


class Waiting(NamedTuple):
    """What a warp waits for: whether it is there, and in words."""

    ready: Callable[[], bool]
    what: Callable[[], str]
    site: Any
    gang: Any
    kind: str = "deadlock"
    """What it is called if that never comes."""


class Meeting:
    """A barrier that counts threads, again and again."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rounds = 0
        self.came = 0
        self.expected = 0
        self.arrived: list[tuple[Any, Any, Any, bool]] = []

    def words(self) -> str:
        """Return in words what is waited for."""
        return f"{self.name}, to which {self.came} of {self.expected} threads have come"

    def settle(self, g: Any) -> None:
        """End the round if all have come: those that wait learn what those that came know."""
        if self.came < self.expected or not self.arrived:
            return
        self.join(g)
        self.rounds += 1
        self.came, self.arrived = 0, []

    def join(self, g: Any) -> None:
        """Let those that wait know what those that came know."""
        clock = g.run.clock
        row = clock.released(np.concatenate([one.threads[lanes] for one, _, lanes, _ in self.arrived]))
        for one, _, lanes, waits in self.arrived:
            if waits:
                clock.acquire(one.threads[lanes], row)


class WarpMeeting(Meeting):
    """Lanes of a warp that wait for each other, in different branches."""

    def join(self, g: Any) -> None:
        """Let all know what all did."""
        order_lanes(g, np.concatenate([lanes for _, _, lanes, _ in self.arrived]))


def order_lanes(g: Any, lanes: Any) -> None:
    """Let lanes of warps know of each other."""
    clock = g.run.clock
    came = np.bincount(g.warp[lanes], minlength=len(clock.epoch) // WARP)
    whole = came[g.warp[lanes]] == g.run.warp_threads[g.warp[lanes]]
    if whole.any():
        clock.warp_barrier(g.threads[lanes[whole]])
    rest = lanes[~whole]
    for warp in np.unique(g.warp[rest]):
        threads = g.threads[rest[g.warp[rest] == warp]]
        clock.acquire(threads, clock.released(threads))


class BlockMeeting(Meeting):
    """The barrier of a block: one statement, to which all its threads come."""

    def join(self, g: Any) -> None:
        """Let all know what each did; report two statements, and threads that have ended without coming."""
        first = self.arrived[0]
        other = next((one for one in self.arrived if one[1].stmt is not first[1].stmt), None)
        if other is not None:
            where = " and ".join(str(one[1].stmt.loc or one[1].stmt) for one in (first, other))
            because = f"threads ({first[0].name(first[2][0])}) and ({other[0].name(other[2][0])}) come to two: {where}"
            g.run.report("divergence", "a barrier of the block diverges", because, first[1].stmt)
        if self.came < g.run.block_threads:
            absent = g.run.block_threads - self.came
            because = f"thread ({first[0].name(first[2][0])}) comes to it, {absent} threads of its block have ended"
            g.run.report("divergence", "a barrier of the block diverges", because, first[1].stmt)
        g.run.clock.block_barrier(np.concatenate([one.threads[lanes] for one, _, lanes, _ in self.arrived]))


class ClusterMeeting(Meeting):
    """The barrier of neighbouring blocks."""

    def join(self, g: Any) -> None:
        """Let all know what all did."""
        g.run.clock.cluster_barrier(np.concatenate([one.threads[lanes] for one, _, lanes, _ in self.arrived]))


class GridMeeting(Meeting):
    """The barrier of all blocks."""

    def join(self, g: Any) -> None:
        """Let all know what all did."""
        g.run.clock.grid_barrier(g.run.ticker.tick())


def meet(
    g: Any, site: Any, lanes: Any, meeting: Meeting, came: int, expected: int, waits: bool
) -> Generator[Waiting, None, None]:
    """Come to a meeting of so many threads, and wait for them all."""
    meeting.arrived.append((g, site, lanes, waits))
    meeting.came += came
    meeting.expected = expected
    this = meeting.rounds
    meeting.settle(g)
    if waits and meeting.rounds == this:
        yield Waiting(lambda: meeting.rounds != this, meeting.words, site, g)


class MBarrier:
    """A barrier in shared memory: arrivals and bytes that its present phase still waits for."""

    def __init__(self, name: str, count: int, agent: int, row: Any) -> None:
        self.name, self.count, self.agent = name, count, agent
        self.pending, self.bytes, self.phase = count, 0, 0
        self.row, self.done = row, row.copy()
        """What those that arrived know: of the present phase, of those that are over."""
        self.begun: tuple[int, int] | None = None
        """Which thread began it, and in which epoch."""

    def arrive(self, g: Any, site: Any, lane: int, expected: int = 0) -> None:
        """A thread arrives, and more bytes are to come."""
        threads = g.threads[lane : lane + 1]
        self.row = np.maximum(self.row, g.run.clock.released(threads))
        self.bytes += expected
        if self.pending == 0:
            because = f"thread ({g.name(lane)}) arrives, and all {self.count} have in this phase"
            g.run.report("undefined", f"{self.name} has too many arrivals", because, site.stmt)
            return
        self.pending -= 1
        self.settle()

    def copied(self, count: int, epoch: int) -> None:
        """That many bytes of an asynchronous copy have come, in `epoch`."""
        self.bytes -= count
        self.row[len(self.row) - self.agents + self.agent] = epoch + 1
        self.settle()

    agents = 0
    """How many agents the rows have columns for, at their end."""

    def check_seen(self, g: Any, site: Any, lane: int) -> None:
        """Report where an asynchronous copy need not see that it was begun."""
        if self.begun is None or not g.run.watches:
            return
        thread, epoch = self.begun
        announced = g.run.clock.announced
        if epoch >= max(announced[thread], announced[g.own[lane]]):
            name = g.run.thread_name(thread + g.run.clock.origin)
            because = f"thread ({name}) began it, with no fence_mbarrier_init or fence_proxy_async behind"
            g.run.report("async", f"an asynchronous copy need not see '{self.name}'", because, site.stmt)

    def settle(self) -> None:
        """End the phase if all has come."""
        if self.pending == 0 and self.bytes == 0:
            self.done = np.maximum(self.done, self.row)
            self.phase ^= 1
            self.pending = self.count

    def wait(self, g: Any, site: Any, lane: int, parity: int) -> Generator[Waiting, None, None]:
        """Wait for the end of the phase of that parity."""
        if self.phase == parity & 1:
            yield Waiting(lambda: self.phase != parity & 1, lambda: self.missing(parity), site, g)
        g.run.clock.acquire(g.threads[lane : lane + 1], self.done)

    def missing(self, parity: int) -> str:
        """Return in words what the present phase waits for."""
        arrivals = f"{self.pending} of {self.count} arrivals"
        return f"{self.name}, phase of parity {parity}: {arrivals} and {self.bytes} bytes are missing"


class Meetings:
    """All places where the warps of some blocks meet."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._meetings: dict[Any, Meeting] = {}
        self._barriers: dict[Key, MBarrier] = {}

    def block(self, block: int) -> Meeting:
        """Return the barrier of a block."""
        return self._of(("block", int(block)), BlockMeeting, "the barrier of the block")

    def named(self, block: int, number: int) -> Meeting:
        """Return the barrier of that number of a block."""
        return self._of((int(block), number), Meeting, f"barrier {number}")

    def warp(self, warp: int, members: int) -> Meeting:
        """Return where the lanes of a warp meet that a mask names."""
        return self._of(("warp", warp, members), WarpMeeting, "a barrier of the warp")

    def cluster(self, number: int) -> Meeting:
        """Return the barrier of a cluster of blocks."""
        return self._of(("cluster", number), ClusterMeeting, "the barrier of the cluster")

    def grid(self) -> Meeting:
        """Return the barrier of all blocks."""
        return self._of("grid", GridMeeting, "the barrier of all blocks")

    def _of(self, key: Any, kind: type[Meeting], name: str) -> Meeting:
        return self._meetings.setdefault(key, kind(name))

    def ended(self, g: Any) -> None:
        """A warp has ended: nobody waits for it any more."""
        run, block, size = self._run, int(g.block[0]), self._run.program.cluster
        first = block // size * size
        for key, blocks in ((("block", block), [block]), (("cluster", first // size), range(first, first + size))):
            meeting = self._meetings.get(key)
            if meeting is not None and meeting.arrived:
                meeting.expected = sum(run.live_threads(one) for one in blocks)
                meeting.settle(meeting.arrived[0][0])

    def mbarrier_init(self, key: Key, count: int, name: str) -> MBarrier:
        """Return a new barrier in memory."""
        known = self._barriers.get(key)
        agent = len(self._barriers) if known is None else known.agent
        clock = self._run.clock
        barrier = MBarrier(name, count, agent, np.zeros(clock.lanes + clock.agents, np.int32))
        barrier.agents = clock.agents
        self._barriers[key] = barrier
        return barrier

    def mbarrier(self, key: Key) -> MBarrier:
        """Return a barrier in memory that was begun; an empty one stands for one that was not, which is reported."""
        if key not in self._barriers:
            return self.mbarrier_init(key, 1, "a barrier that was not begun")
        return self._barriers[key]


def mbarrier_at(g: Any, site: Any, mask: Any, at: Any, first: bool = False) -> Iterator[tuple[int, Key]]:
    """Yield each thread with the element that its barrier is, which is checked as an access to it."""
    found = g.located(at.site, at.memory, np.broadcast_to(at.offset, (g.size,)), mask, "uses")
    if len(found.x):
        g.checked_write(at.site, at.memory, found, atomic=not first)
    for lane, x in zip(found.lane.tolist(), found.x.tolist(), strict=True):
        yield lane, (at.memory.buffer, x)
