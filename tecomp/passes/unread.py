"""Memory that nothing reads is not filled.

T = alloc(f32[8])
for i in range(8):        ->    (nothing)
    T[i] = A[i] + 1
"""

from __future__ import annotations

from ..ir.foreign import has_effect
from ..ir.stmt import Across, Alloc, Buffer, Evaluate, Seq, Stmt, Store
from ..ir.visit import rewrite, walk
from .accesses import accesses


def without_unread(root: Stmt) -> Stmt:
    """Return `root` without allocations that are never read, and without the stores to them."""
    held: set[Buffer] = set()
    needed: set[Buffer] = set()
    for node in walk(root):
        if isinstance(node, Alloc):
            held.add(node.buffer)
        elif isinstance(node, Across):
            needed.update(node.buffers)
    if not held - needed:
        return root
    needed.update(access.buffer for access in accesses(root) if not access.writes)
    unread = held - needed
    if not unread:
        return root

    def store(node: Store) -> Stmt:
        if node.buffer not in unread:
            return node
        return Evaluate(node.value, loc=node.loc) if has_effect(node.value) else Seq(())

    return rewrite(root, stmts={Store: store, Alloc: lambda node: node.body if node.buffer in unread else node})
