"""The nest of a reduction whose iterations run at once and update their elements atomically.

C(i) = sum over k of A[i, k], k bound to blockIdx.x

    for i in range(n):
        C[i] = 0.0
    for i in range(n):
        for k in thread('blockIdx.x', m):
            atomic_add(address(C[i], 'rwu'), A[i, k])

The start is a nest of its own: all of it is done before the first update. Where threads share out what one of these
iterations folds, they join it first, and it is one update.
"""

from __future__ import annotations

from typing import Final

from ..bounds.run_over import StageBounds
from ..bounds.shared_out import shared_out
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import For, If, LoopKind, Seq, Stmt
from ..ir.subst import substitute_stmt
from ..ir.visit import walk
from .body import Body
from .nest import Nest, alone
from .shared_nest import SharedNest

THREADS: Final = 256
"""Threads in a block that starts elements."""


class AtomicNest(Nest):
    """Builds the nest of a stage one of whose loops updates atomically."""

    def reduce(self, body: Body, start: StageBounds, start_body: Body) -> Stmt:
        """Return the start, and then the updates."""
        first = Nest(start, alone, self.storage).inside(self, 0, start_body)
        updates = self._updates(body)
        if _has_threads(updates) and not _has_threads(first):
            first = _in_threads(first)
        return self._guarded(Seq((first, updates)), self.guards.get(None, ()))

    def _updates(self, body: Body) -> Stmt:
        """Return the updates: one for each value, or one for the join of what threads share out."""
        if not shared_out(self.stage.state):
            return self.around(self._stored(body.update()))
        return SharedNest(self.stage, self.producers, self.storage).join(body, lambda parts: body.update(parts[0]))


def _in_threads(start: Stmt) -> Stmt:
    """Return a start that binds no loop on threads of its own: its outermost loop is divided among them.

    for i in range(n):            for b in thread('blockIdx.x', (n + 255) // 256):
        C[i] = 0          ->          for t in thread('threadIdx.x', 256): ...
    """
    if not isinstance(start, For) or start.kind is not LoopKind.SERIAL:
        return For(_counter("one", make.index(1)), LoopKind.THREAD, start, "blockIdx.x", loc=start.loc)
    block = _counter(f"{start.var.name}_outer", make.ceildiv(start.extent, make.index(THREADS)))
    thread = _counter(f"{start.var.name}_inner", make.index(THREADS))
    number = make.add(make.mul(block, make.index(THREADS)), thread)
    body = substitute_stmt(start.body, {start.var: make.add(start.min, number)})
    inner = For(thread, LoopKind.THREAD, If(make.lt(number, start.extent), body), "threadIdx.x", loc=start.loc)
    return For(block, LoopKind.THREAD, inner, "blockIdx.x", loc=start.loc)


def _counter(name: str, extent: Expr) -> E.Var:
    return E.Var(name, INDEX, make.const(0, INDEX), extent)


def _has_threads(stmt: Stmt) -> bool:
    return any(isinstance(node, For) and node.kind is LoopKind.THREAD for node in walk(stmt))
