"""The calls that are instructions of a GPU: what each takes and gives, in one table that every part of the IR reads.

    barrier_warp(-1)
    cp_async(address(S[tx], 'w'), address(A[i], 'r'), 16)
    old = fetch_add(address(C[0], 'rwu'), x)

What they are in CUDA C++, and which GPUs have them, `tecomp.instructions` says.
"""

from __future__ import annotations

from typing import Any, Final

from .expr import Address, Call
from .matrix_instruction import MATRIX_INSTRUCTIONS
from .signature import BOOL, CONSTANT, ELEMENT, INTEGER, SWIZZLES, VALUE, Operand, Signature, at
from .stmt import Evaluate, Let, Stmt, Store
from .visit import walk

RANKS: Final = (1, 2, 3)
"""Dimensions of a tensor that one instruction copies a box of."""
_ADDED: Final = ("int32", "uint32", "uint64", "float32")
_MASK: Final = Operand("mask", INTEGER)
_TRUTH: Final = Operand("p", BOOL)
_ANY: Final = Operand("value", VALUE)
_ID: Final = Operand("id", CONSTANT, range(1, 16))
_THREADS: Final = Operand("threads", INTEGER, range(32, 1025, 32))
_BARRIER: Final = at("barrier", "rw", "shared", "uint64")
_BYTES: Final = Operand("bytes", INTEGER, range(1 << 20))
_RUN: Final = Operand("bytes", INTEGER, range(16, 1 << 20, 16))
_WORDS: Final = Operand("bytes", CONSTANT, (4, 8, 16))
_GROUPS: Final = Operand("n", CONSTANT, range(8))
_REGISTERS: Final = Operand("n", CONSTANT, range(24, 257, 8))
_SWIZZLE: Final = Operand("swizzle", CONSTANT, SWIZZLES)
_NONE: Final = Signature()


def _exchange(lane: str, stays: bool = True) -> Signature:
    return Signature((_ANY, Operand(lane, INTEGER), _MASK), VALUE, stays)


def _tensor(rank: int, *addresses: Operand) -> Signature:
    boxes = [Operand(f"box_{axis}", CONSTANT, range(1, 257)) for axis in range(rank)]
    places = [Operand(f"coord_{axis}", INTEGER) for axis in range(rank)]
    return Signature((*addresses, _SWIZZLE, *boxes, *places))


INSTRUCTIONS: Final[dict[str, Signature]] = {
    "barrier_block": Signature(stays=False),
    "barrier_grid": Signature(stays=False),
    "barrier_warp": Signature((_MASK,)),
    "barrier_named": Signature((_ID, _THREADS)),
    "barrier_named_arrive": Signature((_ID, _THREADS)),
    "barrier_cluster": _NONE,
    "fence_block": _NONE,
    "fence_device": _NONE,
    "fence_system": _NONE,
    "fence_proxy_async": _NONE,
    "fence_mbarrier_init": _NONE,
    "vote_all": Signature((_TRUTH, _MASK), "bool"),
    "vote_any": Signature((_TRUTH, _MASK), "bool"),
    "vote_ballot": Signature((_TRUTH, _MASK), "uint32"),
    "elect_one": Signature((_MASK,), "bool"),
    "shuffle": _exchange("lane", stays=False),
    "shuffle_xor": _exchange("bits", stays=False),
    "shuffle_up": _exchange("delta"),
    "shuffle_down": _exchange("delta"),
    "mbarrier_init": Signature((_BARRIER._replace(mode="w"), Operand("count", INTEGER, range(1, 1 << 20)))),
    "mbarrier_arrive": Signature((_BARRIER,)),
    "mbarrier_arrive_expect_tx": Signature((_BARRIER, _BYTES)),
    "mbarrier_wait": Signature((_BARRIER, Operand("parity", INTEGER, (0, 1)))),
    "prefetch": Signature((Operand("element", ELEMENT),), stays=False),
    "cp_async": Signature((at("dst", "w"), at("src", "r", "global"), _WORDS)),
    "cp_async_zfill": Signature(
        (at("dst", "w"), at("src", "r", "global"), _WORDS, Operand("src_bytes", INTEGER, range(17)))
    ),
    "cp_async_commit": _NONE,
    "cp_async_wait": Signature((_GROUPS,)),
    "cp_async_mbarrier_arrive": Signature((_BARRIER,)),
    "bulk_load": Signature((at("dst", "w"), at("src", "r", "global"), _RUN, _BARRIER)),
    "bulk_store": Signature((at("dst", "w", "global"), at("src", "r"), _RUN)),
    "bulk_commit": _NONE,
    "bulk_wait": Signature((_GROUPS,)),
    "bulk_wait_read": Signature((_GROUPS,)),
    **{f"tensor_load_{rank}d": _tensor(rank, at("dst", "w"), at("tensor", "r", "global"), _BARRIER) for rank in RANKS},
    **{f"tensor_store_{rank}d": _tensor(rank, at("tensor", "w", "global"), at("src", "r")) for rank in RANKS},
    "wgmma_fence": _NONE,
    "wgmma_commit": _NONE,
    "wgmma_wait": Signature((_GROUPS,)),
    "registers_increase": Signature((_REGISTERS,)),
    "registers_decrease": Signature((_REGISTERS,)),
    "fetch_add": Signature((at("at", "rwu", "", *_ADDED), _ANY._replace(dtypes=_ADDED)), VALUE, alone=True),
    **MATRIX_INSTRUCTIONS,
}
"""Every instruction by the name of its call. Those on fragments of a warp are in `matrix`."""

EXCHANGES: Final = frozenset(name for name, one in INSTRUCTIONS.items() if one.operands[:1] == (_ANY,))
"""Calls (value, lane, mask): the value that another lane of the warp has, named by number, by the bits in which it
differs, or by its distance; a lane that there is none for keeps its own.

All lanes of a warp that the bits of `mask` name come there together; -1 is all 32. A lane reads only one of these.
"""


def signature_of(node: Any) -> Signature | None:
    """Return what is known of an expression that is an instruction; None of anything else."""
    return INSTRUCTIONS.get(node.name) if isinstance(node, Call) else None


def is_of_thread(node: Any) -> bool:
    """Return whether `node` is an instruction that may give each thread another value, whatever its operands are."""
    known = signature_of(node)
    return known is not None and known.stays and known.gives != ""


def stray(stmt: Stmt) -> Call | None:
    """Return an instruction that must stand alone, and is only part of a value of a statement; None where none is."""
    whole = stmt.value if isinstance(stmt, (Let, Store, Evaluate)) else None
    for part in (below for root in stmt.expressions() for below in walk(root)):
        known = signature_of(part)
        if known is not None and known.alone and part is not whole:
            return part
    return None


def wrong(call: Call) -> str | None:
    """Return why a call is no instruction as the table has it; None where it is, or is none of the table's."""
    known = INSTRUCTIONS.get(call.name)
    if known is None:
        return None
    if len(call.args) != len(known.operands):
        return f"{call.name} takes {', '.join(operand.name for operand in known.operands) or 'nothing'}"
    found = next(filter(None, map(Operand.wrong, known.operands, call.args)), None)
    if found is not None:
        return f"{call.name}: {found}"
    if known.alone and isinstance(at := call.args[0], Address) and at.buffer.dtype is not call.args[-1].dtype:
        return f"{call.name}: {call.args[-1].dtype} to '{at.buffer.name}', which holds {at.buffer.dtype}"
    result = known.result(call.args)
    return None if call.dtype is result else f"{call.name} of type {call.dtype}, and it gives {result}"
