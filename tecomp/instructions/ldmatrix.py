"""Matrices of 8 rows of 16 bytes between shared memory and the registers of a warp, one, two or four at a time.

    ldmatrix_x4(to, row)           lane 8 j + i says where row i of matrix j begins, at a multiple of 16 bytes
    ldmatrix_x4_trans(to, row)     the transposed matrices, of 16-bit elements
    stmatrix_x4(row, of), stmatrix_x4_trans    the other way, from sm_90 on

Each lane has 32 bits of each matrix. Where there are fewer than four, the other lanes' addresses mean nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..target.limits import WARP
from .matrix_layout import Array, Places, fragment, together
from .registers import Operand, function, places

ROW_BYTES: Final = 16
WORD_BYTES: Final = 4
"""What each thread has of a matrix."""


class MatrixMove(NamedTuple):
    """One load or store of matrices."""

    verb: str
    """ldmatrix or stmatrix."""
    matrices: int
    """How many."""
    trans: bool
    """Whether a lane has of a matrix what else it would have of the transposed one."""
    since: int

    needs = ""
    kind = "matrix"
    threads = WARP

    @property
    def name(self) -> str:
        """The name of the call, and of the function in CUDA."""
        return f"{self.verb}_x{self.matrices}{'_trans' if self.trans else ''}"

    @property
    def cuda_name(self) -> str:
        """The name of the function in CUDA."""
        return self.name

    @property
    def is_load(self) -> bool:
        """Whether the matrices go to registers."""
        return self.verb == "ldmatrix"

    @property
    def element_bytes(self) -> tuple[int, ...]:
        """The sizes of elements that it takes."""
        return (2,) if self.trans else (1, 2, 4)

    @property
    def flops(self) -> int:
        """None: it moves."""
        return 0

    @property
    def bytes_held(self) -> dict[str, int]:
        """How much of each thread's arrays it takes."""
        return dict.fromkeys(("to", "of"), WORD_BYTES * self.matrices)

    @property
    def addressing_lanes(self) -> int:
        """How many lanes say where a row begins: the first of the warp."""
        return 8 * self.matrices

    def places(self, element_bytes: int = 2) -> Places:
        """Return for each register of each lane the row, 8 j + i of matrix j, and the column of its element."""
        wide = together(element_bytes)
        one = fragment(8, ROW_BYTES // element_bytes, wide)
        one = one.transposed if self.trans else one
        each = np.arange(self.matrices)[None, :, None]
        rows = one.rows[:, None] + 8 * each
        columns = one.columns[:, None] + 0 * each
        return Places(rows.reshape(WARP, -1), columns.reshape(WARP, -1))

    def gather(self, rows: Array) -> Array:
        """Return what each lane gets, (warps, 32, registers), of rows (warps, addressing_lanes, elements of a row)."""
        return self.places(rows.dtype.itemsize).registers(rows)

    def scatter(self, registers: Array) -> Array:
        """Return the rows, (warps, addressing_lanes, elements of a row), of what lanes have: the inverse of gather."""
        return self.places(registers.dtype.itemsize).matrices(registers)

    @property
    def cuda(self) -> str:
        """The text of a call in CUDA; {0} and {1} are its arguments."""
        return f"{self.cuda_name}({{0}}, {{1}})"

    @property
    def prelude(self) -> str:
        """The device function that the text calls."""
        held, address = Operand("f", self.matrices), '"r"(shared_address(row))'
        kind = f"{self.verb}.sync.aligned.m8n8.x{self.matrices}{'.trans' if self.trans else ''}.shared.b16"
        if self.is_load:
            return function(
                f"{self.cuda_name}({held.parameter}, const void* row)",
                f"{kind} {places(0, self.matrices)}, [%{self.matrices}];",
                held.written(),
                [address],
                held.before(),
                held.after,
                clobber="memory",
            )
        return function(
            f"{self.cuda_name}(void* row, {held.const_parameter})",
            f"{kind} [%0], {places(1, self.matrices)};",
            [],
            [address, *held.read],
            clobber="memory",
        )


MATRIX_MOVES: Final = {
    one.name: one
    for one in (
        MatrixMove(verb, matrices, trans, since)
        for verb, since in (("ldmatrix", 75), ("stmatrix", 90))
        for matrices in (1, 2, 4)
        for trans in (False, True)
    )
}
"""By the name of the call."""
