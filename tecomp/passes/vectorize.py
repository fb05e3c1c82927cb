"""Vectorize: loops of kind VECTORIZED become vector code.

    for i in vectorized(8):                     with lanes ramp(0, 1, 8)
        if io*8 + i < n:                 ->     B[ramp(io*8, 1, 8)] = A[ramp(io*8, 1, 8)] + broadcast(1, 8)
            B[io*8 + i] = A[io*8 + i] + 1         in the lanes where ramp(io*8, 1, 8) < broadcast(n, 8)

Lanes where a guard is false are neither read nor written. A thread of a kernel asks once whether its guard holds in all
lanes, and then needs no masks; nearly all threads take that way. A loop stays serial where its lanes could meet in one
element, where a vectorized or thread loop lies inside it, and (that statement only) where control differs from lane
to lane.
"""

from __future__ import annotations

from typing import Final

from ..arith.overlap import Overlap, Place
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import is_opaque
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import For, LoopKind, Seq, Stmt
from ..ir.subst import fresh_loops, substitute_stmt
from ..ir.visit import walk
from ..target import Target
from .accesses import accesses, allocated, bound_vars, stored
from .lane_code import LaneCode
from .trips import trip_count

MOST_LANES: Final = 64
"""A longer loop runs in steps of a natural vector."""
VECTOR_BYTES: Final = {"llvm": 64, "cuda": 16}
"""The natural vector: an AVX-512 register, the widest load of a GPU thread."""


def run(func: Func, target: Target) -> Func:
    """Return `func` without VECTORIZED loops."""
    return func.with_body(_Vectorize(VECTOR_BYTES[target.kind], frozenset()).stmt(func.body))


class _Vectorize:
    """Vectorizes inside the loops over `threads`."""

    def __init__(self, vector_bytes: int, threads: frozenset[E.Var]) -> None:
        self.vector_bytes, self.threads = vector_bytes, threads

    def stmt(self, node: Stmt) -> Stmt:
        if isinstance(node, For) and node.kind is LoopKind.THREAD:
            inner = _Vectorize(self.vector_bytes, self.threads | {node.var})
            return node.map(inner.stmt, lambda expr: expr)
        if not (isinstance(node, For) and node.kind is LoopKind.VECTORIZED):
            return node.map(self.stmt, lambda expr: expr)
        if any(isinstance(below, For) and below.kind in _OWN_LANES for below in walk(node.body)):
            return _serial(node.copy(body=self.stmt(node.body)))
        if not lanes_apart(node) or any(map(_whole, walk(node.body))):
            return _serial(node)
        return self.loop(node)

    def loop(self, node: For) -> Stmt:
        extent = node.extent.value if isinstance(node.extent, E.Const) else None
        if extent == 0:
            return Seq((), loc=node.loc)
        if extent == 1:
            return substitute_stmt(node.body, {node.var: node.min})
        if extent is not None and extent <= MOST_LANES:
            return LaneCode(node.var, node.min, int(extent), self.threads).stmt(node.body)
        return self.steps(node)

    def steps(self, node: For) -> Stmt:
        """Return a serial loop over whole vectors, then what is left, lane by masked lane where its size is unknown."""
        lanes = max(2, self.vector_bytes // _widest(node.body))
        count = trip_count(node)
        whole = make.floordiv(count, lanes)
        step = E.Var(node.var.name + "_v", INDEX, make.const(0, INDEX), whole)
        first = make.add(node.min, make.mul(step, lanes))
        main = For(step, LoopKind.SERIAL, LaneCode(node.var, first, lanes, self.threads).stmt(node.body), loc=node.loc)
        left = make.floormod(count, lanes)
        if isinstance(left, E.Const) and left.value == 0:
            return main
        low = make.add(node.min, make.mul(whole, lanes))
        return Seq((main, self.tail(node, low, left, lanes)), loc=node.loc)

    def tail(self, node: For, low: Expr, left: Expr, lanes: int) -> Stmt:
        if isinstance(left, E.Const):
            rest = E.Var(node.var.name, INDEX, low, left)
            return self.loop(node.copy(var=rest, body=_again(node, rest)))
        rest = E.Var(node.var.name, INDEX, low, make.const(lanes, INDEX))
        end = make.add(node.min, node.extent)
        return LaneCode(rest, low, lanes).guarded(make.lt(rest, end), _again(node, rest))


_OWN_LANES: Final = (LoopKind.VECTORIZED, LoopKind.THREAD)


def _again(node: For, var: E.Var) -> Stmt:
    """Return a second copy of the loop's body, for another variable."""
    return fresh_loops(substitute_stmt(node.body, {node.var: var}))


def _whole(node: Expr | Stmt) -> bool:
    """Return whether a node is no element's own: a vector already, or what is done to memory out of sight."""
    return isinstance(node, Expr) and (node.dtype.lanes > 1 or isinstance(node, E.Address) or is_opaque(node))


def _serial(node: For) -> For:
    return node.copy(kind=LoopKind.SERIAL)


def _widest(body: Stmt) -> int:
    """Return the bytes of the widest element the body touches."""
    return max((access.buffer.dtype.bytes for access in accesses(body)), default=4)


def lanes_apart(loop: For) -> bool:
    """Return whether no element that one iteration writes is touched by another."""
    overlap = Overlap([loop.var], bound_vars(loop.body).__contains__)
    written = stored(loop.body) - allocated(loop.body)
    touches = [access for access in accesses(loop.body) if access.buffer in written]
    return all(
        overlap.all_apart(
            [Place(access.indices) for access in touches if access.buffer is buffer and access.writes],
            [Place(access.indices) for access in touches if access.buffer is buffer and not access.writes],
        )
        for buffer in written
    )
