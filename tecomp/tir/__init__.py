"""What TE programs import from `tir`: statements and buffers for opaque bodies, foreign calls, expressions."""

from typing import Any as _Any

from ..absent import absent as _absent
from ..te import math as _math
from ..te.bits import (
    dp4a,
    q_multiply_shift,
    q_multiply_shift_per_axis,
    reinterpret,
    vectorcombine,
    vectorhigh,
    vectorlow,
)
from ..te.buffer import DeclaredBuffer as Buffer
from ..te.buffer import decl_buffer
from ..te.logic import Select, all, any, if_then_else, likely
from ..te.math import *
from ..te.reducers import max, min, sum
from ..te.symbol import const, infinity, max_value, min_value
from ..te.symbol import var as Var
from . import instructions as _instructions
from . import ir_builder, stmt_functor
from . import matrix_instructions as _matrix
from . import nodes as _nodes
from .foreign import (
    call_extern,
    call_intrin,
    call_llvm_intrin,
    call_llvm_pure_intrin,
    call_packed,
    call_pure_extern,
)
from .instructions import *
from .matrix_instructions import *
from .nodes import *
from .ptx import (
    ptx_arrive_barrier,
    ptx_arrive_barrier_expect_tx,
    ptx_commit_group,
    ptx_cp_async,
    ptx_cp_async_bulk,
    ptx_init_barrier_thread_count,
    ptx_wait_barrier,
    ptx_wait_group,
    tvm_storage_sync,
    tvm_warp_shuffle,
    tvm_warp_shuffle_down,
    tvm_warp_shuffle_up,
)
from .ptx_matrix import ptx_ldmatrix, ptx_mma
from .wmma import tvm_fill_fragment, tvm_load_matrix_sync, tvm_mma_sync, tvm_store_matrix_sync

__all__ = [
    "Buffer",
    "Select",
    "Var",
    "all",
    "any",
    "call_extern",
    "call_intrin",
    "call_llvm_intrin",
    "call_llvm_pure_intrin",
    "call_packed",
    "call_pure_extern",
    "const",
    "decl_buffer",
    "dp4a",
    "if_then_else",
    "infinity",
    "ir_builder",
    "likely",
    "max",
    "max_value",
    "min",
    "min_value",
    "ptx_arrive_barrier",
    "ptx_arrive_barrier_expect_tx",
    "ptx_commit_group",
    "ptx_cp_async",
    "ptx_cp_async_bulk",
    "ptx_init_barrier_thread_count",
    "ptx_ldmatrix",
    "ptx_mma",
    "ptx_wait_barrier",
    "ptx_wait_group",
    "q_multiply_shift",
    "q_multiply_shift_per_axis",
    "reinterpret",
    "stmt_functor",
    "sum",
    "tvm_fill_fragment",
    "tvm_load_matrix_sync",
    "tvm_mma_sync",
    "tvm_storage_sync",
    "tvm_store_matrix_sync",
    "tvm_warp_shuffle",
    "tvm_warp_shuffle_down",
    "tvm_warp_shuffle_up",
    "vectorcombine",
    "vectorhigh",
    "vectorlow",
]  # fmt: skip
__all__ += _instructions.__all__
__all__ += _matrix.__all__
__all__ += _math.__all__
__all__ += _nodes.__all__


def __getattr__(name: str) -> _Any:
    if name in _matrix.WGMMA_FUNCTIONS:
        return _matrix.WGMMA_FUNCTIONS[name]
    raise _absent(__name__, name)
