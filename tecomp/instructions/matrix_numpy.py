"""What the matrix instructions of a warp on its registers do in the simulator: mma, ldmatrix, stmatrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..target.limits import WARP
from .ldmatrix import MATRIX_MOVES, ROW_BYTES, MatrixMove
from .mma import MMA, Mma
from .touching import aligned


def warps_at(g: Any, site: Any, mask: Any) -> Any:
    """Return the first lane of each warp that comes to an instruction; report one that is not whole."""
    active = np.zeros(g.size, np.bool_)
    active[g.lanes_of(mask)] = True
    rows = active.reshape(-1, WARP)
    some, whole = rows.any(axis=1), rows.all(axis=1)
    if (some & ~whole).any():
        warp = int(np.flatnonzero(some & ~whole)[0])
        here, absent = int(rows[warp].argmax()), int((~rows[warp]).argmax())
        because = f"thread ({g.name(warp * WARP + here)}) comes to it, lane {absent} of its warp does not"
        g.run.report("divergence", "an instruction of a warp diverges", because, site.stmt)
    return np.flatnonzero(some) * WARP


def gather(g: Any, place: Any, flat: Any, lane: Any) -> Any:
    """Return the elements `flat` of a memory, each read by a thread; zero outside of it."""
    found = g.elements(place.site, place.memory, flat.ravel(), lane.ravel(), "reads")
    g.checked_read(place.site, place.memory, found, verb="matrix load")
    values = np.zeros(flat.size, place.memory.data.dtype)
    values[slice(None) if found.at is None else found.at] = place.memory.data[found.x]
    return values.reshape(flat.shape)


def scatter(g: Any, place: Any, flat: Any, lane: Any, values: Any) -> None:
    """Store to the elements `flat` of a memory, each by a thread."""
    found = g.elements(place.site, place.memory, flat.ravel(), lane.ravel(), "writes")
    g.checked_write(place.site, place.memory, found, verb="matrix store")
    place.memory.data[found.x] = values.ravel()[slice(None) if found.at is None else found.at]


def type_of(place: Any) -> str:
    """Return the type of what lies at an address."""
    return str(place.memory.buffer.dtype)


def put_registers(g: Any, place: Any, values: Any, mask: Any) -> None:
    """Give each thread registers, (threads, count), after looking whether none is in flight."""
    for at in range(values.shape[1]):
        g.store(place.site, place.offset + at, values[:, at], mask)


def checked_registers(g: Any, place: Any, count: int, mask: Any) -> Any:
    """Return registers, (threads, count), after looking whether each holds something and none is in flight."""
    found = [g.load(place.site, place.offset + at, mask) for at in range(count)]
    return np.stack([np.broadcast_to(row, (g.size,)) for row in found], axis=1)


def multiply(g: Any, site: Any, mask: Any, d: Any, a: Any, b: Any, c: Any) -> None:
    """d = a @ b + c of the warps."""
    row: Mma = MMA[site.node.name, type_of(d), type_of(a), type_of(b)]
    warps = warps_at(g, site, mask)
    counts = (row.places[name].rows.shape[1] for name in "abc")
    values = [
        checked_registers(g, place, count, mask).reshape(-1, WARP, count)
        for place, count in zip((a, b, c), counts, strict=True)
    ]
    g.run.multiplied(len(warps), row.flops, row.a)
    result = row.compute(*values)
    put_registers(g, d, result.reshape(g.size, -1), mask)


def move(row: MatrixMove) -> Callable[..., None]:
    """Return the meaning of a load or a store of matrices."""

    def run(g: Any, site: Any, mask: Any, first: Any, second: Any) -> None:
        held, shared = (first, second) if row.is_load else (second, first)
        warps = warps_at(g, site, mask)
        lanes = (warps[:, None] + np.arange(row.addressing_lanes)).ravel()
        aligned(g, site, shared, lanes, ROW_BYTES)
        item = shared.memory.data.itemsize
        start = np.broadcast_to(shared.offset, (g.size,))[lanes].astype(np.int64)
        flat = start[:, None] + np.arange(ROW_BYTES // item)
        lane = np.broadcast_to(lanes[:, None], flat.shape)
        per = ROW_BYTES // item
        kind = held.memory.buffer.dtype.numpy
        count = row.matrices * 4 // kind.itemsize
        if row.is_load:
            rows = gather(g, shared, flat, lane).reshape(-1, row.addressing_lanes, per)
            found = np.ascontiguousarray(row.gather(rows)).view(kind)
            whole = np.zeros((g.size, count), kind)
            whole.reshape(-1, WARP, count)[warps // WARP] = found
            put_registers(g, held, whole, mask)
            return
        given = checked_registers(g, held, count, mask).reshape(-1, WARP, count)[warps // WARP]
        rows = row.scatter(np.ascontiguousarray(given).view(shared.memory.data.dtype))
        scatter(g, shared, flat, lane, rows.reshape(flat.shape))

    return run


MOVES_NUMPY: Final[dict[str, Callable[..., Any]]] = {name: move(row) for name, row in MATRIX_MOVES.items()}
"""What each load and store of matrices does."""
