"""Narrow: index arithmetic becomes 32-bit where every value on the way is proved to fit, else 64-bit.

    offset: index = blockIdx_x*256 + threadIdx_x, blockIdx_x < 4096  ->  int32
    offset: index = i*n + j, n unknown                               ->  int64

Sizes are passed as 64-bit integers. A CPU computes addresses in 64 bits anyway; there only vectors are narrowed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..arith import interval
from ..dtype import INDEX, INT32, INT64, DType
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.instruction import signature_of
from ..ir.node import Expr
from ..ir.signature import VALUE
from ..ir.stmt import Alloc, Buffer, For, Launch, Let, Stmt, Store
from ..target import Target

_LOW, _HIGH = INT32.limits()


def run(func: Func, target: Target) -> Func:
    """Return `func` without INDEX."""
    narrow = _Narrow(scalars=target.kind == "cuda")
    params = tuple(narrow.buffer(p) if isinstance(p, Buffer) else narrow.size(p) for p in func.params)
    outputs = tuple(narrow.buffer(output) for output in func.outputs)
    requires = tuple((narrow.expr(condition), reason) for condition, reason in func.requires)
    return Func(func.name, params, outputs, narrow.stmt(func.body), func.level, requires)


def fits(node: Expr) -> bool:
    """Return whether `node` is proved to be an int32 whatever its variables are."""
    bounds = interval(node)
    return bounds.lo is not None and bounds.hi is not None and bounds.lo >= _LOW and bounds.hi <= _HIGH


class _Narrow:
    """Rewrites one function. `scalars`: whether scalars may be 32-bit, or vectors only."""

    def __init__(self, scalars: bool) -> None:
        self.scalars = scalars
        self.vars: dict[E.Var, Expr] = {}
        self.buffers: dict[Buffer, Buffer] = {}
        self.memo: dict[Expr, Expr] = {}

    def width(self, node: Expr) -> DType:
        """Return the type of an operation: 32-bit where the result and all index operands are proved to fit."""
        indices = [part for part in (node, *node.operands()) if _is_index(part)]
        allowed = self.scalars or any(part.dtype.lanes > 1 for part in indices)
        return INT32 if allowed and all(map(fits, indices)) else INT64

    def size(self, var: E.Var) -> Any:
        """Return the 64-bit variable of a size or index argument; another variable as it is."""
        return self.define(var, INT64) if var.dtype is INDEX else var

    def define(self, var: E.Var, dtype: DType) -> E.Var:
        """Return the variable of `dtype` that stands for the index `var`, over the same range."""
        known = self.vars.get(var)
        if isinstance(known, E.Var):
            return known
        low = None if var.min is None else as_type(dtype, self.expr(var.min))
        extent = None if var.extent is None else as_type(dtype, self.expr(var.extent))
        self.vars[var] = new = E.Var(var.name, dtype, low, extent)
        return new

    def loop_type(self, var: E.Var) -> DType:
        """A loop counts up to its end, which must fit too."""
        assert var.min is not None and var.extent is not None
        parts = (var, var.extent, var.min, make.add(var.min, var.extent))
        return INT32 if self.scalars and all(map(fits, parts)) else INT64

    def buffer(self, old: Buffer) -> Buffer:
        new = self.buffers.get(old)
        if new is None:
            shape = tuple(self.extent(extent) for extent in old.shape)
            strides = None if old.strides is None else tuple(self.extent(stride) for stride in old.strides)
            new = self.buffers[old] = Buffer(old.name, shape, old.dtype, old.scope, strides, old.align, old.loc)
        return new

    def extent(self, node: Expr) -> Expr:
        if node.dtype is not INDEX:
            return self.expr(node)
        return (
            E.Const(node.value, INT32) if isinstance(node, E.Const) and fits(node) else as_type(INT64, self.expr(node))
        )

    def expr(self, root: Expr) -> Expr:
        """Return `root` over narrowed operands: what was INDEX is int32 or int64."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.memo:
                stack.pop()
                continue
            waiting = [operand for operand in node.operands() if operand not in self.memo]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            operands = [self.memo[operand] for operand in node.operands()]
            self.memo[node] = _RULES.get(type(node), _Narrow.same)(self, node, operands)
        return self.memo[root]

    def same(self, node: Expr, operands: list[Expr]) -> Expr:
        """What was INDEX, operands and result, is of one type."""
        old = node.operands()
        if not any(map(_is_index, (node, *old))):
            return node if all(x is y for x, y in zip(operands, old, strict=True)) else node.with_operands(operands)
        wide = self.width(node)
        if isinstance(node, E.Compare) and any(new.dtype.element is INT64 for new in operands):
            wide = INT64  # a comparison gains nothing from casts
        return node.with_operands([as_type(wide, y) if _is_index(x) else y for x, y in zip(old, operands, strict=True)])

    def var(self, node: E.Var, operands: list[Expr]) -> Expr:
        known = self.vars.get(node)
        return self.size(node) if known is None else known

    def constant(self, node: E.Const, operands: list[Expr]) -> Expr:
        return E.Const(node.value, self.width(node)) if _is_index(node) else node

    def cast(self, node: E.Cast, operands: list[Expr]) -> Expr:
        (value,) = operands
        if not _is_index(node):
            return make.cast(node.dtype, value)
        return as_type(self.width(node), value)

    def call(self, node: E.Call, operands: list[Expr]) -> Expr:
        """An instruction takes lanes, masks and counts as int32; what else was INDEX is 64-bit."""
        known = signature_of(node)
        widths = [INT64 if known is None or known.operands[at].kind == VALUE else INT32 for at in range(len(operands))]
        args = [
            as_type(width, x) if _is_index(old) else x
            for width, old, x in zip(widths, node.args, operands, strict=True)
        ]
        dtype = INT64.with_lanes(node.dtype.lanes) if _is_index(node) else node.dtype
        return E.Call(dtype, node.name, tuple(args))

    def load(self, node: E.Load, operands: list[Expr]) -> Expr:
        *indices, mask = operands
        return E.Load(self.buffer(node.buffer), tuple(indices), mask)

    def address(self, node: E.Address, operands: list[Expr]) -> Expr:
        """The offset counts elements in 64 bits."""
        *_, offset = operands
        if isinstance(node.offset, E.Const):
            offset = E.Const(node.offset.value, INT32 if fits(node.offset) else INT64)
        elif _is_index(node.offset):
            offset = as_type(INT64, offset)
        return E.Address(self.buffer(node.buffer), (), offset, node.mode)

    def ramp(self, node: E.Ramp, operands: list[Expr]) -> Expr:
        """A ramp is an address or a part of one: on a CPU 64-bit, unless it is constant."""
        constant = isinstance(node.base, E.Const) and isinstance(node.stride, E.Const)
        narrow = (self.scalars or constant) and all(map(fits, (node, node.base, node.stride)))
        if not _is_index(node):
            return self.same(node, operands)
        base, stride = (as_type(INT32 if narrow else INT64, operand) for operand in operands)
        return E.Ramp(base, stride, node.lanes)

    def stmt(self, node: Stmt) -> Stmt:
        verb = _STATEMENTS.get(type(node))
        return node.map(self.stmt, self.expr) if verb is None else verb(self, node)

    def loop(self, node: For) -> Stmt:
        var = node.var if node.var.dtype is not INDEX else self.define(node.var, self.loop_type(node.var))
        return node.copy(var=var, body=self.stmt(node.body))

    def launch(self, node: Launch) -> Stmt:
        """The hardware's thread and block numbers are 32-bit."""
        threads = tuple((tag, self.thread(var)) for tag, var in node.threads)
        return node.copy(threads=threads, body=self.stmt(node.body))

    def thread(self, old: E.Var) -> E.Var:
        assert old.min is not None and old.extent is not None
        self.vars[old] = new = E.Var(
            old.name, INT32, *(as_type(INT32, self.expr(part)) for part in (old.min, old.extent))
        )
        return new

    def let(self, node: Let) -> Stmt:
        value = self.expr(node.value)
        var = node.var
        if _is_index(var):
            self.vars[var] = var = E.Var(var.name, value.dtype)
        return node.copy(var=var, value=value, body=self.stmt(node.body))

    def alloc(self, node: Alloc) -> Stmt:
        return node.copy(buffer=self.buffer(node.buffer), body=self.stmt(node.body))

    def store(self, node: Store) -> Stmt:
        new = node.map(self.stmt, self.expr)
        assert isinstance(new, Store)
        return new.copy(buffer=self.buffer(node.buffer))


def _is_index(node: Expr) -> bool:
    return node.dtype.element is INDEX


def as_type(dtype: DType, value: Expr) -> Expr:
    """Return an integer as `dtype`; a constant or ramp of fitting numbers is made in that type."""
    if isinstance(value, E.Ramp) and value.dtype.element is not dtype:
        return E.Ramp(as_type(dtype, value.base), as_type(dtype, value.stride), value.lanes)
    return make.cast(dtype.element, value)


_RULES: Final[dict[type[Expr], Callable[[_Narrow, Any, list[Expr]], Expr]]] = {
    E.Var: _Narrow.var,
    E.Const: _Narrow.constant,
    E.Cast: _Narrow.cast,
    E.Call: _Narrow.call,
    E.Load: _Narrow.load,
    E.Address: _Narrow.address,
    E.Ramp: _Narrow.ramp,
}
_STATEMENTS: Final[dict[type[Stmt], Callable[[_Narrow, Any], Stmt]]] = {
    For: _Narrow.loop,
    Launch: _Narrow.launch,
    Let: _Narrow.let,
    Alloc: _Narrow.alloc,
    Store: _Narrow.store,
}
