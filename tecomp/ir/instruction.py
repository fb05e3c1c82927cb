"""The calls that are instructions of a GPU: what each takes and gives, in one table that every part of the IR reads.

    barrier_warp(-1)
    cp_async(address(S[tx], 'w'), address(A[i], 'r'), 16)
    old = fetch_add(address(C[0], 'rwu'), x)

What they are in CUDA C++, and which GPUs have them, `tecomp.instructions` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ..dtype import INT32, DType
from .expr import Address, Call, Const, Load
from .node import Expr
from .stmt import Evaluate, Let, Stmt, Store
from .visit import walk

VALUE, BOOL, INTEGER, CONSTANT, ELEMENT, ADDRESS = "value", "bool", "integer", "constant", "element", "address"
SWIZZLES: Final = (0, 32, 64, 128)
RANKS: Final = (1, 2, 3)
"""Dimensions of a tensor that one instruction copies a box of."""


class Operand(NamedTuple):
    """What one operand must be."""

    name: str
    kind: str
    """A value, a bool, an integer, a constant, an element that is named and not read, an address."""
    legal: Sequence[int] = ()
    """What a constant may be, and an integer that is one; empty where it may be anything."""
    mode: str = ""
    """What is done at an address."""
    memory: str = ""
    """Where an address lies, shared or global; empty where either serves."""
    dtypes: tuple[str, ...] = ()
    """What a value, or what lies at an address, may be; empty where it may be anything."""

    def wrong(self, node: Expr) -> str | None:
        """Return why `node` is no such operand; None where it is one."""
        if self.kind == ADDRESS:
            return self._wrong_address(node)
        of = node.dtype
        fits = of.lanes == 1 and (of.is_integer or self.kind != INTEGER) and (of.is_bool or self.kind != BOOL)
        if not fits or (self.dtypes and of not in self.dtypes):
            return f"{self.name} is {of}, and must be {' or '.join(self.dtypes) or f'one {self.kind}'}"
        if self.kind == CONSTANT and not (isinstance(node, Const) and of.is_integer):
            return f"{self.name} is {node!r}, which is no constant integer"
        if self.kind == ELEMENT and not isinstance(node, Load):
            return f"{self.name} is {node!r}, which is no element of a buffer"
        if self.legal and isinstance(node, Const) and node.value not in self.legal:
            return f"{self.name} is {node.value}, and must be {spelled(self.legal)}"
        return None

    def _wrong_address(self, node: Expr) -> str | None:
        if not isinstance(node, Address):
            return f"{self.name} is {node!r}, which is no address"
        buffer = node.buffer
        if node.mode != self.mode:
            return f"{self.name} is an address for {node.mode!r}, and must be one for {self.mode!r}"
        if self.memory and self.memory != ("shared" if buffer.is_shared else buffer.scope):
            return f"{self.name} lies in {buffer.scope} memory, and must in {self.memory}"
        if self.dtypes and buffer.dtype not in self.dtypes:
            return f"{self.name} is the address of {buffer.dtype}, and must be of {' or '.join(self.dtypes)}"
        return None


def spelled(legal: Sequence[int]) -> str:
    """Return in words what a constant may be."""
    if not isinstance(legal, range):
        return " or ".join(map(str, legal))
    steps = f" in steps of {legal.step}" if legal.step > 1 else ""
    return f"{legal[0]} to {legal[-1]}{steps}"


class Signature(NamedTuple):
    """What a call of one name takes, gives and does."""

    operands: tuple[Operand, ...] = ()
    gives: str = ""
    """A type, `value` for that of the operand so called; empty where it gives nothing."""
    stays: bool = True
    """Whether it stays where it is and happens once: it may do anything. Those that do not, passes know by name."""
    alone: bool = False
    """Whether it must be the whole value of a Let, a Store or an Evaluate: what it finds in memory, it changes."""

    def result(self, args: Sequence[Expr]) -> DType:
        """Return the type of a call; int32 of one that gives nothing."""
        if self.gives != VALUE:
            return DType(self.gives) if self.gives else INT32
        at = next(at for at, operand in enumerate(self.operands) if operand.kind == VALUE)
        return args[at].dtype if at < len(args) else INT32


def _at(name: str, mode: str, memory: str = "shared", *dtypes: str) -> Operand:
    return Operand(name, ADDRESS, (), mode, memory, dtypes)


_ADDED: Final = ("int32", "uint32", "uint64", "float32")
_MASK: Final = Operand("mask", INTEGER)
_TRUTH: Final = Operand("p", BOOL)
_ANY: Final = Operand("value", VALUE)
_ID: Final = Operand("id", CONSTANT, range(1, 16))
_THREADS: Final = Operand("threads", INTEGER, range(32, 1025, 32))
_BARRIER: Final = _at("barrier", "rw", "shared", "uint64")
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
    "cp_async": Signature((_at("dst", "w"), _at("src", "r", "global"), _WORDS)),
    "cp_async_zfill": Signature(
        (_at("dst", "w"), _at("src", "r", "global"), _WORDS, Operand("src_bytes", INTEGER, range(17)))
    ),
    "cp_async_commit": _NONE,
    "cp_async_wait": Signature((_GROUPS,)),
    "cp_async_mbarrier_arrive": Signature((_BARRIER,)),
    "bulk_load": Signature((_at("dst", "w"), _at("src", "r", "global"), _RUN, _BARRIER)),
    "bulk_store": Signature((_at("dst", "w", "global"), _at("src", "r"), _RUN)),
    "bulk_commit": _NONE,
    "bulk_wait": Signature((_GROUPS,)),
    "bulk_wait_read": Signature((_GROUPS,)),
    **{
        f"tensor_load_{rank}d": _tensor(rank, _at("dst", "w"), _at("tensor", "r", "global"), _BARRIER) for rank in RANKS
    },
    **{f"tensor_store_{rank}d": _tensor(rank, _at("tensor", "w", "global"), _at("src", "r")) for rank in RANKS},
    "wgmma_fence": _NONE,
    "wgmma_commit": _NONE,
    "wgmma_wait": Signature((_GROUPS,)),
    "registers_increase": Signature((_REGISTERS,)),
    "registers_decrease": Signature((_REGISTERS,)),
    "fetch_add": Signature((_at("at", "rwu", "", *_ADDED), _ANY._replace(dtypes=_ADDED)), VALUE, alone=True),
}
"""Every instruction by the name of its call. The matrix instructions of a warp are in `matrix`."""

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
