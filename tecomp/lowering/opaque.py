"""The body of an opaque operation in a program: its loops over indices, its buffers the memory of its tensors.

for i in range(n):                    for i in range(n):                 # i is of type index now
    outs[i] = ins[i] + 1       ->         B[i] = A[i] + 1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..arith import simplify
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import foreign
from ..ir.node import Expr
from ..ir.stmt import Across, Alloc, Buffer, Evaluate, For, If, Let, Seq, Stmt, Store
from ..ir.subst import substitute_stmt
from ..ir.visit import walk
from ..te.extern_op import ExternOp
from ..te.index import Indexer
from .storage import Storage


def opaque(op: ExternOp, storage: Storage) -> Stmt:
    """Return the body of `op` over the memory of its tensors, with variables of its own."""
    memory: dict[Buffer, Buffer] = {
        buffer: storage.buffer(tensor)
        for buffer, tensor in zip(
            (*op.input_placeholders, *op.output_placeholders), (*op.inputs, *op.outputs), strict=True
        )
    }
    return placed(op.body, storage.program.indexer, memory)


def placed(
    body: Stmt, indexer: Indexer, memory: Mapping[Buffer, Buffer], values: Mapping[E.Var, Expr] | None = None
) -> Stmt:
    """Return a user's statement as one of a lowered program, with other buffers in place of its own.

    Integer variables of loops become index variables, sizes those that `indexer` has for them; `values` are what the
    variables of loops outside are in the program.
    """
    return substitute_stmt(_Placed(indexer, values or {}).stmt(body), {}, memory)


class _Placed:
    """Rewrites one statement; `values` are what its variables are in the program."""

    def __init__(self, indexer: Indexer, values: Mapping[E.Var, Expr]) -> None:
        self.indexer = indexer
        self.values = dict(values)
        self.buffers: dict[Buffer, Buffer] = {}

    def data(self, expr: Expr) -> Expr:
        """Return a value of its declared type."""
        return self.indexer.data(expr, self.values)

    def index(self, expr: Expr) -> Expr:
        """Return an integer as an index."""
        return simplify(make.index(self.indexer.lower(expr, self.values)))

    def stmt(self, node: Stmt) -> Stmt:
        return _VERBS[type(node)](self, node)

    def seq(self, node: Seq) -> Stmt:
        return node.copy(stmts=tuple(map(self.stmt, node.stmts)))

    def loop(self, node: For) -> Stmt:
        """A length that memory or a function outside decides gets a name before the loop."""
        low, extent = self.index(node.min), self.index(node.extent)
        named: list[tuple[E.Var, Expr]] = []
        if not _settled(low):
            named.append((E.Var(f"{node.var.name}_min", INDEX), low))
            low = named[-1][0]
        if not _settled(extent):
            named.append((E.Var(f"{node.var.name}_extent", INDEX), extent))
            extent = named[-1][0]
        var = self.values[node.var] = E.Var(node.var.name, INDEX, low, extent)
        result: Stmt = node.copy(var=var, body=self.stmt(node.body))
        for name, value in reversed(named):
            result = Let(name, value, result, loc=node.loc)
        return result

    def let(self, node: Let) -> Stmt:
        """An index stands for itself wherever it is named, so that what is known of the loops is known of it."""
        value = self.indexer.lower(node.value, self.values)
        if value.dtype is INDEX and _settled(value):
            self.values[node.var] = simplify(value)
            return self.stmt(node.body)
        var = self.values[node.var] = E.Var(node.var.name, value.dtype)
        return Let(var, value, self.stmt(node.body), loc=node.loc)

    def alloc(self, node: Alloc) -> Stmt:
        old = node.buffer
        shape = tuple(map(self.index, old.shape))
        strides = None if old.strides is None else tuple(map(self.index, old.strides))
        new = Buffer(old.name, shape, old.dtype, old.scope, strides, old.align, old.loc)
        return substitute_stmt(node.copy(buffer=new, body=self.stmt(node.body)), {}, {old: new})

    def store(self, node: Store) -> Stmt:
        indices = self.indexer.indices(node.indices, self.values)
        return node.copy(indices=indices, value=self.data(node.value), mask=self.data(node.mask))

    def branch(self, node: If) -> Stmt:
        otherwise = None if node.otherwise is None else self.stmt(node.otherwise)
        return node.copy(condition=self.data(node.condition), then=self.stmt(node.then), otherwise=otherwise)

    def across(self, node: Across) -> Stmt:
        return node.copy(body=self.stmt(node.body))

    def evaluate(self, node: Evaluate) -> Stmt:
        return node.copy(value=self.data(node.value))


def _settled(expr: Expr) -> bool:
    """Return whether an extent may stand in a loop: it neither reads memory nor calls a function outside."""
    return not any(
        isinstance(node, (E.Load, E.Address)) or (isinstance(node, E.Call) and foreign(node.name))
        for node in walk(expr)
    )


_VERBS: Final[dict[type[Stmt], Callable[[_Placed, Any], Stmt]]] = {
    Seq: _Placed.seq,
    For: _Placed.loop,
    Let: _Placed.let,
    Alloc: _Placed.alloc,
    Store: _Placed.store,
    If: _Placed.branch,
    Across: _Placed.across,
    Evaluate: _Placed.evaluate,
}
