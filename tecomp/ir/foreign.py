"""Calls that leave the program: C functions, Python functions, instructions of LLVM.

Each is a Call whose name says how, a colon, and whom:

    call_extern:qsort               a C function of that symbol, which may do anything
    call_pure_extern:sinf           a C function that only computes its result
    call_packed:my.sort             a Python function, which gets arrays and numbers
    call_llvm_intrin:llvm.…         an intrinsic of LLVM, which may do anything
    call_llvm_pure_intrin:llvm.…    one that only computes its result
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from .atomic import is_atomic
from .expr import Address, Call, Var
from .instruction import signature_of
from .matrix import is_matrix_call
from .node import Expr
from .stmt import Buffer, Stmt
from .visit import walk

KINDS: Final = ("call_extern", "call_pure_extern", "call_packed", "call_llvm_intrin", "call_llvm_pure_intrin")
PURE: Final = ("call_pure_extern", "call_llvm_pure_intrin")

MODES: Final = ("r", "w", "rw", "rwu")
"""What may be done at an address; of rwu the u says: by an indivisible update of that element only."""

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
"""The Python functions that programs call, by name."""
UNNAMED: Final = "<"
"""How the name of a function begins that was passed itself: it is known to this process only."""


class Foreign(NamedTuple):
    """Who is called, and how."""

    kind: str
    symbol: str


def foreign(name: str) -> Foreign | None:
    """Return what the name of a Call says about a foreign function; None of an operation of the target's table."""
    kind, colon, symbol = name.partition(":")
    return Foreign(kind, symbol) if colon and kind in KINDS else None


def is_opaque(node: Any) -> bool:
    """Return whether `node` is a call that may do anything, and so stays where it is and happens once."""
    known, found = signature_of(node), foreign(node.name) if isinstance(node, Call) else None
    if known is not None:
        return known.stays
    return is_matrix_call(node) or is_atomic(node) or (found is not None and found.kind not in PURE)


def gives_nothing(node: Any) -> bool:
    """Return whether `node` is a call that is made for what it does, and has no value."""
    known, found = signature_of(node), foreign(node.name) if isinstance(node, Call) else None
    if known is not None:
        return known.stays and not known.gives
    return is_matrix_call(node) or is_atomic(node) or (found is not None and found.kind == "call_packed")


def has_effect(root: Expr) -> bool:
    """Return whether evaluating `root` may do more than give a value."""
    return any(is_opaque(node) for node in walk(root))


def layout_vars(node: Address) -> Iterator[Var]:
    """Yield the variables of a buffer's extents and strides: a Python function is told what they are."""
    for part in (*node.buffer.shape, *(node.buffer.strides or ())):
        yield from (below for below in walk(part) if isinstance(below, Var))


def addressed(root: Expr | Stmt, mode: str) -> set[Buffer]:
    """Return the buffers whose address is given away below `root` to read (mode r) or to write them (mode w)."""
    return {node.buffer for node in walk(root) if isinstance(node, Address) and mode in node.mode}
