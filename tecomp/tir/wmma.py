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
from ..ir.matrix import FILL, FRAGMENT_SCOPES, MULTIPLY, WMMA_SHAPES, Shape, is_fragment
from ..ir.node import Expr
from ..ir.stmt import Buffer

_LAYOUTS: Final = {"row_major": "row", "col_major": "col"}


def tvm_load_matrix_sync(
    fragment: Any, m: int, n: int, k: int, index: Any, buffer_ptr: Any, stride: Any, layout: str
) -> Expr:
    """Return the load of a matrix of an m x n x k multiplication from memory, `stride` elements from row to row.

    index   which matrix of the fragment; layout  row_major, or col_major: `stride` is from column to column then
    """
    asked = "tvm_load_matrix_sync"
    to = _fragment(asked, fragment, "w", (m, n, k))
    return _call(f"wmma_load_{_layout(asked, layout)}", to, index, _address(asked, buffer_ptr, "r"), stride)


def tvm_store_matrix_sync(
    fragment: Any, m: int, n: int, k: int, index: Any, buffer_ptr: Any, stride: Any, layout: str
) -> Expr:
    """Return the store of a matrix of an m x n x k multiplication to memory, as it is loaded."""
    asked = "tvm_store_matrix_sync"
    of = _fragment(asked, fragment, "r", (m, n, k))
    return _call(f"wmma_store_{_layout(asked, layout)}", of, index, _address(asked, buffer_ptr, "w"), stride)


def tvm_fill_fragment(fragment: Any, m: int, n: int, k: int, index: Any, value: Any) -> Expr:
    """Return the statement that gives every element of a matrix one value."""
    to = _fragment("tvm_fill_fragment", fragment, "w", (m, n, k))
    return _call(FILL, to, index, make.cast(to.buffer.dtype, make.convert(value, to.buffer.dtype)))


def tvm_mma_sync(
    fragment_d: Any, index_d: Any, fragment_a: Any, index_a: Any, fragment_b: Any, index_b: Any, fragment_c: Any,
    index_c: Any,
) -> Expr:  # fmt: skip
    """Return d = a @ b + c, of one matrix of each fragment; d may be c."""
    given = ((fragment_d, "w", index_d), (fragment_a, "r", index_a), (fragment_b, "r", index_b), (fragment_c, "r", index_c))
    return _call(
        MULTIPLY, *(part for of, mode, index in given for part in (_fragment("tvm_mma_sync", of, mode), index))
    )


MATRIX_FUNCTIONS: Final[dict[str, Callable[..., Expr]]] = {
    function.__name__: function
    for function in (tvm_load_matrix_sync, tvm_store_matrix_sync, tvm_fill_fragment, tvm_mma_sync)
}


def _call(name: str, *args: Any) -> Expr:
    return E.Call(INT32, name, tuple(map(make.convert, args)))


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
    raise UserTypeError(f"{asked} at {value!r}", because="it is no address", legal='buffer.access_ptr("r"), buffer.data')


def _fragment(asked: str, value: Any, mode: str, sizes: tuple[int, int, int] | None = None) -> E.Address:
    """Return a fragment; UserError where its buffer is none, or holds matrices of another size."""
    found = _address(asked, value, mode)
    buffer = found.buffer
    if not is_fragment(buffer):
        raise UserError(
            f"{asked}: '{buffer.name}' as a fragment",
            because=f"it is declared in {buffer.scope} memory",
            legal=f"decl_buffer(..., scope=...) of {', '.join(FRAGMENT_SCOPES)}",
        )
    if sizes is None:
        return found
    shape = Shape(*map(int, sizes))
    if shape not in WMMA_SHAPES:
        known = ", ".join(map(str, WMMA_SHAPES))
        raise UserError(f"{asked} of {shape}", because="no instruction multiplies such matrices", legal=known)
    rows, columns = shape.of(buffer.scope)
    own = math.prod(int(extent.value) for extent in buffer.shape if isinstance(extent, E.Const))
    if own != rows * columns:
        raise UserError(
            f"{asked}: '{buffer.name}' as a matrix of {shape}",
            because=f"that has {rows} x {columns} elements, the buffer {own}",
            legal=f"decl_buffer(({rows}, {columns}), ...)",
        )
    return found
