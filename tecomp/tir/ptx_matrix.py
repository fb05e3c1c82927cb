"""Matrix instructions of a warp by TVM's names, where these mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..errors import UserError
from ..ir.matrix_instruction import MATRIX_INSTRUCTIONS
from ..ir.node import Expr
from .instructions import instruction
from .ptx import element_at

_TYPES: Final = {
    "fp16": "float16", "bf16": "bfloat16", "tf32": "float32", "fp32": "float32", "fp64": "float64",
}  # fmt: skip
"""What TVM calls the types of elements; int8 and the like by their own names."""
_MULTIPLICATIONS: Final = [name.removeprefix("mma_") for name in MATRIX_INSTRUCTIONS if name.startswith("mma_")]


def ptx_ldmatrix(
    dtype: str,
    trans: bool,
    num: int,
    type: str,
    local_ptr: Any,
    local_offset: Any,
    smem_ptr: Any,
    smem_offset: Any,
) -> Expr:
    """Return the load of 1, 2 or 4 matrices of 8 rows of 16 bytes; offsets count elements of `dtype`."""
    asked = "ptx_ldmatrix"
    if num not in (1, 2, 4) or type.lstrip(".") != "b16":
        raise UserError(f"tir.{asked} of {num} matrices of {type!r}", "there is none", '1, 2 or 4 matrices of ".b16"')
    to, row = element_at(asked, dtype, local_ptr, local_offset), element_at(asked, dtype, smem_ptr, smem_offset)
    return instruction(f"ldmatrix_x{num}{'_trans' if trans else ''}", to, row)


def ptx_mma(
    dtype: str,
    shape: str,
    a_layout: str,
    b_layout: str,
    a_dtype: str,
    b_dtype: str,
    c_dtype: str,
    multiplicand_a: Any,
    a_index: Any,
    multiplicand_b: Any,
    b_index: Any,
    accumulator: Any,
    c_index: Any,
    saturate: bool = False,
    operator: str | None = None,
) -> Expr:
    """Return the multiplication of a warp, which adds a @ b to the accumulator; offsets count elements."""
    asked = f"ptx_mma {shape}"
    because, legal = "", ""
    if shape not in _MULTIPLICATIONS:
        because, legal = "there is none of that shape", " or ".join(_MULTIPLICATIONS)
    elif (a_layout, b_layout) != ("row", "col"):
        because, legal = "a lies by rows and b by columns in registers", '"row" and "col"'
    elif saturate or operator is not None:
        because, legal = "it multiplies and adds, and integers wrap", "saturate=False and no operator"
    if because:
        raise UserError(f"tir.{asked}", because, legal)
    d, a, b = (
        element_at(asked, _TYPES.get(kind, kind), pointer, index)
        for kind, pointer, index in (
            (c_dtype, accumulator, c_index),
            (a_dtype, multiplicand_a, a_index),
            (b_dtype, multiplicand_b, b_index),
        )
    )
    return instruction(f"mma_{shape}", d, a, b, d)


PTX_MATRIX_FUNCTIONS: Final[dict[str, Callable[..., Expr]]] = {"ptx_ldmatrix": ptx_ldmatrix, "ptx_mma": ptx_mma}
"""What `call_intrin` makes of these names, from the type and the arguments that it is given."""
