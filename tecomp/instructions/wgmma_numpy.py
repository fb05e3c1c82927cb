"""What the multiplications of a warpgroup do in the simulator: they begin now, and end when somebody waits.

Until then what they compute means nothing, and what they read must stay, in registers too. Each warp computes its own
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..target.limits import WARP
from .matrix_numpy import type_of, warps_at
from .touching import hold, let_go, seen_by_async
from .wgmma import WGMMA, Wgmma
from .wgmma_layout import operand_addresses

GROUP: Final = 4 * WARP


class Product:
    """A multiplication on its way."""

    def __init__(self, g: Any, site: Any, row: Wgmma, d: Any, mask: Any, scale: Any) -> None:
        self.g, self.site, self.row, self.d, self.mask, self.scale = g, site, row, d, mask, scale
        self.lane = g.lanes_of(mask)
        self.number = g.run.flights.begin("a wgmma")
        self.count = row.n // 2
        self.factors: list[tuple[Any, Any]] = []
        self.held: list[tuple[Any, int]] = []
        self.a: Any = None
        self.done = False
        self.holds(d, self.count)

    def holds(self, place: Any, count: int) -> None:
        """Hold registers until it ends."""
        for at in range(int(place.offset), int(place.offset) + count):
            place.memory.flight[at] = self.number
            self.held.append((place.memory, at))

    def reads(self, place: Any, x: Any) -> None:
        """Hold elements of shared memory, (warps, rows, k), until it ends."""
        self.factors.append((place.memory, x))
        hold(place.memory, x.ravel(), -self.number)

    def land(self) -> None:
        """End it: the sums are in the registers."""
        if self.done:
            return
        self.done = True
        g, row = self.g, self.row
        warps = g.size // WARP
        values = [memory.data[x] for memory, x in self.factors]
        before = registers(self.d, self.count, g.size).reshape(warps, WARP, -1)
        quarter = g.warp[::WARP] % 4
        d = np.zeros((warps, GROUP, self.count), before.dtype)
        every = np.arange(warps)[:, None]
        lanes = quarter[:, None] * WARP + np.arange(WARP)
        d[every, lanes] = before
        a = values[0] if self.a is None else np.zeros((warps, GROUP, self.a.shape[1]), self.a.dtype)
        if self.a is not None:
            a[every, lanes] = self.a.reshape(warps, WARP, -1)
        scale = np.broadcast_to(self.scale, (g.size,))[::WARP]
        result = row.compute(a, values[-1], d, scale)[every, lanes].reshape(g.size, -1)
        for at in range(self.count):
            self.d.memory.put(int(self.d.offset) + at, result[:, at], self.mask)
        for memory, at in self.held:
            if memory.flight.get(at) == self.number:
                del memory.flight[at]
        for memory, x in self.factors:
            flat = x.ravel()
            let_go(memory, flat, -self.number)


def wgmma(g: Any, site: Any, mask: Any, d: Any, a: Any, b: Any, *rest: Any) -> None:
    """Begin d = a @ b, or d + a @ b where the last operand is not 0."""
    row: Wgmma = WGMMA[site.node.name, type_of(d), type_of(a), type_of(b)]
    warps = warps_at(g, site, mask)
    _check_group(g, site, warps)
    *layouts, scale = rest
    _check_fence(g, site, d, a if row.a_in_registers else None)
    _check_written(g, d, row.n // 2, both(mask, np.broadcast_to(np.asarray(scale) != 0, (g.size,))))
    product = Product(g, site, row, d, mask, scale)
    g.run.multiplied(len(warps), row.flops // 4, row.types.a)
    b_layout = [int(part) for part in layouts[-4:]]
    if row.a_in_registers:
        count = row.a_places.rows.shape[1]
        _check_written(g, a, count, mask)
        product.a = registers(a, count, g.size)
        product.holds(a, count)
    else:
        product.reads(a, _factor(g, site, a, 64, row.types.k, [int(part) for part in layouts[:4]], warps))
    product.reads(b, _factor(g, site, b, row.n, row.types.k, b_layout, warps))
    g.pending.products.open.append(product)


def registers(place: Any, count: int, size: int) -> Any:
    """Return `count` registers of each thread from an address on: (threads, count)."""
    rows = place.memory.rows[int(place.offset) : int(place.offset) + count]
    return np.stack([np.broadcast_to(row, (size,)) for row in rows], axis=1)


def both(mask: Any, chosen: Any) -> Any:
    """Return the threads of a mask that are chosen."""
    return chosen if mask is None else mask & chosen


def _check_group(g: Any, site: Any, warps: Any) -> None:
    """Report warps that come without the others of their warpgroup; of one warp alone, that the block has no whole."""
    inside = g.own[warps] % g.run.lanes // WARP
    group = g.own[warps] // g.run.lanes * g.run.lanes + inside // 4
    found, count = np.unique(group, return_counts=True)
    alone = g.size == WARP and (inside // 4 * 4 + 4 <= g.run.shape.warps).all()
    if alone or (count == 4).all():
        return
    lane = warps[int(np.flatnonzero(group == found[count != 4][0])[0])]
    because = f"thread ({g.name(int(lane))}) comes to it, and not all of the four warps that do so together"
    g.run.report("divergence", "an instruction of a warpgroup diverges", because, site.stmt)


def _check_written(g: Any, place: Any, count: int, mask: Any) -> None:
    """Report registers that are read and hold nothing, those aside that a multiplication is to fill."""
    if mask is not None and not mask.any():
        return
    for at in range(int(place.offset), int(place.offset) + count):
        if place.memory.marks[at] is not True and not place.memory.flight.get(at):
            g.load(place.site, np.int64(at), mask)


def _factor(g: Any, site: Any, place: Any, rows: int, k: int, layout: list[int], warps: Any) -> Any:
    """Return which elements of shared memory a factor is, (warps of the gang, rows, k), after checking each."""
    item, memory = place.memory.data.itemsize, place.memory
    start = np.broadcast_to(place.offset, (g.size,))[::WARP].astype(np.int64)
    swizzle, leading, stride, major = layout
    addresses = operand_addresses(memory.address + start * item, rows, k, swizzle, leading, stride, major, item)
    flat = (addresses - memory.address) // item
    lane = np.broadcast_to((np.arange(len(start)) * WARP)[:, None, None], flat.shape)
    chosen = np.isin(lane, warps)
    found = g.elements(place.site, memory, flat[chosen], lane[chosen], "reads")
    g.checked_read(place.site, memory, found, verb="matrix load")
    seen_by_async(g, site, place, found.x, found.lane)
    x = np.zeros(flat.shape, np.int64)
    at = np.flatnonzero(chosen.ravel())
    x.ravel()[at if found.at is None else at[found.at]] = found.x
    return x


def _check_fence(g: Any, site: Any, d: Any, a: Any) -> None:
    """Report registers that were stored to with no wgmma_fence behind it."""
    for place in (d, a):
        if place is not None and place.memory.last_put > g.pending.fenced:
            because = f"thread ({g.name(0)}) stored to them, with no wgmma_fence behind"
            g.run.report("async", f"registers of '{place.memory.buffer.name}' are not in order", because, site.stmt)


def wgmma_fence(g: Any, site: Any, mask: Any) -> None:
    """Order the registers that were stored to before the multiplications behind it."""
    g.run.tally("fence", len(g.lanes_of(mask)) // WARP)
    g.pending.fenced = g.pending.puts


def wgmma_commit(g: Any, site: Any, mask: Any) -> None:
    """Make a group of the multiplications begun since the last one."""
    g.pending.products.commit(g.lanes_of(mask))


def wgmma_wait(g: Any, site: Any, mask: Any, newest: Any) -> None:
    """Wait until all but the newest groups have ended."""
    for product, _ in g.pending.products.older(int(newest), g.lanes_of(mask), g.size):
        product.land()


WGMMA_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    "wgmma_fence": wgmma_fence,
    "wgmma_commit": wgmma_commit,
    "wgmma_wait": wgmma_wait,
}
"""What each does by which a warpgroup waits for its multiplications."""
