"""What a statement reads and writes, with the loops and conditions between it and each access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..dtype import INDEX
from ..ir import expr as E
from ..ir.atomic import UPDATE
from ..ir.foreign import addressed, is_opaque
from ..ir.node import Expr
from ..ir.stmt import Across, Alloc, Buffer, For, Launch, Let, Stmt, Store
from ..ir.visit import walk

Indices = tuple[Expr, ...]


class Access(NamedTuple):
    """One Load or Store of a buffer; of one whose address is given away, what may be anywhere in it."""

    buffer: Buffer
    indices: Indices
    writes: bool
    atomic: bool = False
    """Whether it is an indivisible update, which others of the kind may meet."""


def accesses(root: Stmt | Expr) -> Iterator[Access]:
    """Yield every access at and below `root`, those of one statement once each."""
    for node in walk(root):
        if isinstance(node, E.Load):
            yield Access(node.buffer, node.indices, False)
        elif isinstance(node, Store):
            yield Access(node.buffer, node.indices, True)
        elif isinstance(node, E.Address) and node.mode == UPDATE:
            yield Access(node.buffer, node.indices, True, True)
        elif isinstance(node, E.Address):
            anywhere = (E.Cast(INDEX, node),) * len(node.buffer.shape)
            yield from (Access(node.buffer, anywhere, mode == "w") for mode in node.mode)


def stored(root: Stmt) -> set[Buffer]:
    """Return the buffers that `root` stores to, itself or by what it calls."""
    return {node.buffer for node in walk(root) if isinstance(node, Store)} | addressed(root, "w")


def stored_here(node: Stmt) -> set[Buffer]:
    """Return the buffers that `node` stores to, without the statements inside it."""
    own = {node.buffer} if isinstance(node, Store) else set[Buffer]()
    return own.union(*(addressed(expr, "w") for expr in node.expressions()))


def loaded(root: Stmt | Expr) -> set[Buffer]:
    """Return the buffers that `root` reads, itself or by what it calls."""
    return {node.buffer for node in walk(root) if isinstance(node, E.Load)} | addressed(root, "r")


def allocated(root: Stmt) -> set[Buffer]:
    """Return the buffers that `root` allocates."""
    return {node.buffer for node in walk(root) if isinstance(node, Alloc)}


def joined_across(alloc: Alloc) -> frozenset[str]:
    """Return the thread axes all of whose threads join what each of them has in an allocated buffer."""
    joins = (node for node in walk(alloc.body) if isinstance(node, Across) and alloc.buffer in node.buffers)
    return frozenset(tag for node in joins for tag in node.threads)


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


def repeatable(root: Expr) -> bool:
    """Return whether `root` has one value wherever its variables have: it reads no memory and calls nothing opaque."""
    return not any(isinstance(node, (E.Load, E.Address)) or is_opaque(node) for node in walk(root))


def uses(root: Expr | Stmt, names: set[E.Var] | frozenset[E.Var]) -> bool:
    """Return whether `root` mentions one of the variables."""
    return bool(names) and any(node in names for node in walk(root) if isinstance(node, E.Var))
