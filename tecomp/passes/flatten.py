"""Flatten: every access becomes one element offset, and the program FLAT.

    A[i, ramp(j*8, 1, 8)]  ->  A[ramp(i*m + j*8, 1, 8)]      A: f32[n, m]

Buffers keep their shapes. An access without dimensions keeps no index.
"""

from __future__ import annotations

from ..arith import simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func, Level
from ..ir.node import Expr
from ..ir.stmt import Buffer, Stmt, Store
from ..ir.visit import rewrite
from ..target import Target
from .lanes import build

_ADD = E.Add(E.Var("a", INDEX), E.Var("b", INDEX))
_MUL = E.Mul(E.Var("a", INDEX), E.Var("b", INDEX))


def run(func: Func, target: Target) -> Func:
    """Return `func` at level FLAT."""
    flat = _Flatten()
    table = {E.Load: flat.load, E.Address: flat.address}
    return func.with_body(rewrite(func.body, table, {Store: flat.store}), Level.FLAT)


def row_major(shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return the distance, in elements, between neighbours along each dimension of a buffer without gaps."""
    strides: list[Expr] = [make.const(1, INDEX)]
    for extent in reversed(shape[1:]):
        strides.insert(0, make.mul(extent, strides[0]))
    return tuple(strides[: len(shape)])


class _Flatten:
    def __init__(self) -> None:
        self.strides: dict[Buffer, tuple[Expr, ...]] = {}

    def offset(self, buffer: Buffer, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return the one index, or none of a buffer without dimensions."""
        if not buffer.shape:
            return ()
        strides = self.strides.get(buffer)
        if strides is None:
            strides = self.strides[buffer] = buffer.strides or row_major(buffer.shape)
        total: Expr = make.const(0, INDEX)
        for index, stride in zip(indices, strides, strict=True):
            total = build(_ADD, [total, build(_MUL, [index, stride])])
        return (simplify(total),)

    def load(self, node: E.Load) -> Expr:
        return E.Load(node.buffer, self.offset(node.buffer, node.indices), node.mask)

    def address(self, node: E.Address) -> Expr:
        places = self.offset(node.buffer, node.indices) if node.indices else ()
        offset = simplify(make.add(node.offset, *places)) if places else node.offset
        return E.Address(node.buffer, (), offset, node.mode)

    def store(self, node: Store) -> Stmt:
        return node.copy(indices=self.offset(node.buffer, node.indices))
