"""What matrix instructions of a warp ask of memory.

    ldmatrix, stmatrix           rows of 16 bytes, 8 of them at once
    wmma loads of factors        from shared memory, along whose lines k or a row lies: as ldmatrix does
    other wmma loads and stores  from registers: a lane has pairs of elements, 8 lines by 4 pairs at once
    wgmma                        a factor in shared memory, 128 bytes at once; no instruction of a warp loads it

How wmma moves a matrix is not documented; this is what the compiler makes of it for sm_80 and sm_90.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..ir.matrix import ACCUMULATOR, MATRIX_CALLS, fragments
from .asked import asked, element_bytes
from .requests import WARP, Array, Asked

_ROW: Final = 16
"""Bytes."""
_LINES, _PAIRS = 8, 4


def matrix_asked(site: Any, memory: Any, found: Any, shared: bool) -> Asked | None:
    """Return the requests of a matrix instruction; None where a warpgroup multiplies what lies there."""
    name = site.stmt.value.name
    if name.startswith("wgmma"):
        return None
    if name not in MATRIX_CALLS or len(found.x) % WARP:
        return asked(site, memory, found, vector=False)
    instruction, scope = MATRIX_CALLS[name], fragments(site.stmt.value)[0].scope
    size = element_bytes(memory)
    rows, columns = instruction.shape.of(scope)
    address = (memory.address + found.x % max(memory.count, 1) * size).reshape(-1, rows, columns)
    warp = found.lane[:: rows * columns] // WARP
    lines = address if instruction.layout == "row" else address.swapaxes(1, 2)
    if shared and scope != ACCUMULATOR and lines.shape[2] * size % _ROW == 0:
        return _numbered(warp, lines[:, :, :: _ROW // size].swapaxes(1, 2), _ROW)
    return _of_registers(warp, lines if instruction.layout == "row" or scope != ACCUMULATOR else address, size)


def _numbered(warp: Array, address: Array, width: int) -> Asked:
    """Return requests of 32 addresses of each warp, one after the other."""
    flat = address.reshape(len(warp), -1)
    order = np.arange(flat.shape[1])
    thread = warp[:, None] * WARP + order % WARP
    return Asked(thread.ravel(), np.tile(order // WARP, len(warp)), flat.ravel(), width)


def _of_registers(warp: Array, lines: Array, size: int) -> Asked:
    """Return the requests by which lanes move pairs: 8 lines, of each 4 pairs that lie side by side."""
    count, extent = lines.shape[1:]
    beside = bool((lines[:, :, 1] - lines[:, :, 0] == size).all())
    tiles = lines.reshape(len(warp), count // _LINES, _LINES, extent // (2 * _PAIRS), _PAIRS, 2)
    if beside:
        return _numbered(warp, tiles[..., 0].transpose(0, 1, 3, 2, 4), 2 * size)
    return _numbered(warp, tiles.transpose(0, 1, 3, 5, 2, 4), size)
