"""What the multiplications of a warpgroup do in the simulator: they begin now, and end when somebody waits.

Until then what they compute means nothing, and what they read must stay. Each warp computes its own rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .copies_numpy import flying, seen_by_async
from .matrix_numpy import registers, type_of, warps_at
from .wgmma import WGMMA, Wgmma
from .wgmma_layout import operand_addresses

WARP, GROUP = 32, 128


class Product:
    """A multiplication on its way."""

    def __init__(self, g: Any, site: Any, row: Wgmma, d: Any, mask: Any, scale: Any) -> None:
        self.g, self.site, self.row, self.d, self.mask, self.scale = g, site, row, d, mask, scale
        self.number = g.run.flights.begin("a wgmma")
        self.count = row.n // 2
        self.factors: list[tuple[Any, Any]] = []
        self.a: Any = None
        self.done = False
        for at in range(self.count):
            d.memory.flight[int(d.offset) + at] = self.number

    def reads(self, place: Any, x: Any) -> None:
        """Hold elements of shared memory, (warps, rows, k), until it ends."""
        self.factors.append((place.memory, x))
        flying(place.memory)[x.ravel()] = -self.number

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
            place = int(self.d.offset) + at
            self.d.memory.put(place, result[:, at], self.mask)
            if self.d.memory.flight.get(place) == self.number:
                del self.d.memory.flight[place]
        for memory, x in self.factors:
            flat = x.ravel()
            memory.flight[flat[memory.flight[flat] == -self.number]] = 0


def wgmma(g: Any, site: Any, mask: Any, d: Any, a: Any, b: Any, *rest: Any) -> None:
    """Begin d = a @ b, or d + a @ b where the last operand is not 0."""
    row: Wgmma = WGMMA[site.node.name, type_of(d), type_of(a), type_of(b)]
    warps = warps_at(g, site, mask)
    *layouts, scale = rest
    _check_fence(g, site, d, a if row.a_in_registers else None)
    product = Product(g, site, row, d, mask, scale)
    g.run.multiplied(len(warps), row.flops // 4)
    b_layout = [int(part) for part in layouts[-4:]]
    if row.a_in_registers:
        product.a = registers(a, row.a_places.rows.shape[1], g.size)
    else:
        product.reads(a, _factor(g, site, a, 64, row.types.k, [int(part) for part in layouts[:4]], warps))
    product.reads(b, _factor(g, site, b, row.n, row.types.k, b_layout, warps))
    g.pending.products.open.append(product)


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
