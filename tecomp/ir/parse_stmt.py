"""Statements read back from their Python text."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from . import expr as E
from .join import Join
from .make import TRUE, broadcast, const
from .node import Expr
from .parse_declare import Declarations, extent_to
from .stmt import CLUSTER, Across, Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store
from .syntax import LOOPS

_TAGS: Final = {f"{kind}_{axis}": f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz"}
_TAGS["cluster_x"] = CLUSTER

Wrap = Callable[[Stmt], Stmt]
"""What a Let or an Alloc makes of the rest of its suite."""


class Statements(Declarations):
    """Reads suites; what one binds is forgotten behind it."""

    def suite(self, body: list[ast.stmt]) -> Stmt:
        """Return a suite as one statement."""
        outside = dict(self.scope)
        parts: list[tuple[Wrap, list[Stmt]]] = [(lambda rest: rest, [])]
        for node in body:
            opened = self.opening(node)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.NamedExpr):
                self.bind(node.value.target.id, self.expr(node.value.value))
            elif opened is not None:
                parts.append((opened, []))
            elif not isinstance(node, ast.Pass):
                parts[-1][1].append(self.statement(node))
        self.scope.clear()
        self.scope.update(outside)
        rest: list[Stmt] = []
        for wrap, stmts in reversed(parts):
            rest = [wrap(_sequence(stmts + rest))]
        return rest[0]

    def statement(self, node: ast.stmt) -> Stmt:
        read = _READ.get(type(node))
        if read is None:
            raise self.text.error(node, f"{type(node).__name__} is not part of the notation")
        return read(self, node)

    def opening(self, node: ast.stmt) -> Wrap | None:
        """Return what a Let or an Alloc does to the rest of its suite; None for another statement."""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            return self.declaration(node.target.id, node)
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return None
        name, value = node.targets[0].id, node.value
        if isinstance(self.scope.get(name), Buffer):
            return None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "alloc" and value.args:
            copies = [keyword for keyword in value.keywords if keyword.arg == "copies"]
            extras = [keyword for keyword in value.keywords if keyword not in copies]
            buffer = self.buffer(name, value.args[0], value.args[1:], extras)
            return self.alloc(buffer, *(self.plain(keyword.value) for keyword in copies))
        result = self.expr(value)
        return self.let(E.Var(name, result.dtype), result)

    def declaration(self, name: str, node: ast.AnnAssign) -> Wrap:
        """Read c: f32, a 0-D local buffer, or x: index[0:n] = value."""
        if node.value is None:
            return self.alloc(Buffer(name, (), self.expr.dtype(node.annotation), "local"))
        var = self.variable(name, node.annotation)
        return self.let(var, self.expr(node.value, var.dtype.element))

    def alloc(self, buffer: Buffer, copies: int = 1) -> Wrap:
        self.bind(buffer.name, buffer)
        return lambda rest: Alloc(buffer, rest, copies)

    def let(self, var: E.Var, value: Expr) -> Wrap:
        self.bind(var.name, var)
        return lambda rest: Let(var, value, rest)

    def store(self, node: ast.Assign) -> Stmt:
        """Read B[i, j] = value, or b = value of a 0-D buffer; a scalar stored to lanes is broadcast."""
        target = node.targets[0]
        if isinstance(target, ast.Name):
            buffer, indices, mask = self.scope[target.id], (), TRUE
        elif isinstance(target, ast.Subscript):
            buffer, indices, mask = self.expr.access(target)
        else:
            raise self.text.error(target, "a store is B[indices] = value")
        store = Store(buffer, indices, self.expr(node.value, buffer.dtype.element), mask)
        return store.copy(value=broadcast(store.value, store.lanes)) if store.value.dtype.lanes == 1 else store

    def evaluate(self, node: ast.Expr) -> Stmt:
        return Evaluate(self.expr(node.value))

    def branch(self, node: ast.If) -> Stmt:
        condition = self.expr(node.test)
        return If(condition, self.suite(node.body), self.suite(node.orelse) if node.orelse else None)

    def loop(self, node: ast.For) -> Stmt:
        call = node.iter
        kind = LOOPS.get(call.func.id) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None
        if kind is None or not isinstance(call, ast.Call) or not isinstance(node.target, ast.Name):
            raise self.text.error(node.iter, "no kind of loop", ", ".join(LOOPS))
        args = list(call.args)
        thread = self.plain(args.pop(0)) if kind is LoopKind.THREAD and args else ""
        if len(args) not in (1, 2):
            raise self.text.error(call, "a loop has an end, or a start and an end")
        low, extent = self.bounds(args)
        var = E.Var(node.target.id, extent.dtype, low, extent)
        return For(var, kind, self.under({node.target.id: var}, node.body), thread, self.pragmas(call))

    def under(self, bound: dict[str, E.Var], body: list[ast.stmt]) -> Stmt:
        """Return the suite `body`, in which these names are bound."""
        outside = dict(self.scope)
        self.scope.update(bound)
        inner = self.suite(body)
        self.scope.clear()
        self.scope.update(outside)
        return inner

    def bounds(self, args: list[ast.expr]) -> tuple[Expr, Expr]:
        """Return the least value and the extent of a loop."""
        if len(args) == 1:
            extent = self.expr(args[0])
            return const(0, extent.dtype), extent
        low, end = self.expr.siblings(args[0], args[1], None)
        return low, extent_to(low, end)

    def pragmas(self, call: ast.Call) -> tuple[tuple[str, Any], ...]:
        pairs: list[tuple[str, Any]] = []
        for keyword in call.keywords:
            if keyword.arg != "pragmas" or not isinstance(keyword.value, ast.List):
                raise self.text.error(keyword.value, "a loop has pragmas=[(name, value), ...]")
            for pair in keyword.value.elts:
                if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
                    raise self.text.error(pair, "a pragma is (name, value)")
                name, value = pair.elts
                given = self.expr(value) if isinstance(value, ast.Call) else self.plain(value)
                pairs.append((self.plain(name), given))
        return tuple(pairs)

    def block(self, node: ast.With) -> Stmt:
        """Read `with scope():` and `with launch(...) as (...):`."""
        item = node.items[0]
        call = item.context_expr
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if name == "scope":
            return self.suite(node.body)
        if name == "across" and isinstance(call, ast.Call):
            return self.across(call, node.body)
        if name != "launch" or not isinstance(call, ast.Call):
            raise self.text.error(call, "no such block", "launch(...), across(...), scope()")
        tags = [keyword.arg or "" for keyword in call.keywords]
        renamed = ast.walk(item.optional_vars) if item.optional_vars is not None else ()
        names = [name.id for name in renamed if isinstance(name, ast.Name)] or tags
        if len(names) != len(tags):
            raise self.text.error(call, f"{len(tags)} thread axes and {len(names)} names")
        threads: dict[str, E.Var] = {}
        for tag, keyword, spelled in zip(tags, call.keywords, names, strict=True):
            if tag not in _TAGS:
                raise self.text.error(keyword.value, f"no thread axis {tag!r}", ", ".join(_TAGS))
            extent = self.expr(keyword.value)
            threads[spelled] = E.Var(spelled, extent.dtype, const(0, extent.dtype), extent)
        body = self.under(threads, node.body)
        return Launch(tuple(zip((_TAGS[tag] for tag in tags), threads.values(), strict=True)), body)

    def across(self, call: ast.Call, body: list[ast.stmt]) -> Stmt:
        """Read across(['threadIdx.x'], [b], [0.0], lambda x, y: x + y)."""
        if [type(arg) for arg in call.args] != [ast.List, ast.List, ast.List, ast.Lambda]:
            raise self.text.error(call, "across takes threads, buffers, start values and how two of them join")
        given: Any = call.args
        threads, buffers, start, join = given
        held = tuple(self.expr.lookup(buffer, Buffer, "buffer") for buffer in buffers.elts)
        kinds = [buffer.dtype for buffer in held]
        names = [argument.arg for argument in join.args.args]
        results = join.body.elts if isinstance(join.body, ast.Tuple) else [join.body]
        if len(names) != 2 * len(held) or not len(results) == len(start.elts) == len(held):
            raise self.text.error(call, f"across of {len(held)} buffers joins as many values with as many others")
        both = tuple(E.Var(name, kind) for name, kind in zip(names, kinds * 2, strict=True))
        outside = dict(self.scope)
        self.scope.update(zip(names, both, strict=True))
        result = tuple(self.expr(value, kind) for value, kind in zip(results, kinds, strict=True))
        self.scope.clear()
        self.scope.update(outside)
        identity = tuple(self.expr(value, kind) for value, kind in zip(start.elts, kinds, strict=True))
        lhs, rhs = both[: len(held)], both[len(held) :]
        return Across(tuple(self.plain(threads)), held, Join(lhs, rhs, result, identity), self.suite(body))


def _sequence(stmts: list[Stmt]) -> Stmt:
    return stmts[0] if len(stmts) == 1 else Seq(tuple(stmts))


_READ: dict[type, Callable[[Statements, Any], Stmt]] = {
    ast.Assign: Statements.store,
    ast.Expr: Statements.evaluate,
    ast.If: Statements.branch,
    ast.For: Statements.loop,
    ast.With: Statements.block,
}
