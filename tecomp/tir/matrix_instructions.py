"""The instructions on matrices in plain arrays of each thread, as functions of their operands.

    d = ib.allocate("float32", (4,), name="d", scope="local")
    ib.emit(tir.ldmatrix_x4(a[0], S[lane % 16, lane // 16 * 8]))
    ib.emit(tir.mma_m16n8k16(d[0], a[0], b[0], d[0]))

`tir.wgmma_m64n8k16` to `tir.wgmma_m64n256k32`, and those with `a` in registers, `tir.wgmma_rs_m64n8k16`, are here too.
"""

from __future__ import annotations

from ..ir.matrix_instruction import MATRIX_INSTRUCTIONS
from .instructions import function

_LOAD = "Matrices of 8 rows of 16 bytes to registers; lane 8 j + i says where row i of matrix j begins."
_STORE = "Matrices of 8 rows of 16 bytes from registers; lane 8 j + i says where row i of matrix j begins."
_TRANS = "Each is transposed."
ldmatrix_x1 = function("ldmatrix_x1", _LOAD)
ldmatrix_x2 = function("ldmatrix_x2", _LOAD)
ldmatrix_x4 = function("ldmatrix_x4", _LOAD)
ldmatrix_x1_trans = function("ldmatrix_x1_trans", f"{_LOAD} {_TRANS}")
ldmatrix_x2_trans = function("ldmatrix_x2_trans", f"{_LOAD} {_TRANS}")
ldmatrix_x4_trans = function("ldmatrix_x4_trans", f"{_LOAD} {_TRANS}")
stmatrix_x1 = function("stmatrix_x1", _STORE)
stmatrix_x2 = function("stmatrix_x2", _STORE)
stmatrix_x4 = function("stmatrix_x4", _STORE)
stmatrix_x1_trans = function("stmatrix_x1_trans", f"{_STORE} {_TRANS}")
stmatrix_x2_trans = function("stmatrix_x2_trans", f"{_STORE} {_TRANS}")
stmatrix_x4_trans = function("stmatrix_x4_trans", f"{_STORE} {_TRANS}")

_MULTIPLY = "The warp computes d = a @ b + c of matrices in registers; d may be c."
mma_m16n8k16 = function("mma_m16n8k16", _MULTIPLY)
mma_m16n8k8 = function("mma_m16n8k8", _MULTIPLY)
mma_m16n8k32 = function("mma_m16n8k32", _MULTIPLY)
mma_m8n8k4 = function("mma_m8n8k4", _MULTIPLY)

_OF_GROUP = "Four warps begin d = a @ b, or d + a @ b where scale_d is 1, which wgmma_wait ends. b is in shared memory"
WGMMA_FUNCTIONS = {
    name: function(name, f"{_OF_GROUP}, a {'in registers' if name.startswith('wgmma_rs') else 'too'}.")
    for name in MATRIX_INSTRUCTIONS
    if name.startswith("wgmma")
}
"""There are too many of them to be spelled."""

__all__ = [
    "ldmatrix_x1", "ldmatrix_x1_trans", "ldmatrix_x2", "ldmatrix_x2_trans", "ldmatrix_x4", "ldmatrix_x4_trans",
    "mma_m8n8k4", "mma_m16n8k8", "mma_m16n8k16", "mma_m16n8k32", "stmatrix_x1", "stmatrix_x1_trans", "stmatrix_x2",
    "stmatrix_x2_trans", "stmatrix_x4", "stmatrix_x4_trans",
]  # fmt: skip
