"""The matrix instructions of a warp, by the names that TE programs call them: statements of tensor intrinsics.

    ib.emit(tir.call_intrin("handle", "tir.tvm_mma_sync", c.data, nc, a.data, na, b.data, nb, c.data, nc))

A fragment is the `data` of a buffer declared in a wmma scope, and the number of the matrix in it: `elem_offset` by the
matrix's elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ..dtype import INT32
from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.matrix import (
    ACCUMULATOR,
    FRAGMENT_SCOPES,
    MATRIX_A,
    MATRIX_B,
    WMMA_SHAPES,
    Instruction,
    Shape,
    is_fragment,
)
from ..ir.node import Expr
from ..ir.stmt import Buffer

_LAYOUTS: Final = {"row_major": "row", "col_major": "col"}
Sizes = tuple[Any, Any, Any]


def tvm_load_matrix_sync(
    fragment: Any, m: int, n: int, k: int, index: Any, buffer_ptr: Any, stride: Any, layout: str
) -> Expr:
    """Return the load of a matrix of an m x n x k multiplication from memory, `stride` elements from row to row.

    index   which matrix of the fragment; layout  row_major, or col_major: `stride` is from column to column then
    """
    asked = "tvm_load_matrix_sync"
    to, shape = _matrix(asked, fragment, "w", (m, n, k))
    instruction = Instruction("load", _layout(asked, layout), shape)
    return _call(instruction, to, index, _address(asked, buffer_ptr, "r"), stride)


def tvm_store_matrix_sync(
    fragment: Any, m: int, n: int, k: int, index: Any, buffer_ptr: Any, stride: Any, layout: str
) -> Expr:
    """Return the store of a matrix of an m x n x k multiplication to memory, as it is loaded."""
    asked = "tvm_store_matrix_sync"
    of, shape = _matrix(asked, fragment, "r", (m, n, k))
    instruction = Instruction("store", _layout(asked, layout), shape)
    return _call(instruction, of, index, _address(asked, buffer_ptr, "w"), stride)


def tvm_fill_fragment(fragment: Any, m: int, n: int, k: int, index: Any, value: Any) -> Expr:
    """Return the statement that gives every element of a matrix one value."""
    to, shape = _matrix("tvm_fill_fragment", fragment, "w", (m, n, k))
    dtype = to.buffer.dtype
    return _call(Instruction("fill", "", shape), to, index, make.cast(dtype, make.convert(value, dtype)))


def tvm_mma_sync(
    fragment_d: Any,
    index_d: Any,
    fragment_a: Any,
    index_a: Any,
    fragment_b: Any,
    index_b: Any,
    fragment_c: Any,
    index_c: Any,
) -> Expr:
    """Return d = a @ b + c, of one matrix of each fragment; d may be c."""
    asked = "tvm_mma_sync"
    d, a, b, c = (
        _fragment(asked, of, "w" if n == 0 else "r")
        for n, of in enumerate((fragment_d, fragment_a, fragment_b, fragment_c))
    )
    sizes = [_elements(part.buffer) for part in (d, a, b, c)]
    wanted = (ACCUMULATOR, MATRIX_A, MATRIX_B, ACCUMULATOR)
    for shape in WMMA_SHAPES:
        if [math.prod(shape.of(scope)) for scope in wanted] == sizes:
            return _call(Instruction("mma", "", shape), d, index_d, a, index_a, b, index_b, c, index_c)
    raise UserError(
        f"{asked} of matrices of {', '.join(map(str, sizes))} elements",
        because="no instruction multiplies such matrices",
        legal=", ".join(map(str, WMMA_SHAPES)),
    )


MATRIX_FUNCTIONS: Final[dict[str, Callable[..., Expr]]] = {
    function.__name__: function
    for function in (tvm_load_matrix_sync, tvm_store_matrix_sync, tvm_fill_fragment, tvm_mma_sync)
}


def _call(instruction: Instruction, *args: Any) -> Expr:
    return E.Call(INT32, str(instruction), tuple(map(make.convert, args)))


def _layout(asked: str, layout: str) -> str:
    if layout in _LAYOUTS:
        return _LAYOUTS[layout]
    raise UserError(f"{asked}: layout {layout!r}", because="no layout is called so", legal=", ".join(_LAYOUTS))


def _address(asked: str, value: Any, mode: str) -> E.Address:
    """Return an address, or that of a whole buffer, for reading or writing."""
    found = value.as_expr() if hasattr(value, "as_expr") else value
    if isinstance(found, Buffer):
        found = E.Address(found, (), make.const(0, INT32), mode)
    if isinstance(found, E.Address):
        return E.Address(found.buffer, found.indices, found.offset, mode)
    raise UserTypeError(
        f"{asked} at {value!r}", because="it is no address", legal='buffer.access_ptr("r"), buffer.data'
    )


def _fragment(asked: str, value: Any, mode: str) -> E.Address:
    """Return the address of a fragment."""
    found = _address(asked, value, mode)
    if is_fragment(found.buffer):
        return found
    raise UserError(
        f"{asked}: '{found.buffer.name}' as a fragment",
        because=f"it is declared in {found.buffer.scope} memory",
        legal=f"decl_buffer(..., scope=...) of {', '.join(FRAGMENT_SCOPES)}",
    )


def _matrix(asked: str, value: Any, mode: str, sizes: Sizes) -> tuple[E.Address, Shape]:
    """Return a fragment and the multiplication that its matrices are of; UserError where they are of another size."""
    found, shape = _fragment(asked, value, mode), Shape(*map(int, sizes))
    if shape not in WMMA_SHAPES:
        known = ", ".join(map(str, WMMA_SHAPES))
        raise UserError(f"{asked} of {shape}", because="no instruction multiplies such matrices", legal=known)
    rows, columns = shape.of(found.buffer.scope)
    own = _elements(found.buffer)
    if own == rows * columns:
        return found, shape
    raise UserError(
        f"{asked}: '{found.buffer.name}' as a matrix of {shape}",
        because=f"that has {rows} x {columns} elements, the buffer {own}",
        legal=f"decl_buffer(({rows}, {columns}), ...)",
    )


def _elements(buffer: Buffer) -> int:
    return math.prod(int(extent.value) for extent in buffer.shape if isinstance(extent, E.Const))
