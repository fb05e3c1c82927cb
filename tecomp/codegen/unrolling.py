"""Which loops the compiler behind a back end is asked to unroll."""

from __future__ import annotations

from ..ir import expr as E
from ..ir.stmt import Evaluate, For, LoopKind, Stmt, Store
from ..passes.unroll import MOST_STATEMENTS


def is_unrolled(loop: For) -> bool:
    """Return whether the compiler should write out `loop`: an UNROLLED one that is short.

    One that the unroll pass left alone for its length stays a loop here too: LLVM and NVRTC take minutes for some
    thousand copies.
    """
    return loop.kind is LoopKind.UNROLLED and _steps(loop) <= MOST_STATEMENTS


def _steps(stmt: Stmt) -> int:
    """Return how many stores and calls are in `stmt` once its UNROLLED loops are written out."""
    if isinstance(stmt, (Store, Evaluate)):
        return 1
    steps = sum(map(_steps, stmt.substatements()))
    if isinstance(stmt, For) and stmt.kind is LoopKind.UNROLLED and isinstance(stmt.extent, E.Const):
        return steps * int(stmt.extent.value)
    return steps
