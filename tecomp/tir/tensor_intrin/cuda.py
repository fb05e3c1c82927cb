"""Tensor intrinsics of NVIDIA GPUs: matrices that a warp loads, multiplies and stores; sums of products of bytes.

A product on tensor cores by a schedule: copies of both factors in shared memory, copies of these in wmma.matrix_a and
wmma.matrix_b by `wmma_load`; the sums in wmma.accumulator (cache_write) by `wmma_mma`; the result by `wmma_store`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ...dtype import DType
from ...ir.matrix import ACCUMULATOR, MATRIX_A, MATRIX_B, Shape, alignment
from ...ir.node import Expr
from ...ir.stmt import Stmt
from ...te.axis import reduce_axis
from ...te.bits import dp4a as dot_of_bytes
from ...te.bits import reinterpret
from ...te.buffer import DeclaredBuffer, decl_buffer
from ...te.compute import compute
from ...te.placeholder import placeholder
from ...te.reducers import sum as total
from ...te.symbol import var
from ...te.tensor import Tensor
from ...te.tensor_intrin import TensorIntrin, decl_tensor_intrin
from ..wmma import tvm_fill_fragment, tvm_load_matrix_sync, tvm_mma_sync, tvm_store_matrix_sync

SQUARE: Final = Shape(16, 16, 16)


def _fragment(tensor: Tensor, scope: str) -> DeclaredBuffer:
    """Return the buffer of one matrix among those of a fragment."""
    rows, columns = (int(extent) for extent in tensor.shape)
    return decl_buffer(tensor.shape, tensor.dtype, tensor.name, scope=scope, offset_factor=rows * columns)


def _in_memory(tensor: Tensor, scope: str) -> DeclaredBuffer:
    """Return the buffer of a matrix in memory, whose rows may lie apart."""
    strides = [var(f"{tensor.name}_stride"), 1]
    align = alignment(int(tensor.shape[1]) * tensor.dtype.bytes)
    return decl_buffer(
        tensor.shape, tensor.dtype, tensor.name, strides=strides, scope=scope, data_alignment=align, offset_factor=1
    )


def _number(buffer: DeclaredBuffer) -> Expr:
    """Return which matrix of its fragment a buffer is."""
    rows, columns = (int(extent) for extent in buffer.shape)
    assert buffer.elem_offset is not None
    return buffer.elem_offset // (rows * columns)


@cache
def wmma_load(
    scope: str, dtype: str = "float16", shape: Shape = SQUARE, layout: str = "row_major", source: str = "shared"
) -> TensorIntrin:
    """Return the load of one factor of a multiplication: a copy of a matrix in `source` memory into `scope`.

    scope   wmma.matrix_a, m x k, or wmma.matrix_b, k x n; with layout "col_major" the tensors are k x m, n x k
    dtype   float16, bfloat16, int8, uint8
    """
    rows, columns = shape.of(scope)
    extents = (rows, columns) if layout == "row_major" else (columns, rows)
    source_matrix = placeholder(extents, dtype, name="A")
    copy = compute(extents, lambda i, j: source_matrix[i, j], name="C")

    def emit(ins: list[DeclaredBuffer], outs: list[DeclaredBuffer]) -> Expr:
        matrix, memory = outs[0], ins[0]
        assert memory.strides is not None
        return tvm_load_matrix_sync(
            matrix.data, *shape, _number(matrix), memory.access_ptr("r"), memory.strides[0], layout
        )

    name = f"wmma_load_{scope[-1]}_{layout[:3]}_{shape}_{DType(dtype).short}_{source}"
    binds = {source_matrix: _in_memory(source_matrix, source), copy: _fragment(copy, scope)}
    return decl_tensor_intrin(copy.op, emit, name, binds=binds)


@cache
def wmma_mma(
    factor: str = "float16",
    result: str = "float32",
    shape: Shape = SQUARE,
    a_layout: str = "row_major",
    b_layout: str = "row_major",
) -> TensorIntrin:
    """Return the multiplication C[i, j] = sum over k of A[i, k] * B[k, j], of `factor` elements, summed in `result`.

    With layout "col_major" it is A[k, i], B[j, k].
    """
    m, n, k = shape
    left = placeholder((m, k) if a_layout == "row_major" else (k, m), factor, name="A")
    right = placeholder((k, n) if b_layout == "row_major" else (n, k), factor, name="B")
    along = reduce_axis((0, k), name="k")

    def product(i: Expr, j: Expr) -> Expr:
        a = left[i, along] if a_layout == "row_major" else left[along, i]
        b = right[along, j] if b_layout == "row_major" else right[j, along]
        return total(a.astype(result) * b.astype(result), axis=along)

    sums = compute((m, n), product, name="C")

    def emit(ins: list[DeclaredBuffer], outs: list[DeclaredBuffer]) -> tuple[Expr, Expr, Expr]:
        a, b, c = (part for buffer in (*ins, *outs) for part in [(buffer.data, _number(buffer))])
        zero = 0.0 if DType(result).is_float else 0
        update = tvm_mma_sync(*c, *a, *b, *c)
        return update, tvm_fill_fragment(c[0], m, n, k, c[1], zero), update

    name = f"wmma_mma_{a_layout[:3]}_{b_layout[:3]}_{shape}_{DType(factor).short}_{DType(result).short}"
    scopes = {left: MATRIX_A, right: MATRIX_B, sums: ACCUMULATOR}
    binds = {tensor: _fragment(tensor, scope) for tensor, scope in scopes.items()}
    return decl_tensor_intrin(sums.op, emit, name, binds=binds)


@cache
def wmma_store(dtype: str = "float32", shape: Shape = SQUARE, target: str = "global") -> TensorIntrin:
    """Return the store of a product: a copy of a matrix in wmma.accumulator into `target` memory, row by row."""
    m, n, _ = shape
    product = placeholder((m, n), dtype, name="A")
    copy = compute((m, n), lambda i, j: product[i, j], name="C")

    def emit(ins: list[DeclaredBuffer], outs: list[DeclaredBuffer]) -> Expr:
        matrix, memory = ins[0], outs[0]
        assert memory.strides is not None
        return tvm_store_matrix_sync(
            matrix.data, *shape, _number(matrix), memory.access_ptr("w"), memory.strides[0], "row_major"
        )

    name = f"wmma_store_{shape}_{DType(dtype).short}_{target}"
    binds = {product: _fragment(product, ACCUMULATOR), copy: _in_memory(copy, target)}
    return decl_tensor_intrin(copy.op, emit, name, binds=binds)


@cache
def dp4a(dtype: str = "int8", scope: str = "global") -> TensorIntrin:
    """Return the sum of four products of bytes, C = sum over k in [0, 4) of A[k] * B[k], in 32 bits.

    dtype  int8 (C is int32) or uint8 (uint32); scope  where all three lie
    """
    result = dtype[:-1] + "32"
    left, right = placeholder((4,), dtype, name="A"), placeholder((4,), dtype, name="B")
    along = reduce_axis((0, 4), name="k")
    dot = compute((1,), lambda _: total(left[along].astype(result) * right[along].astype(result), axis=along), name="C")

    def emit(ins: list[DeclaredBuffer], outs: list[DeclaredBuffer]) -> tuple[Stmt, Stmt, Stmt]:
        a, b = (reinterpret(result, buffer.vload(0, f"{dtype}x4")) for buffer in ins)
        update = outs[0].vstore(0, dot_of_bytes(a, b, outs[0].vload(0)))
        return outs[0].vstore(0, dot_of_bytes(a, b, 0)), outs[0].vstore(0, 0), update

    name = f"dp4a_{DType(dtype).short}_{scope}"
    return decl_tensor_intrin(dot.op, emit, name, default_buffer_params={"scope": scope})
