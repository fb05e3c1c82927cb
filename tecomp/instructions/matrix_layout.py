"""Which lane and register hold which element of a matrix that lies in the registers of a warp or a warpgroup.

One rule holds for every matrix instruction. A row belongs to four neighbouring lanes, and so eight rows to a warp. Each
of the four has `together` neighbours of it, which fill 32 bits: 2 of 16 bits, 4 of 8. Then come the rows eight below,
where the matrix has 16, and then the next columns:

    fragment(16, 8, 2), lane 5:    registers 0, 1: row 1, columns 2, 3    registers 2, 3: row 9, columns 2, 3

So the accumulators of 16 x 16 numbers are, packed in pairs, a first factor of 16-bit numbers. Of a matrix with 64 rows
the first warp of a warpgroup has the first 16. A second factor, k x 8, lies as its transpose does.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from ..target.limits import WARP

Array = np.ndarray[Any, Any]

FOUR_WARPS: Final = 4 * WARP


class Places(NamedTuple):
    """The row and the column of the element in each register of each lane, as arrays (lanes, registers)."""

    rows: Array
    columns: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return int(self.rows.max()) + 1, int(self.columns.max()) + 1

    @property
    def transposed(self) -> Places:
        """The places of the transposed matrix whose elements lie in the same registers."""
        return Places(self.columns, self.rows)

    def matrices(self, registers: Array) -> Array:
        """Return (..., rows, columns) of what registers (..., lanes, registers) hold."""
        found = np.empty((*registers.shape[:-2], *self.shape), registers.dtype)
        found[..., self.rows, self.columns] = registers
        return found

    def registers(self, matrices: Array) -> Array:
        """Return registers (..., lanes, registers) that hold (..., rows, columns)."""
        return matrices[..., self.rows, self.columns]


@cache
def fragment(rows: int, columns: int, together: int) -> Places:
    """Return the places of a matrix of 8 or 16 rows in a warp, or of 64 in a warpgroup."""
    groups = min(rows, 16) // 8
    words = groups * columns // (4 * together)
    lane, word, element = np.ogrid[: FOUR_WARPS if rows == 64 else WARP, :words, :together]
    row = lane // WARP * 16 + lane % WARP // 4 + word % groups * 8 + 0 * element
    column = word // groups * (4 * together) + lane % 4 * together + element
    return Places(row.reshape(len(lane), -1), column.reshape(len(lane), -1))


def together(element_bytes: int) -> int:
    """Return how many neighbours a lane has of a row of such elements."""
    return max(1, 4 // element_bytes)
