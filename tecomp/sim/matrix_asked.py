"""What matrix instructions of a warp ask of memory.

    ldmatrix, stmatrix    rows of 16 bytes, 8 of them at once
    wmma                  of 8 lines 16 bytes at once, each lane 4 bytes; of a float32 sum 32 bytes, each lane 8
    wgmma                 a factor in shared memory, 128 bytes at once; no instruction of a warp loads it

How wmma moves a matrix is not documented; this is what NVRTC 13 makes of it for sm_80 and sm_90a. The lines are rows of
a matrix that lies by rows, columns of one that lies by columns; sums that lie by columns are moved one by one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..ir.matrix import ACCUMULATOR, MATRIX_CALLS, fragments
from ..target.limits import WARP
from .asked import asked, element_bytes
from .requests import Array, Asked

_LINES, _BESIDE = 8, 4
_OF_LANE: Final = 4
"""Bytes of a factor."""


def matrix_asked(site: Any, memory: Any, found: Any) -> Asked | None:
    """Return the requests of a matrix instruction; None where a warpgroup multiplies what lies there."""
    name = site.stmt.value.name
    if name.startswith("wgmma"):
        return None
    if name not in MATRIX_CALLS:
        return asked(site, memory, found, vector=False)
    instruction, scope = MATRIX_CALLS[name], fragments(site.stmt.value)[0].scope
    size = element_bytes(memory)
    rows, columns = instruction.shape.of(scope)
    if len(found.x) % (rows * columns):  # what is outside of the memory was reported, and left out
        return asked(site, memory, found, vector=False)
    address = (memory.address + found.x % max(memory.count, 1) * size).reshape(-1, rows, columns)
    warp = found.lane[:: rows * columns] // WARP
    if scope == ACCUMULATOR:
        return _tiled(warp, address, size, 2, whole=instruction.layout == "row")
    lines = address if instruction.layout == "row" else address.swapaxes(1, 2)
    return _tiled(warp, lines, size, max(_OF_LANE // size, 1), whole=True)


def _tiled(warp: Array, lines: Array, size: int, together: int, whole: bool) -> Asked:
    """Return the requests for tiles of 8 lines and 4 lanes in each, of which each moves `together` elements."""
    count, extent = lines.shape[1:]
    together = min(together, extent // _BESIDE)
    across = extent // (together * _BESIDE)
    tiles = lines.reshape(len(warp), count // _LINES, _LINES, across, _BESIDE, together)
    if whole:
        return _numbered(warp, tiles[..., 0].transpose(0, 1, 3, 2, 4), together * size)
    return _numbered(warp, tiles.transpose(0, 1, 3, 5, 2, 4), size)


def _numbered(warp: Array, address: Array, width: int) -> Asked:
    """Return requests of 32 addresses of each warp, one after the other."""
    flat = address.reshape(len(warp), -1)
    order = np.arange(flat.shape[1])
    thread = warp[:, None] * WARP + order % WARP
    return Asked(thread.ravel(), np.tile(order // WARP, len(warp)), flat.ravel(), width)
