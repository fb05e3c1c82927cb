"""The instructions of a GPU that a program may call: what each is in CUDA C++, and what it does in NumPy, one table."""

from __future__ import annotations

from typing import Final

from .bulk_numpy import BULK_NUMPY
from .copies import COPIES
from .copies_numpy import COPIES_NUMPY
from .exchange import EXCHANGE
from .exchange_numpy import EXCHANGE_NUMPY
from .matrix import MATRIX_ROWS, MatrixRow, Typed, matrix_functions, typed
from .register_pool import REGISTERS_NUMPY
from .row import Instruction, preludes
from .sync import SYNC
from .sync_numpy import SYNC_NUMPY
from .tensor_numpy import TENSOR_NUMPY
from .warpgroup import WARPGROUP
from .wgmma_numpy import WGMMA_NUMPY

_NUMPY: Final = {
    **EXCHANGE_NUMPY,
    **SYNC_NUMPY,
    **COPIES_NUMPY,
    **BULK_NUMPY,
    **TENSOR_NUMPY,
    **WGMMA_NUMPY,
    **REGISTERS_NUMPY,
}
ROWS: Final[dict[str, Instruction]] = {
    name: row._replace(numpy=_NUMPY[name]) for name, row in {**EXCHANGE, **SYNC, **COPIES, **WARPGROUP}.items()
}
"""Every instruction that is one for all types, by the name of its call; what it takes and gives, `ir.instruction` says.

Those on matrices are in `MATRIX_ROWS`: the types of the operands choose among several of a name.
"""

__all__ = [
    "COPIES",
    "EXCHANGE",
    "MATRIX_ROWS",
    "ROWS",
    "SYNC",
    "WARPGROUP",
    "Instruction",
    "MatrixRow",
    "Typed",
    "matrix_functions",
    "preludes",
    "typed",
]
