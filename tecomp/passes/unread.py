"""Memory that nothing reads is not filled.

T = alloc(f32[8])
for i in range(8):        ->    (nothing)
    T[i] = A[i] + 1
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.atomic import is_atomic
from ..ir.expr import Address, Call
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
    needed.update(_given_away(root))
    unread = held - needed
    if not unread:
        return root

    def store(node: Store) -> Stmt:
        if node.buffer not in unread:
            return node
        return Evaluate(node.value, loc=node.loc) if has_effect(node.value) else Seq(())

    def update(node: Evaluate) -> Stmt:
        gone = isinstance(node.value, Call) and is_atomic(node.value) and _updated(node.value) in unread
        return Seq(()) if gone else node

    def alloc(node: Alloc) -> Stmt:
        return node.body if node.buffer in unread else node

    return rewrite(root, stmts={Store: store, Evaluate: update, Alloc: alloc})


def _given_away(root: Stmt) -> Iterator[Buffer]:
    """Yield the buffers whose addresses functions get, other than to update an element atomically."""
    nodes = list(walk(root))
    updates = {node.args[0] for node in nodes if isinstance(node, Call) and is_atomic(node)}
    yield from (node.buffer for node in nodes if isinstance(node, Address) and node not in updates)


def _updated(update: Call) -> Buffer:
    """Return the buffer an element of which is updated atomically."""
    address = update.args[0]
    assert isinstance(address, Address)
    return address.buffer
