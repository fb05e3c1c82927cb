"""Where the multiplications of a warpgroup find the elements of a factor in shared memory.

A factor has rows, 64 of a and N of b, and 32 bytes of k in each. `major` 0: k runs along the bytes. Eight rows of
`swizzle` bytes lie below one another, and `stride` says how far the next eight are:

    row r, byte x of k        r % 8 * swizzle  +  r // 8 * stride  +  x

`major` 1, 16-bit elements: rows run along the bytes. Eight steps of k, `swizzle` bytes of rows each, lie below one
another; the next eight steps are `stride` further, the next rows `leading`:

    byte x of rows, step k    k % 8 * swizzle  +  k // 8 * stride  +  x % swizzle  +  x // swizzle * leading

Without a swizzle (0), blocks of 8 times 16 bytes lie in one piece. From one to the next along k it is `leading`,
along rows it is `stride`, in both cases.

With one, bits 4 and up of an address are XORed with as many from bit 7 up, three for 128 bytes, two for 64, one for 32,
as the tensor copies do it. These are bits of the address in shared memory, not of the distance from the start. A
pattern repeats after 8 * swizzle bytes; a tile begins at a multiple of that, and a factor may begin inside a tile.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from .matrix_layout import Array

CHUNK: Final = 16
K_MAJOR: Final = 0
SWIZZLE_BITS: Final = {0: 0, 32: 1, 64: 2, 128: 3}
"""How many bits of an address change, by the bytes of a swizzled line."""
SWIZZLE_MODES: Final = {0: 0, 128: 1, 64: 2, 32: 3}
"""What the descriptor calls each swizzle."""


def swizzled(addresses: Array, swizzle: int) -> Array:
    """Return the byte addresses where lie what the layout without a swizzle has at `addresses`."""
    return addresses ^ ((addresses >> 7 & (1 << SWIZZLE_BITS[swizzle]) - 1) << 4)


@cache
def plain_offsets(rows: int, k: int, swizzle: int, leading: int, stride: int, major: int, element_bytes: int) -> Array:
    """Return how many bytes after the start each element (rows, k) lies before the swizzle."""
    row, step = np.ogrid[:rows, :k]
    across, along = (row, step * element_bytes) if major == K_MAJOR else (step, row * element_bytes)
    line = swizzle or CHUNK
    further = along % line + across % 8 * line
    if swizzle:
        return further + across // 8 * stride + along // line * (leading if major else 0)
    by_k, by_rows = (along // line, across // 8) if major == K_MAJOR else (across // 8, along // line)
    return further + by_k * leading + by_rows * stride


def operand_addresses(
    starts: Array, rows: int, k: int, swizzle: int, leading: int, stride: int, major: int, element_bytes: int
) -> Array:
    """Return the byte addresses in shared memory, (..., rows, k), of factors that start at `starts` (...)."""
    begin = np.asarray(starts, np.int64)[..., None, None]
    return swizzled(begin + plain_offsets(rows, k, swizzle, leading, stride, major, element_bytes), swizzle)
