"""Which loops the compiler behind a back end is asked to unroll."""

from __future__ import annotations

from ..ir import expr as E
from ..ir.node import Expr
from ..ir.stmt import Evaluate, For, LoopKind, Stmt, Store
from ..ir.visit import walk
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


LINE_BYTES = 64
"""What a processor fetches at once: a load that moves on by more touches another line in every iteration."""


def walks_columns(loop: For) -> bool:
    """Return whether a load in `loop` steps over whole cache lines, as along a column of a row-major matrix.

    Such a loop is bound by how soon its lines come. A processor sees the stride of one load instruction and fetches
    ahead; of sixteen copies of the load each has sixteen times the stride, over pages, which it does not follow.
    A plain product of 512 x 512 matrices takes 16 % longer unrolled (AMD Zen 4).
    """
    loads = (node for node in walk(loop.body) if isinstance(node, E.Load))
    strides = (load.buffer.dtype.bytes * _step(index, loop.var) for load in loads for index in load.indices)
    return any(abs(stride) > LINE_BYTES for stride in strides)


def _step(node: Expr, var: E.Var) -> int:
    """Return how far an offset moves when `var` grows by one; more than a line where that is no known number."""
    if node is var:
        return 1
    if isinstance(node, (E.Add, E.Sub)):
        other = _step(node.b, var)
        return _step(node.a, var) + (other if isinstance(node, E.Add) else -other)
    if isinstance(node, E.Mul) and isinstance(node.b, E.Const):
        return _step(node.a, var) * int(node.b.value)
    if isinstance(node, E.Cast):
        return _step(node.value, var)
    if isinstance(node, E.Ramp):
        return _step(node.base, var)
    return LINE_BYTES + 1 if any(part is var for part in walk(node)) else 0
