"""What a statement reads and writes, with the loops and conditions between it and each access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..ir import expr as E
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, Launch, Let, Stmt, Store
from ..ir.visit import walk

Indices = tuple[Expr, ...]


class Access(NamedTuple):
    """One Load or Store of a buffer."""

    buffer: Buffer
    indices: Indices
    writes: bool


def accesses(root: Stmt | Expr) -> Iterator[Access]:
    """Yield every access at and below `root`, those of one statement once each."""
    for node in walk(root):
        if isinstance(node, E.Load):
            yield Access(node.buffer, node.indices, False)
        elif isinstance(node, Store):
            yield Access(node.buffer, node.indices, True)


def stored(root: Stmt) -> set[Buffer]:
    """Return the buffers that `root` stores to."""
    return {node.buffer for node in walk(root) if isinstance(node, Store)}


def loaded(root: Stmt | Expr) -> set[Buffer]:
    """Return the buffers that `root` reads."""
    return {node.buffer for node in walk(root) if isinstance(node, E.Load)}


def allocated(root: Stmt) -> set[Buffer]:
    """Return the buffers that `root` allocates."""
    return {node.buffer for node in walk(root) if isinstance(node, Alloc)}


def bound_vars(root: Stmt) -> set[E.Var]:
    """Return the variables that loops, launches and lets at and below `root` define."""
    found: set[E.Var] = set()
    for node in walk(root):
        if isinstance(node, (For, Let)):
            found.add(node.var)
        elif isinstance(node, Launch):
            found.update(var for _, var in node.threads)
    return found


def has(root: Stmt | Expr, *kinds: type) -> bool:
    """Return whether a node of one of `kinds` is at or below `root`."""
    return any(isinstance(node, kinds) for node in walk(root))


def uses(root: Expr | Stmt, names: set[E.Var] | frozenset[E.Var]) -> bool:
    """Return whether `root` mentions one of the variables."""
    return bool(names) and any(node in names for node in walk(root) if isinstance(node, E.Var))
