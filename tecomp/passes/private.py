"""What each thread, or each block, holds for itself loses the dimensions that name it.

W_local[blockIdx_x, threadIdx_x, k]    ->    W_local[k]        f32[24, 96, 4] in local  ->  f32[4] in local
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..ir import expr as E
from ..ir.stmt import Alloc, Buffer, Stmt, Store
from ..ir.visit import rewrite, walk
from .accesses import Indices, accesses


def privatised(root: Stmt, threads: Mapping[str, E.Var]) -> Stmt:
    """Return `root`, what each of `threads` (by tag) runs, with its registers and memory of blocks in that form."""
    buffers = {node.buffer for node in walk(root) if isinstance(node, Alloc) and node.buffer.scope != "global"}
    found: dict[Buffer, list[Indices]] = {buffer: [] for buffer in buffers}
    for access in accesses(root):
        if access.buffer in found:
            found[access.buffer].append(access.indices)
    blocks = {var for tag, var in threads.items() if tag.startswith("blockIdx")}
    owners = {buffer: set(threads.values()) if buffer.scope == "local" else blocks for buffer in found}
    counts = {buffer: _named(places, owners[buffer]) for buffer, places in found.items()}
    smaller = {buffer: _without(buffer, count) for buffer, count in counts.items() if count}
    if not smaller:
        return root

    def load(node: E.Load) -> E.Load:
        new = smaller.get(node.buffer)
        return node if new is None else E.Load(new, node.indices[counts[node.buffer] :], node.mask)

    def store(node: Store) -> Stmt:
        new = smaller.get(node.buffer)
        return node if new is None else node.copy(buffer=new, indices=node.indices[counts[node.buffer] :])

    def alloc(node: Alloc) -> Stmt:
        new = smaller.get(node.buffer)
        return node if new is None else node.copy(buffer=new)

    return rewrite(root, {E.Load: load}, {Store: store, Alloc: alloc})


def _named(places: list[Indices], threads: Collection[E.Var]) -> int:
    """Return how many leading dimensions name the thread, the same in every access."""
    count = 0
    for column in zip(*places, strict=False):
        if column[0] not in threads or any(index is not column[0] for index in column):
            break
        count += 1
    return count


def _without(buffer: Buffer, count: int) -> Buffer:
    strides = None if buffer.strides is None else buffer.strides[count:]
    return Buffer(buffer.name, buffer.shape[count:], buffer.dtype, buffer.scope, strides, buffer.align, buffer.loc)
