"""The instructions of GPUs, as functions of their operands: statements and values of opaque bodies.

    S = ib.allocate("float32", (128,), name="S", scope="shared")
    ib.emit(tir.cp_async(S[tx * 4], A[i], 16))
    ib.emit(tir.cp_async_commit())

Where an address is wanted, `S[i]` names the element that lies there; `buffer.access_ptr(mode)` and a whole buffer
serve too. A `mask` has a bit for each lane of the warp that comes there, and -1 all of them; a barrier in memory is an
element of a shared buffer of uint64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dtype import INT32
from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.instruction import INSTRUCTIONS
from ..ir.node import Expr
from ..ir.signature import ADDRESS, CONSTANT, ELEMENT, VALUE, Operand, spelled
from ..ir.stmt import Buffer

Function = Callable[..., Expr]
INSTRUCTION_FUNCTIONS: Final[dict[str, Function]] = {}
"""The functions of this file and of `matrix_instructions`, by name."""


def instruction(name: str, *given: Any, **named: Any) -> Expr:
    """Return the call of an instruction; UserError for operands that it does not take."""
    operands = INSTRUCTIONS[name].operands
    wanted = [operand.name for operand in operands]
    rest = wanted[len(given) :]
    if len(given) > len(wanted) or {*rest} != {*named}:
        takes = ", ".join(wanted) or "nothing"
        count = len(given) + len(named)
        raise UserTypeError(f"tir.{name} of {count} operands", f"it takes {takes}", f"tir.{name}({', '.join(wanted)})")
    values = (*given, *(named[key] for key in rest))
    args: list[Expr] = []
    for operand, value in zip(operands, values, strict=True):
        args.append(_operand(name, operand, value, args))
    return E.Call(INSTRUCTIONS[name].result(args), name, tuple(args))


def _operand(name: str, operand: Operand, value: Any, before: list[Expr]) -> Expr:
    """Return one operand as an expression; UserError where it is none."""
    found = _READ.get(operand.kind, _plain)(operand, value, before)
    wrong = operand.wrong(found) if isinstance(found, Expr) else f"{operand.name} is no expression"
    if wrong is None and operand.kind == VALUE and before and isinstance(before[0], E.Address):
        held = before[0].buffer
        wrong = None if held.dtype is found.dtype else f"'{held.name}' holds {held.dtype}, the value is {found.dtype}"
    if wrong is not None:
        raise UserError(f"tir.{name}: {operand.name} {value!r}", because=wrong, legal=_legal(operand))
    return found


def _plain(operand: Operand, value: Any, before: list[Expr]) -> Any:
    if operand.name == "mask" and isinstance(value, int):
        return make.const(value - (1 << 32) if value >= 1 << 31 else value, INT32)
    added = isinstance(value, (int, float)) and operand.kind == VALUE and before
    return make.convert(value, before[0].buffer.dtype) if added and isinstance(before[0], E.Address) else _expr(value)


def _expr(value: Any) -> Any:
    return value.as_expr() if hasattr(value, "as_expr") else make.convert(value)


def _address(operand: Operand, value: Any, before: list[Expr]) -> Any:
    found = value.as_expr() if hasattr(value, "as_expr") else value
    if isinstance(found, Buffer):
        found = E.Address(found, (), make.const(0, INT32), operand.mode)
    if isinstance(found, E.Load) and found.mask is make.TRUE and found.dtype.lanes == 1:
        found = E.Address(found.buffer, found.indices, make.const(0, INT32), operand.mode)
    if isinstance(found, E.Address):
        found = E.Address(found.buffer, found.indices, found.offset, operand.mode)
    return found


_READ: Final[dict[str, Callable[[Operand, Any, list[Expr]], Any]]] = {ADDRESS: _address}


def _legal(operand: Operand) -> str:
    if operand.kind == ADDRESS:
        kinds = f" of {' or '.join(operand.dtypes)}" if operand.dtypes else ""
        where = f" in {operand.memory} memory" if operand.memory else ""
        return f"S[i], or S.access_ptr({operand.mode.rstrip('u')!r}), of a buffer{kinds}{where}"
    if operand.legal:
        return f"{spelled(operand.legal)}" + (", a constant" if operand.kind == CONSTANT else "")
    if operand.kind == ELEMENT:
        return "B[i]"
    return f"a scalar of {' or '.join(operand.dtypes)}" if operand.dtypes else f"a scalar {operand.kind}"


def function(name: str, does: str) -> Function:
    """Return the function that makes the call of an instruction."""

    def call(*given: Any, **named: Any) -> Expr:
        return instruction(name, *given, **named)

    operands = ", ".join(operand.name for operand in INSTRUCTIONS[name].operands)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name}({operands})\n\n{does}"
    INSTRUCTION_FUNCTIONS[name] = call
    return call


barrier_block = function("barrier_block", "All threads of a block wait for each other.")
barrier_grid = function("barrier_grid", "All threads of a kernel wait for each other.")
barrier_warp = function("barrier_warp", "Lanes of a warp wait for each other.")
barrier_named = function(
    "barrier_named", "So many threads of a block wait for each other at the barrier of that number."
)
barrier_named_arrive = function("barrier_named_arrive", "Come to a numbered barrier, and do not wait there.")
barrier_cluster = function("barrier_cluster", "All threads of a cluster of blocks wait for each other.")

fence_block = function("fence_block", "What this thread did to memory before, its block sees before what comes after.")
fence_device = function("fence_device", "What this thread did to memory before, the GPU sees before what comes after.")
fence_system = function("fence_system", "What this thread did to memory before, all see before what comes after.")
fence_proxy_async = function("fence_proxy_async", "Copies that begin after see what was stored to shared memory.")
fence_mbarrier_init = function("fence_mbarrier_init", "Barriers made in memory are seen by the cluster and by copies.")

vote_all = function("vote_all", "Whether p holds in all lanes.")
vote_any = function("vote_any", "Whether p holds in one lane at least.")
vote_ballot = function("vote_ballot", "A bit for each lane: whether p holds there.")
elect_one = function("elect_one", "True in one of the lanes.")
shuffle = function("shuffle", "The value of the lane of that number.")
shuffle_xor = function("shuffle_xor", "The value of the lane whose number differs in those bits.")
shuffle_up = function("shuffle_up", "The value of the lane `delta` below; its own where there is none.")
shuffle_down = function("shuffle_down", "The value of the lane `delta` above; its own where there is none.")

mbarrier_init = function("mbarrier_init", "Make a barrier in memory, a phase of which is over when `count` have come.")
mbarrier_arrive = function("mbarrier_arrive", "Come to a barrier in memory.")
mbarrier_arrive_expect_tx = function("mbarrier_arrive_expect_tx", "Come to a barrier that so many bytes come to too.")
mbarrier_wait = function("mbarrier_wait", "Wait until the phase of that parity is over; the first one's is 0.")

prefetch = function("prefetch", "Load what is around an element into the cache.")
cp_async = function("cp_async", "Begin to copy 4, 8 or 16 bytes from global to shared memory.")
cp_async_zfill = function("cp_async_zfill", "As cp_async, of the first `src_bytes` only; the others become zero.")
cp_async_commit = function("cp_async_commit", "Let the copies begun since the last commit be a group.")
cp_async_wait = function("cp_async_wait", "Wait until only the last `n` groups are under way.")
cp_async_mbarrier_arrive = function("cp_async_mbarrier_arrive", "Come to a barrier when the copies begun are done.")
bulk_load = function("bulk_load", "Begin to copy a run of bytes to shared memory; they come to the barrier.")
bulk_store = function("bulk_store", "Begin to copy a run of bytes to global memory.")
bulk_commit = function("bulk_commit", "Let the bulk stores begun since the last commit be a group.")
bulk_wait = function("bulk_wait", "Wait until only the last `n` groups of bulk stores are under way.")
bulk_wait_read = function("bulk_wait_read", "As bulk_wait, until what they copy has been read.")
_BOX = "A box of a tensor, extents and coordinates innermost first; what lies outside is read as zero, not written."
tensor_load_1d = function("tensor_load_1d", f"Begin to copy to shared memory; its bytes come to the barrier. {_BOX}")
tensor_load_2d = function("tensor_load_2d", f"Begin to copy to shared memory; its bytes come to the barrier. {_BOX}")
tensor_load_3d = function("tensor_load_3d", f"Begin to copy to shared memory; its bytes come to the barrier. {_BOX}")
tensor_store_1d = function("tensor_store_1d", f"Begin to copy from shared memory. {_BOX}")
tensor_store_2d = function("tensor_store_2d", f"Begin to copy from shared memory. {_BOX}")
tensor_store_3d = function("tensor_store_3d", f"Begin to copy from shared memory. {_BOX}")

wgmma_fence = function("wgmma_fence", "Registers and shared memory are in order for the matrix instructions after.")
wgmma_commit = function("wgmma_commit", "Let the matrix instructions begun since the last commit be a group.")
wgmma_wait = function("wgmma_wait", "Wait until only the last `n` groups are under way.")
registers_increase = function("registers_increase", "Take registers, until each thread of the warpgroup has `n`.")
registers_decrease = function("registers_decrease", "Give registers away, but for `n` of each thread of the warpgroup.")
fetch_add = function(
    "fetch_add", "Add to an element, indivisibly; gives what it held. The whole value of a let or store."
)

__all__ = [
    "barrier_block", "barrier_cluster", "barrier_grid", "barrier_named", "barrier_named_arrive", "barrier_warp",
    "bulk_commit", "bulk_load", "bulk_store", "bulk_wait", "bulk_wait_read", "cp_async", "cp_async_commit",
    "cp_async_mbarrier_arrive", "cp_async_wait", "cp_async_zfill", "elect_one", "fence_block", "fence_device",
    "fence_mbarrier_init", "fence_proxy_async", "fence_system", "fetch_add", "mbarrier_arrive",
    "mbarrier_arrive_expect_tx", "mbarrier_init", "mbarrier_wait", "prefetch", "registers_decrease",
    "registers_increase", "shuffle", "shuffle_down", "shuffle_up", "shuffle_xor", "tensor_load_1d", "tensor_load_2d",
    "tensor_load_3d", "tensor_store_1d", "tensor_store_2d", "tensor_store_3d", "vote_all", "vote_any", "vote_ballot",
    "wgmma_commit", "wgmma_fence", "wgmma_wait",
]  # fmt: skip
