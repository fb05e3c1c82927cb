"""Replacing variables and buffers in a program."""

from __future__ import annotations

from collections.abc import Mapping

from .expr import Address, Load, Var
from .node import Expr
from .stmt import Across, Alloc, Buffer, For, Launch, Let, Stmt, Store
from .visit import ExprTable, rewrite_expr


def substitute(root: Expr, values: Mapping[Var, Expr], memo: dict[Expr, Expr] | None = None) -> Expr:
    """Return `root` with each variable that `values` names replaced."""
    return rewrite_expr(root, {Var: lambda var: values.get(var, var)}, memo) if values else root


def substitute_stmt(root: Stmt, values: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer] | None = None) -> Stmt:
    """Return `root` with variables and buffers replaced, in the ranges of loops too.

    A loop whose range changes gets a new variable, and every use of the old one follows.
    """
    return _Substitution(dict(values), dict(buffers or {})).stmt(root)


def fresh_loops(root: Stmt) -> Stmt:
    """Return a copy of `root` with loop variables and allocations of its own, so that both may stand in one program."""
    return _Substitution({}, {}, fresh=True).stmt(root)


class _Substitution:
    def __init__(self, values: dict[Var, Expr], buffers: dict[Buffer, Buffer], fresh: bool = False) -> None:
        self.values, self.buffers, self.fresh = values, buffers, fresh
        self.memo: dict[Expr, Expr] = {}
        self.table: ExprTable = {Var: self.var, Load: self.load, Address: self.address}

    def var(self, node: Var) -> Expr:
        return self.values.get(node, node)

    def load(self, node: Load) -> Expr:
        buffer = self.buffers.get(node.buffer)
        return node if buffer is None else Load(buffer, node.indices, node.mask)

    def address(self, node: Address) -> Expr:
        buffer = self.buffers.get(node.buffer)
        return node if buffer is None else Address(buffer, node.indices, node.offset, node.mode)

    def expr(self, node: Expr) -> Expr:
        return rewrite_expr(node, self.table, self.memo)

    def rename(self, var: Var) -> Var:
        """Return the variable that stands for `var`: another one when its range changes."""
        low = None if var.min is None else self.expr(var.min)
        extent = None if var.extent is None else self.expr(var.extent)
        if low is var.min and extent is var.extent and not self.fresh:
            return var
        self.values[var] = new = Var(var.name, var.dtype, low, extent)
        self.memo.clear()
        return new

    def memory(self, old: Buffer) -> Buffer:
        """Return the buffer that stands for an allocated one: another one when its extents or strides change."""
        buffer = self.buffers.get(old, old)
        shape = tuple(self.expr(extent) for extent in buffer.shape)
        strides = None if buffer.strides is None else tuple(self.expr(stride) for stride in buffer.strides)
        before, after = (*buffer.shape, *(buffer.strides or ())), (*shape, *(strides or ()))
        if not self.fresh and all(x is y for x, y in zip(before, after, strict=True)):
            return buffer
        new = Buffer(buffer.name, shape, buffer.dtype, buffer.scope, strides, buffer.align, buffer.loc)
        self.buffers[old] = new
        self.memo.clear()
        return new

    def stmt(self, node: Stmt) -> Stmt:
        match node:
            case For():
                var = self.rename(node.var)
                body = self.stmt(node.body)
                return node if var is node.var and body is node.body else node.copy(var=var, body=body)
            case Launch():
                threads = tuple((tag, self.rename(var)) for tag, var in node.threads)
                body = self.stmt(node.body)
                same = body is node.body and all(x[1] is y[1] for x, y in zip(threads, node.threads, strict=True))
                return node if same else node.copy(threads=threads, body=body)
            case Let() if self.fresh:
                value = self.expr(node.value)
                var = self.rename(node.var)
                return node.copy(var=var, value=value, body=self.stmt(node.body))
            case Store() if node.buffer in self.buffers:
                new = node.map(self.stmt, self.expr)
                return new.copy(buffer=self.buffers[node.buffer])
            case Across() if self.buffers.keys() & node.buffers:
                buffers = tuple(self.buffers.get(buffer, buffer) for buffer in node.buffers)
                return node.copy(buffers=buffers, body=self.stmt(node.body))
            case Alloc():
                buffer = self.memory(node.buffer)
                body = self.stmt(node.body)
                return node if buffer is node.buffer and body is node.body else node.copy(buffer=buffer, body=body)
            case _:
                return node.map(self.stmt, self.expr)
