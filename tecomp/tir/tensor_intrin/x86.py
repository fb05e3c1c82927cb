"""Tensor intrinsics of x86: products of small numbers, summed in 32 bits.

Those of AVX-512 are one instruction each, those of AMX a multiplication of tiles with its loads and its store. A
program with one builds for a CPU that has the feature (`-mcpu=`); built for another, or called on one, it is refused.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...te.axis import reduce_axis
from ...te.bits import reinterpret
from ...te.buffer import DeclaredBuffer, decl_buffer
from ...te.compute import compute
from ...te.placeholder import placeholder
from ...te.reducers import sum as total
from ...te.symbol import var
from ...te.tensor import Tensor
from ...te.tensor_intrin import TensorIntrin, decl_tensor_intrin
from ..foreign import call_llvm_intrin, call_llvm_pure_intrin

LANES: Final = 16
"""Of 32 bits in a register."""


@cache
def dot_u8s8() -> TensorIntrin:
    """Return C[j] = sum over k in [0, 4) of A[k] * B[j, k]: uint8 by int8 in 16 int32 (AVX-512 VNNI, vpdpbusd)."""
    return _dot("vpdpbusd", "llvm.x86.avx512.vpdpbusd.512", 4, ("uint8", "int8", "int32"))


@cache
def dot_bf16() -> TensorIntrin:
    """Return C[j] = sum over k in [0, 2) of A[k] * B[j, k]: bfloat16 in 16 float32 (AVX512_BF16, vdpbf16ps).

    The instruction rounds as it likes and takes denormal numbers as 0.
    """
    return _dot("vdpbf16ps", "llvm.x86.avx512bf16.dpbf16ps.512", 2, ("bfloat16", "bfloat16", "float32"))


def _dot(name: str, instruction: str, depth: int, types: tuple[str, str, str]) -> TensorIntrin:
    """Return the intrinsic that adds `depth` products to each of 16 sums; A is the same for all of them."""
    left, right, result = types
    same, each = placeholder((depth,), left, name="A"), placeholder((LANES, depth), right, name="B")
    along = reduce_axis((0, depth), name="k")
    dots = compute(
        (LANES,), lambda j: total(same[along].astype(result) * each[j, along].astype(result), axis=along), name="C"
    )
    sums = f"{result}x{LANES}"

    def emit(ins: list[DeclaredBuffer], outs: list[DeclaredBuffer]) -> tuple[Any, Any, Any]:
        word = reinterpret("int32", ins[0].vload(0, f"{left}x{depth}"))
        a = E.Broadcast(word, LANES)
        b = reinterpret(f"int32x{LANES}", ins[1].vload((0, 0), f"{right}x{LANES * depth}"))

        def added(so_far: Expr) -> Any:
            return outs[0].vstore(0, call_llvm_pure_intrin(sums, instruction, so_far, a, b))

        zero = make.broadcast(make.const(0, result), LANES)
        return added(zero), outs[0].vstore(0, zero), added(outs[0].vload(0, sums))

    return decl_tensor_intrin(dots.op, emit, name)


_ROWS: Final = 16
"""Of a tile, which are 64 bytes each."""
_LINE: Final = 64


@cache
def amx_u8s8() -> TensorIntrin:
    """Return C[i, j] = sum over k in [0, 64) of A[i, k] * B[k // 4, j, k % 4]: uint8 by int8 in int32 (AMX-INT8)."""
    return _tiles("tdpbusd", 4, ("uint8", "int8", "int32"))


@cache
def amx_bf16() -> TensorIntrin:
    """Return C[i, j] = sum over k in [0, 32) of A[i, k] * B[k // 2, j, k % 2]: bfloat16 in float32 (AMX-BF16)."""
    return _tiles("tdpbf16ps", 2, ("bfloat16", "bfloat16", "float32"))


def _tiles(name: str, group: int, types: tuple[str, str, str]) -> TensorIntrin:
    """Return the multiplication of tiles, `group` values of k side by side in the second factor."""
    left, right, result = types
    depth = _ROWS * group
    rows = placeholder((_ROWS, depth), left, name="A")
    groups = placeholder((_ROWS, _ROWS, group), right, name="B")
    along = reduce_axis((0, depth), name="k")

    def product(i: Expr, j: Expr) -> Expr:
        b = groups[along // group, j, along % group]
        return total(rows[i, along].astype(result) * b.astype(result), axis=along)

    sums = compute((_ROWS, _ROWS), product, name="C")

    def emit(ins: list[DeclaredBuffer], outs: list[DeclaredBuffer]) -> tuple[Expr, Expr, Expr]:
        size = make.const(_ROWS, "int16"), make.const(_LINE, "int16")

        def loaded(buffer: DeclaredBuffer) -> Expr:
            return call_llvm_intrin(
                "handle", "llvm.x86.tileloadd64.internal", *size, buffer.access_ptr("r"), _step(buffer)
            )

        def stored(value: Expr) -> Expr:
            memory = outs[0].access_ptr("w"), _step(outs[0])
            return call_llvm_intrin("int32", "llvm.x86.tilestored64.internal", *size, *memory, value)

        def added(so_far: Expr) -> Expr:
            factors = map(loaded, ins)
            return call_llvm_intrin("handle", f"llvm.x86.{name}.internal", *size, size[1], so_far, *factors)

        zero = call_llvm_intrin("handle", "llvm.x86.tilezero.internal", *size)
        return stored(added(zero)), stored(zero), stored(added(loaded(outs[0])))

    binds = {tensor: _strided(tensor) for tensor in (rows, groups, sums)}
    return decl_tensor_intrin(sums.op, emit, f"amx_{name}", binds=binds)


def _strided(tensor: Tensor) -> DeclaredBuffer:
    """Return the buffer of a tile in memory: lines of 64 bytes, which may lie apart."""
    inner = [1] if tensor.ndim == 2 else [int(tensor.shape[2]), 1]
    return decl_buffer(tensor.shape, tensor.dtype, tensor.name, strides=[var(f"{tensor.name}_line"), *inner])


def _step(buffer: DeclaredBuffer) -> Expr:
    """Return how far the lines of a tile are apart, in bytes."""
    assert buffer.strides is not None
    return make.mul(make.cast("int64", buffer.strides[0]), buffer.dtype.bytes)
