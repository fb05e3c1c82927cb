"""Across: how the threads of a block join the parts of a reduction that they folded apart.

    with launch(blockIdx_x=n, threadIdx_x=16):              with launch(blockIdx_x=n, threadIdx_x=16):
        B_part: f32                                             B_part: f32
        with across(['threadIdx.x'], [B_part],                  B_part = 0.0
                    [0.0], lambda x, y: x + y):        ->       for k in range(m):
            for k in range(m):                                      B_part = B_part + A[blockIdx_x, k, threadIdx_x]
                B_part = B_part + A[...]                        B_part = B_part + shuffle_xor(B_part, 8, 65535)
        ...                                                     B_part = B_part + shuffle_xor(B_part, 4, 65535)
                                                                ...

All threads of a block come to a join, those too that a guard keeps from the work: the guard stands around what they
fold, and around what is done with the result.

    if i < n:                                               with across(...):
        with across(...):                                       if i < n:
            B_part = ...                               ->           B_part = ...
        B[i] = B_part                                       if i < n:
                                                                B[i] = B_part
"""

from __future__ import annotations

from typing import Final

from ..ir.func import Func
from ..ir.join import stores
from ..ir.stmt import Across, For, If, Launch, Let, Seq, Stmt
from ..target import Target
from .accesses import has
from .events import Scope
from .simplify import simplified
from .thread_groups import groups_of
from .thread_join import ThreadJoin
from .together import apart, below

WHAT: Final = "threads share out the reduction"


def run(func: Func, target: Target) -> Func:
    """Return `func` with the joins of its kernels as exchanges between lanes and through shared memory."""

    def host(node: Stmt) -> Stmt:
        if not isinstance(node, Launch):
            return node.map(host, lambda expr: expr)
        if not has(node, Across):
            return node
        return node.copy(body=_Kernel(node, target.limits.threads_per_block).body())

    return func.with_body(host(func.body))


class _Kernel:
    """One kernel: brings all threads to each join, and writes it out."""

    def __init__(self, launch: Launch, most: int) -> None:
        self.launch, self.most = launch, most
        self.axes = {tag: var for tag, var in sorted(launch.threads) if tag.startswith("threadIdx")}

    def body(self) -> Stmt:
        """Return the kernel's body."""
        return self.stmt(self.launch.body, Scope(varying=frozenset(self.axes.values())))

    def stmt(self, node: Stmt, scope: Scope) -> Stmt:
        """Return a statement that all threads come to."""
        if not _joins(node):
            return node
        match node:
            case Across():
                return self.join(node, scope)
            case If() if scope.varies(node.condition):
                return self.stmt(below(node, _joins, WHAT), scope)
            case For() if scope.varies(node.min, node.extent):
                raise apart(node, f"how often the loop '{node.var.name}' runs", WHAT)
            case For():
                inner = scope.inside(node.var, varies=False)
            case Let():
                inner = scope.inside(node.var, scope.varies(node.value))
            case _:
                inner = scope
        return node.map(lambda part: self.stmt(part, inner), lambda expr: expr)

    def join(self, node: Across, scope: Scope) -> Stmt:
        fold = self.stmt(node.body, scope)
        start = stores([(buffer, ()) for buffer in node.buffers], list(node.combiner.identity), node.loc)
        joined = ThreadJoin(node, groups_of(self.axes, node.threads), self.most).statement()
        return Seq((start, fold, simplified(joined)))


def _joins(node: Stmt) -> bool:
    return has(node, Across)
