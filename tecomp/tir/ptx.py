"""Instructions of GPUs by TVM's names, where these mean the same.

A barrier is an element of a shared buffer of uint64, `bar[0]`, where TVM has numbers of barriers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..errors import UserError
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Buffer
from ..target.limits import WARP
from .instructions import instruction


def ptx_cp_async(
    dtype: str, shared_ptr: Any, shared_offset: Any, global_ptr: Any, global_offset: Any, bytes: int
) -> Expr:
    """Return the beginning of a copy of 4, 8 or 16 bytes to shared memory; offsets count elements of `dtype`."""
    asked = "ptx_cp_async"
    return instruction(
        "cp_async",
        element_at(asked, dtype, shared_ptr, shared_offset),
        element_at(asked, dtype, global_ptr, global_offset),
        bytes,
    )


def ptx_cp_async_bulk(
    dtype: str,
    shared_ptr: Any,
    shared_offset: Any,
    global_ptr: Any,
    global_offset: Any,
    bytes: Any,
    barrier_id: Any,
) -> Expr:
    """Return the beginning of a copy of many bytes to shared memory, which come to a barrier."""
    asked = "ptx_cp_async_bulk"
    to, source = (
        element_at(asked, dtype, shared_ptr, shared_offset),
        element_at(asked, dtype, global_ptr, global_offset),
    )
    return instruction("bulk_load", to, source, bytes, _barrier(asked, barrier_id))


def ptx_commit_group() -> Expr:
    """Return what lets the copies begun be a group."""
    return instruction("cp_async_commit")


def ptx_wait_group(num: int) -> Expr:
    """Return the wait for all groups of copies but the last `num`."""
    return instruction("cp_async_wait", num)


def ptx_init_barrier_thread_count(barrier_id: Any, thread_count: Any) -> Expr:
    """Return what makes a barrier that so many threads come to."""
    return instruction("mbarrier_init", _barrier("ptx_init_barrier_thread_count", barrier_id), thread_count)


def ptx_arrive_barrier(barrier_id: Any) -> Expr:
    """Return the arrival of a thread at a barrier."""
    return instruction("mbarrier_arrive", _barrier("ptx_arrive_barrier", barrier_id))


def ptx_arrive_barrier_expect_tx(barrier_id: Any, byte_count: Any) -> Expr:
    """Return the arrival of a thread at a barrier that so many bytes come to too."""
    return instruction("mbarrier_arrive_expect_tx", _barrier("ptx_arrive_barrier_expect_tx", barrier_id), byte_count)


def ptx_wait_barrier(barrier_id: Any, parity: Any = 0) -> Expr:
    """Return the wait for the end of a phase: the first, as TVM waits for no other, or that of a parity."""
    return instruction("mbarrier_wait", _barrier("ptx_wait_barrier", barrier_id), parity)


def tvm_warp_shuffle(mask: Any, value: Any, warp_id: Any, width: Any, warp_size: Any) -> Expr:
    """Return the value of the lane of that number."""
    return _shuffle("tvm_warp_shuffle", "shuffle", mask, value, warp_id, width, warp_size)


def tvm_warp_shuffle_up(mask: Any, value: Any, offset: Any, width: Any, warp_size: Any) -> Expr:
    """Return the value of the lane `offset` below."""
    return _shuffle("tvm_warp_shuffle_up", "shuffle_up", mask, value, offset, width, warp_size)


def tvm_warp_shuffle_down(mask: Any, value: Any, offset: Any, width: Any, warp_size: Any) -> Expr:
    """Return the value of the lane `offset` above."""
    return _shuffle("tvm_warp_shuffle_down", "shuffle_down", mask, value, offset, width, warp_size)


def tvm_storage_sync(storage_scope: str) -> Expr:
    """Return the wait of the lanes of a warp for each other; those of a block wait by themselves where they have to."""
    if storage_scope == "warp":
        return instruction("barrier_warp", -1)
    because = "the threads of a block wait for each other where they have to"
    raise UserError(f"tir.tvm_storage_sync {storage_scope!r}", because, 'nothing; tir.tvm_storage_sync("warp")')


def _shuffle(asked: str, name: str, mask: Any, value: Any, lane: Any, width: Any, warp_size: Any) -> Expr:
    if any(make.convert(size) is not make.convert(WARP) for size in (width, warp_size)):
        because = "lanes exchange in whole warps, which have 32"
        raise UserError(f"tir.{asked} of width {width} in warps of {warp_size}", because, "width=32, warp_size=32")
    return instruction(name, value, lane, mask)


def element_at(asked: str, dtype: str, pointer: Any, offset: Any) -> Any:
    """Return the address that lies `offset` elements behind a pointer."""
    found = pointer.as_expr() if hasattr(pointer, "as_expr") else pointer
    if isinstance(found, Buffer):
        found = E.Address(found, (), make.const(0), "rw")
    if not isinstance(found, E.Address):
        return found
    if found.buffer.dtype != dtype:
        because = f"'{found.buffer.name}' holds {found.buffer.dtype}, and offsets count elements"
        raise UserError(f"tir.{asked} of {dtype}", because, str.__str__(found.buffer.dtype))
    return E.Address(found.buffer, found.indices, make.add(found.offset, offset), found.mode)


def _barrier(asked: str, value: Any) -> Any:
    if isinstance(value, (int, E.Const)):
        because = "a barrier is an element of shared memory, and has no number of its own"
        legal = 'bar[0], where bar = ib.allocate("uint64", (n,), name="bar", scope="shared")'
        raise UserError(f"tir.{asked}: barrier {value!r}", because, legal)
    return value


def _without_type(function: Callable[..., Expr]) -> Callable[..., Expr]:
    return lambda _, *args: function(*args)


PTX_FUNCTIONS: Final[dict[str, Callable[..., Expr]]] = {
    **{function.__name__: function for function in (ptx_cp_async, ptx_cp_async_bulk)},
    **{
        function.__name__: _without_type(function)
        for function in (
            *(ptx_commit_group, ptx_wait_group, ptx_init_barrier_thread_count, ptx_arrive_barrier),
            *(ptx_arrive_barrier_expect_tx, ptx_wait_barrier, tvm_warp_shuffle, tvm_warp_shuffle_up),
            *(tvm_warp_shuffle_down, tvm_storage_sync),
        )
    },
}
"""What `call_intrin` makes of these names, from the type and the arguments that it is given."""
