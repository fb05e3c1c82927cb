"""Memory that several iterations hold at once: a buffer in copies, and accesses to one of them."""

from __future__ import annotations

from collections.abc import Mapping

from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Buffer, Stmt, Store
from ..ir.visit import rewrite


def copied(buffer: Buffer, count: Expr) -> Buffer:
    """Return memory for `count` copies of a buffer, one after the other; which copy is the first index.

    S: f32[8] in shared  ->  S: f32[2, 8] in shared
    """
    strides = None
    if buffer.strides is not None:
        whole = make.mul(buffer.shape[0], buffer.strides[0]) if buffer.shape else make.const(1, INDEX)
        strides = (whole, *buffer.strides)
    return Buffer(buffer.name, (count, *buffer.shape), buffer.dtype, buffer.scope, strides, buffer.align, buffer.loc)


def in_copy(root: Stmt, copies: Mapping[Buffer, Buffer], number: Expr) -> Stmt:
    """Return `root` with its accesses to each buffer of `copies` made to copy `number` of the memory it maps to."""

    def load(node: E.Load) -> Expr:
        new = copies.get(node.buffer)
        return node if new is None else E.Load(new, (number, *node.indices), node.mask)

    def store(node: Store) -> Stmt:
        new = copies.get(node.buffer)
        return node if new is None else node.copy(buffer=new, indices=(number, *node.indices))

    def address(node: E.Address) -> Expr:
        new = copies.get(node.buffer)
        if new is None:
            return node
        indices = node.indices or (make.const(0, INDEX),) * len(node.buffer.shape)
        return E.Address(new, (number, *indices), node.offset, node.mode)

    return rewrite(root, {E.Load: load, E.Address: address}, {Store: store})
