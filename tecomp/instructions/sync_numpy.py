"""What barriers and fences do in the simulator: who has to come, and who knows of whom afterwards.

A meaning is a function of the gang that runs, the place in the program, the mask of threads, and the operands. One that
may wait is a generator of what it waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final

import numpy as np

from ..target.limits import WARP
from .meeting import Waiting, mbarrier_at, meet, order_lanes

Waits = Generator[Any, None, None]


def barrier_block(g: Any, site: Any, mask: Any) -> Waits:
    """All threads of the block come to this very barrier."""
    run, lanes = g.run, g.lanes_of(mask)
    run.tally("barrier", len(np.unique(g.warp[lanes])))
    if run.apart:
        block = run.meetings.block(g.block[0])
        yield from meet(g, site, lanes, block, len(lanes), run.live_threads(g.block[0]), waits=True)
        return
    came = np.bincount(g.block[lanes], minlength=run.blocks)
    if ((came != 0) & (came != run.block_threads)).any():
        _diverges(g, site, lanes, came)
    run.clock.block_barrier(g.threads[lanes])


def _diverges(g: Any, site: Any, lanes: Any, came: Any) -> None:
    block = int(np.flatnonzero((came != 0) & (came != g.run.block_threads))[0])
    here = lanes[g.block[lanes] == block]
    all_ = g.lanes_of(g.live)
    absent = np.setdiff1d(all_[g.block[all_] == block], here)
    because = f"thread ({g.name(here[0])}) comes to it, thread ({g.name(absent[0])}) does not"
    g.run.report("divergence", "a barrier of the block diverges", because, site.stmt, len(absent))


def barrier_warp(g: Any, site: Any, mask: Any, members: Any) -> Waits:
    """The lanes that the mask names come together, each from wherever it is."""
    active, bits, absent = _lanes(g, mask, members)
    _check_named(g, site, active, bits)
    g.run.tally("warp barrier", len(np.unique(g.warp[active])))
    late = (absent.any(axis=1) & active).reshape(-1, WARP).any(axis=1)
    order_lanes(g, np.flatnonzero(active & ~np.repeat(late, WARP)))
    waits = [_part_comes(g, site, np.flatnonzero(active[part]) + part.start, bits, absent) for part in _slices(late)]
    for waiting in [next(wait, None) for wait in waits]:
        if waiting is not None:
            yield waiting


def _slices(warps: Any) -> list[slice]:
    return [slice(warp * WARP, warp * WARP + WARP) for warp in np.flatnonzero(warps).tolist()]


def _part_comes(g: Any, site: Any, lanes: Any, bits: Any, absent: Any) -> Waits:
    """Some lanes of a warp come, and wait for those in other branches."""
    members, first = int(bits[lanes[0]]), int(lanes[0]) // WARP * WARP
    live = np.ones(WARP, np.bool_) if g.live is None else g.live[first : first + WARP]
    expected = int((live & (members >> np.arange(WARP) & 1).astype(np.bool_)).sum())
    missing = int(np.flatnonzero(absent[lanes[0]])[0])
    because = f"thread ({g.name(int(lanes[0]))}) waits for lane {missing} of its warp, which does not come"
    meeting = g.run.meetings.warp(int(g.warp[lanes[0]]), members)
    for waiting in meet(g, site, lanes, meeting, len(lanes), expected, waits=True):
        yield waiting._replace(kind="divergence", what=lambda: because)


def _lanes(g: Any, mask: Any, members: Any) -> tuple[Any, Any, Any]:
    """Return which lanes are here, whom each waits for as bits, and which of these are not: (threads, 32).

    Lanes that a block does not have need not come.
    """
    active, live = np.zeros((2, g.size), np.bool_)
    active[g.lanes_of(mask)], live[g.lanes_of(g.live)] = True, True
    bits = np.broadcast_to(np.asarray(members), (g.size,)).astype(np.int64) & 0xFFFFFFFF
    named = (bits[:, None] >> np.arange(WARP) & 1).astype(np.bool_)
    return active, bits, named & (live & ~active).reshape(-1, WARP)[g.all_lanes // WARP]


def _check_named(g: Any, site: Any, active: Any, bits: Any) -> None:
    """Report lanes that a mask of their own leaves out."""
    left_out = np.flatnonzero(active & ((bits >> (g.all_lanes % WARP) & 1) == 0))
    if len(left_out):
        lane = int(left_out[0])
        because = f"thread ({g.name(lane)}) is lane {lane % WARP}, which the mask {int(bits[lane]):#x} does not name"
        g.run.report("divergence", "an instruction of a warp that its mask leaves out", because, site.stmt)


def together(g: Any, site: Any, mask: Any, members: Any) -> Any:
    """Return the lanes that run an instruction for which those that `members` name must come; report who does not."""
    active, bits, absent = _lanes(g, mask, members)
    missing = absent.any(axis=1) & active
    if missing.any():
        lane = int(np.flatnonzero(missing)[0])
        because = (
            f"thread ({g.name(lane)}) waits for lane {int(absent[lane].argmax())} of its warp, which does not come"
        )
        g.run.report("divergence", "an instruction of a warp diverges", because, site.stmt, int(missing.sum()))
    _check_named(g, site, active, bits)
    return np.flatnonzero(active)


def barrier_named(g: Any, site: Any, mask: Any, number: Any, threads: Any) -> Waits:
    """Warps come to a barrier of that number, and wait until so many threads have."""
    yield from _come(g, site, mask, number, threads, waits=True)


def barrier_named_arrive(g: Any, site: Any, mask: Any, number: Any, threads: Any) -> Waits:
    """Warps tell a barrier of that number that they have come, and go on."""
    yield from _come(g, site, mask, number, threads, waits=False)


def _come(g: Any, site: Any, mask: Any, number: Any, threads: Any, waits: bool) -> Waits:
    """A warp comes to a barrier of a number: as 32 threads, however many of these the block has."""
    lanes, expected = g.lanes_of(mask), int(np.max(threads))
    g.run.tally("barrier", 1)
    meeting = g.run.meetings.named(g.block[0], int(number))
    if len(lanes) != len(g.lanes_of(g.live)):
        because = f"thread ({g.name(lanes[0])}) comes to it, and not all of its warp do"
        g.run.report("divergence", f"{meeting.name} diverges", because, site.stmt)
    if meeting.arrived and meeting.expected != expected:
        because = f"thread ({g.name(lanes[0])}) says {expected}, and others that came say {meeting.expected}"
        g.run.report("undefined", f"{meeting.name} is for two numbers of threads", because, site.stmt)
    yield from meet(g, site, lanes, meeting, WARP, expected, waits)


def barrier_cluster(g: Any, site: Any, mask: Any) -> Waits:
    """All threads of the blocks of a cluster come together; without clusters, of the block."""
    run, lanes = g.run, g.lanes_of(mask)
    run.tally("barrier", 1)
    meeting = run.meetings.cluster(int(g.block[0]) // run.program.cluster)
    first = int(g.block[0]) // run.program.cluster * run.program.cluster
    expected = sum(run.live_threads(block) for block in range(first, first + run.program.cluster))
    yield from meet(g, site, lanes, meeting, len(lanes), expected, waits=True)


def barrier_grid(g: Any, site: Any, mask: Any) -> Waits:
    """All threads of the launch come together."""
    run, lanes = g.run, g.lanes_of(mask)
    run.tally("grid barrier", len(np.unique(g.warp[lanes])))
    all_ = run.blocks * run.block_threads
    if run.apart:
        yield from meet(g, site, lanes, run.meetings.grid(), len(lanes), all_, waits=True)
        return
    if len(lanes) != all_:
        because = f"{all_ - len(lanes)} threads do not come"
        run.report("divergence", "a barrier of all blocks diverges", because, site.stmt)
    run.clock.grid_barrier(run.ticker.tick())


def fence(g: Any, site: Any, mask: Any) -> None:
    """Order a thread's own accesses: what it learns of others it learns by atomics and barriers."""
    g.run.tally("fence", len(np.unique(g.warp[g.lanes_of(mask)])))


def fence_device(g: Any, site: Any, mask: Any) -> None:
    """Let what atomic updates behind it tell others include what this thread knows, and it learn what those before
    it told."""
    fence(g, site, mask)
    g.run.flags.fence(g, g.lanes_of(mask), to_all=True)


def fence_block(g: Any, site: Any, mask: Any) -> None:
    """The same, for threads of the block."""
    fence(g, site, mask)
    g.run.flags.fence(g, g.lanes_of(mask), to_all=False)


def fence_proxy_async(g: Any, site: Any, mask: Any) -> None:
    """Make what the threads have written, or know to be, seen by asynchronous copies and matrix instructions."""
    fence(g, site, mask)
    g.run.clock.proxy_fence(g.threads[g.lanes_of(mask)])


def fence_mbarrier_init(g: Any, site: Any, mask: Any) -> None:
    """Make the barriers in memory that the threads have begun seen by asynchronous copies."""
    fence(g, site, mask)
    g.run.clock.announce(g.threads[g.lanes_of(mask)])


def mbarrier_init(g: Any, site: Any, mask: Any, at: Any, count: Any) -> None:
    """Begin the first phase of a barrier in memory, which that many arrivals end."""
    for lane, key in mbarrier_at(g, site, mask, at, first=True):
        barrier = g.run.meetings.mbarrier_init(
            key, int(np.broadcast_to(count, (g.size,))[lane]), at.memory.place(key[1])
        )
        barrier.begun = (int(g.own[lane]), int(g.run.clock.epoch[g.own[lane]]))


def mbarrier_arrive(g: Any, site: Any, mask: Any, at: Any) -> Waits:
    """Arrive: what the thread has done is known to who waits for the phase. Other warps may go first then."""
    for lane, key in mbarrier_at(g, site, mask, at):
        g.run.meetings.mbarrier(key).arrive(g, site, lane)
    yield from turn(g, site)


def turn(g: Any, site: Any) -> Waits:
    """Let other warps go on before this one does."""
    if g.run.apart:
        yield Waiting(lambda: True, lambda: "its turn", site, g)


def mbarrier_arrive_expect_tx(g: Any, site: Any, mask: Any, at: Any, count: Any) -> Waits:
    """Arrive, and make the phase last until that many bytes have come too."""
    for lane, key in mbarrier_at(g, site, mask, at):
        g.run.meetings.mbarrier(key).arrive(g, site, lane, int(np.broadcast_to(count, (g.size,))[lane]))
    yield from turn(g, site)


def mbarrier_wait(g: Any, site: Any, mask: Any, at: Any, parity: Any) -> Waits:
    """Wait until the phase of that parity is over."""
    wanted = np.broadcast_to(parity, (g.size,))
    for lane, key in mbarrier_at(g, site, mask, at):
        barrier = g.run.meetings.mbarrier(key)
        yield from barrier.wait(g, site, lane, int(wanted[lane]))


SYNC_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    "barrier_block": barrier_block,
    "barrier_grid": barrier_grid,
    "barrier_warp": barrier_warp,
    "barrier_named": barrier_named,
    "barrier_named_arrive": barrier_named_arrive,
    "barrier_cluster": barrier_cluster,
    "fence_block": fence_block,
    "fence_device": fence_device,
    "fence_system": fence_device,
    "fence_proxy_async": fence_proxy_async,
    "fence_mbarrier_init": fence_mbarrier_init,
    "mbarrier_init": mbarrier_init,
    "mbarrier_arrive": mbarrier_arrive,
    "mbarrier_arrive_expect_tx": mbarrier_arrive_expect_tx,
    "mbarrier_wait": mbarrier_wait,
}
"""What each does."""
WAITING: Final = frozenset(
    (
        *("barrier_block", "barrier_grid", "barrier_named", "barrier_named_arrive", "barrier_cluster", "barrier_warp"),
        *("mbarrier_arrive", "mbarrier_arrive_expect_tx", "mbarrier_wait", "registers_increase"),
    )
)
"""Those whose meaning is a generator."""
BETWEEN_WARPS: Final = frozenset(
    (
        *("barrier_named", "barrier_named_arrive", "barrier_cluster", "registers_increase"),
        *("mbarrier_init", "mbarrier_arrive", "mbarrier_arrive_expect_tx", "mbarrier_wait", "cp_async_mbarrier_arrive"),
        *("bulk_load", "tensor_load_1d", "tensor_load_2d", "tensor_load_3d"),
    )
)
"""Those by which warps wait for each other, and not all of a block together."""
