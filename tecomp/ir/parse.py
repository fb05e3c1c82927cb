"""Programs read back from their text: `parse(text(f))` is `f` but for the identity of its variables and the user's lines."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from . import expr as E
from .func import Func, Level
from .make import TRUE, broadcast, const
from .node import Expr
from .parse_expr import ExprReader, SourceText, deep_recursion, python_tree
from .stmt import Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store
from .syntax import LOOPS, default_integer, dtype_of_short

_TAGS: Final = {f"{kind}_{axis}": f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz"}


def parse(source: str) -> Func:
    """Return the function whose text `source` is; ParseError, with line and column, for anything else."""
    with deep_recursion():
        tree = python_tree(source)
        head = tree.body[0] if len(tree.body) == 1 else None
        if not isinstance(head, ast.FunctionDef):
            place = tree.body[1] if len(tree.body) > 1 else head or ast.Pass(lineno=1, col_offset=0)
            raise SourceText(source).error(place, "a program is one def")
        return _FuncReader(SourceText(source), head).func()


Wrap = Callable[[Stmt], Stmt]


class _FuncReader:
    """Reads one def: its level, parameters, sizes, body."""

    def __init__(self, text: SourceText, head: ast.FunctionDef) -> None:
        self.text, self.head = text, head
        self.level = self.read_level()
        self.default = default_integer(self.level)
        self.scope: dict[str, Any] = {}
        self.expr = ExprReader(text, self.scope, self.default)

    def read_level(self) -> Level:
        returns = self.head.returns
        if returns is None:
            return Level.LOOPS
        if isinstance(returns, ast.Name) and returns.id in {level.value for level in Level}:
            return Level(returns.id)
        raise self.text.error(returns, "no level", ", ".join(level.value for level in Level))

    def func(self) -> Func:
        """Return the function: scalars and declared sizes first, which shapes may name."""
        arguments = self.head.args.args
        body = self.head.body
        for argument in arguments:
            if argument.annotation is None:
                raise self.text.error(argument, f"parameter {argument.arg!r} has no type", "X: f32[n], n: i32")
            if _is_scalar(argument.annotation):
                self.bind(argument.arg, self.variable(argument.arg, argument.annotation))
        while body and (size := _declared_size(body[0])) is not None:
            self.bind(size[0], self.variable(*size))
            body = body[1:]
        params: list[Buffer | E.Var] = []
        outputs: list[Buffer] = []
        for argument in arguments:
            assert argument.annotation is not None
            if not _is_scalar(argument.annotation):
                self.parameter(argument.arg, argument.annotation, outputs)
            params.append(self.scope[argument.arg])
        requires: list[tuple[Expr, str]] = []
        while body and isinstance(body[0], ast.Assert):
            condition, body = body[0], body[1:]
            reason = ast.literal_eval(condition.msg) if condition.msg is not None else ""
            requires.append((self.expr(condition.test), reason))
        return Func(self.head.name, tuple(params), tuple(outputs), self.suite(body), self.level, tuple(requires))

    def bind(self, name: str, thing: Any) -> Any:
        self.scope[name] = thing
        return thing

    def variable(self, name: str, annotation: ast.expr) -> E.Var:
        """Return the variable that f32, i32[0:] or i32[0:n] declares."""
        if not isinstance(annotation, ast.Subscript):
            return E.Var(name, self.expr.dtype(annotation))
        dtype, bounds = self.expr.dtype(annotation.value), annotation.slice
        if not isinstance(bounds, ast.Slice) or bounds.lower is None:
            raise self.text.error(annotation, "the range of a variable is [least:] or [least:end]")
        low = self.expr(bounds.lower, dtype)
        return E.Var(
            name, dtype, low, None if bounds.upper is None else self.extent(low, self.expr(bounds.upper, dtype))
        )

    def extent(self, low: Expr, end: Expr) -> Expr:
        """Return the number of values from `low` to `end`, in the form that prints as this end."""
        if isinstance(low, E.Const) and low.value == 0:
            return end
        if isinstance(low, E.Const) and isinstance(end, E.Const):
            return const(end.value - low.value, end.dtype)
        return end.b if isinstance(end, E.Add) and end.a is low else E.Sub(end, low)

    def parameter(self, name: str, annotation: ast.expr, outputs: list[Buffer]) -> None:
        """Bind the buffer that f32[m, n], out[f32[m, n]] or buffer(f32[m, n], ...) declares."""
        written = (
            isinstance(annotation, ast.Subscript)
            and isinstance(annotation.value, ast.Name)
            and annotation.value.id == "out"
        )
        inner = annotation.slice if written and isinstance(annotation, ast.Subscript) else annotation
        extras = ast.Call(func=inner, args=[], keywords=[])
        if isinstance(inner, ast.Call):
            if not inner.args:
                raise self.text.error(inner, "a buffer has a type")
            extras, inner = ast.Call(func=inner.func, args=inner.args[1:], keywords=inner.keywords), inner.args[0]
        for size in _names_of_values(inner, *(keyword.value for keyword in extras.keywords)):
            if size not in self.scope:
                self.bind(size, E.Var(size, self.default, const(0, self.default)))
        buffer = self.bind(name, self.buffer(name, inner, extras))
        if written:
            outputs.append(buffer)

    def buffer(self, name: str, kind: ast.expr, extras: ast.Call) -> Buffer:
        """Return the buffer of type and shape `kind` (f32[m, n], f32), with scope, strides and alignment in `extras`."""
        shape: tuple[Expr, ...] = ()
        if isinstance(kind, ast.Subscript):
            inside = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
            shape, kind = tuple(self.expr(extent) for extent in inside), kind.value
        dtype = self.expr.dtype(kind)
        scope = ast.literal_eval(extras.args[0]) if extras.args else "global"
        strides: tuple[Expr, ...] | None = None
        align = 0
        for keyword in extras.keywords:
            if keyword.arg == "strides" and isinstance(keyword.value, ast.List):
                strides = tuple(self.expr(stride) for stride in keyword.value.elts)
            elif keyword.arg == "align":
                align = ast.literal_eval(keyword.value)
            else:
                raise self.text.error(
                    keyword.value, f"no property {keyword.arg!r} of a buffer", "strides=[...], align=16"
                )
        return Buffer(name, shape, dtype, scope, strides, align)

    def suite(self, body: list[ast.stmt]) -> Stmt:
        """Return a suite as one statement; what it binds is forgotten behind it."""
        outside = dict(self.scope)
        levels: list[tuple[Wrap, list[Stmt]]] = [(lambda inner: inner, [])]
        for node in body:
            opened = self.opening(node)
            if opened is not None:
                levels.append((opened, []))
            elif not isinstance(node, ast.Pass):
                read = _READ.get(type(node))
                if read is None:
                    raise self.text.error(node, f"{type(node).__name__} is not part of the notation")
                levels[-1][1].append(read(self, node))
        self.scope.clear()
        self.scope.update(outside)
        inner: list[Stmt] = []
        for wrap, stmts in reversed(levels):
            inner = [wrap(_sequence(stmts + inner))]
        return inner[0]

    def opening(self, node: ast.stmt) -> Wrap | None:
        """Return what a Let or an Alloc makes of the rest of its suite; None for another statement."""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            if node.value is None:
                scalar = self.bind(name, Buffer(name, (), self.expr.dtype(node.annotation), "local"))
                return lambda rest: Alloc(scalar, rest)
            var = self.variable(name, node.annotation)
            value = self.expr(node.value, var.dtype.element)
            return self.let(name, var, value)
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return None
        name, value = node.targets[0].id, node.value
        if isinstance(self.scope.get(name), Buffer):
            return None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "alloc" and value.args:
            extras = ast.Call(func=value.func, args=value.args[1:], keywords=value.keywords)
            buffer = self.buffer(name, value.args[0], extras)
            self.bind(name, buffer)
            return lambda rest: Alloc(buffer, rest)
        result = self.expr(value)
        return self.let(name, E.Var(name, result.dtype), result)

    def let(self, name: str, var: E.Var, value: Expr) -> Wrap:
        self.bind(name, var)
        return lambda rest: Let(var, value, rest)

    def store(self, node: ast.Assign) -> Stmt:
        """Read B[i, j] = value, or b = value of a 0-D buffer; a scalar stored to lanes is broadcast."""
        target = node.targets[0]
        if isinstance(target, ast.Name):
            return Store(self.scope[target.id], (), self.expr(node.value, self.scope[target.id].dtype.element), TRUE)
        if not isinstance(target, ast.Subscript):
            raise self.text.error(target, "a store is B[indices] = value")
        buffer, indices, mask = self.expr.access(target)
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
        thread = ast.literal_eval(args.pop(0)) if kind is LoopKind.THREAD and args else ""
        if len(args) not in (1, 2):
            raise self.text.error(call, "a loop has an end, or a start and an end")
        low, extent = self.bounds(args)
        var = E.Var(node.target.id, extent.dtype, low, extent)
        hidden = self.scope.get(node.target.id)
        self.bind(node.target.id, var)
        body = self.suite(node.body)
        self.unbind(node.target.id, hidden)
        return For(var, kind, body, thread, self.pragmas(call))

    def bounds(self, args: list[ast.expr]) -> tuple[Expr, Expr]:
        if len(args) == 1:
            extent = self.expr(args[0])
            return const(0, extent.dtype), extent
        low, end = self.expr.siblings(args[0], args[1], None)
        return low, self.extent(low, end)

    def unbind(self, name: str, hidden: Any) -> None:
        """End the scope of `name`; what it hid is seen again."""
        if hidden is None:
            del self.scope[name]
        else:
            self.scope[name] = hidden

    def pragmas(self, call: ast.Call) -> tuple[tuple[str, Any], ...]:
        pairs: list[tuple[str, Any]] = []
        for keyword in call.keywords:
            if keyword.arg != "pragmas" or not isinstance(keyword.value, ast.List):
                raise self.text.error(keyword.value, "a loop has pragmas=[(name, value), ...]")
            for pair in keyword.value.elts:
                if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
                    raise self.text.error(pair, "a pragma is (name, value)")
                name, value = pair.elts
                pairs.append(
                    (
                        ast.literal_eval(name),
                        self.expr(value) if isinstance(value, ast.Call) else ast.literal_eval(value),
                    )
                )
        return tuple(pairs)

    def block(self, node: ast.With) -> Stmt:
        """Read `with scope():` and `with launch(...) as (...):`."""
        item = node.items[0]
        call = item.context_expr
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if name == "scope":
            return self.suite(node.body)
        if name != "launch" or not isinstance(call, ast.Call):
            raise self.text.error(call, "no such block", "launch(...), scope()")
        tags = [keyword.arg or "" for keyword in call.keywords]
        names = tags if item.optional_vars is None else [name.id for name in ast.walk(item.optional_vars) if isinstance(name, ast.Name)]
        threads: list[tuple[str, E.Var]] = []
        for tag, keyword, spelled in zip(tags, call.keywords, names, strict=True):
            if tag not in _TAGS:
                raise self.text.error(keyword.value, f"no thread axis {tag!r}", ", ".join(_TAGS))
            extent = self.expr(keyword.value)
            threads.append((_TAGS[tag], E.Var(spelled, extent.dtype, const(0, extent.dtype), extent)))
        outside = dict(self.scope)
        self.scope.update(zip(names, (var for _, var in threads), strict=True))
        body = self.suite(node.body)
        self.scope.clear()
        self.scope.update(outside)
        return Launch(tuple(threads), body)


def _sequence(stmts: list[Stmt]) -> Stmt:
    return stmts[0] if len(stmts) == 1 else Seq(tuple(stmts))


def _names_of_values(*roots: ast.expr) -> list[str]:
    """Return the names in shapes and strides that stand for values: neither types nor functions."""
    nodes = [node for root in roots for node in ast.walk(root)]
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    names = [node.id for node in nodes if isinstance(node, ast.Name) and node not in called]
    return [name for name in names if dtype_of_short(name) is None]


def _declared_size(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """Return the name and the type of a size that m: size[i64[0:]] declares."""
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
        return None
    kind = node.annotation
    if isinstance(kind, ast.Subscript) and isinstance(kind.value, ast.Name) and kind.value.id == "size":
        return node.target.id, kind.slice
    return None


def _is_scalar(annotation: ast.expr) -> bool:
    """f32, i32[0:]: no shape."""
    return isinstance(annotation, ast.Name) or (
        isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Slice)
    )


_READ: dict[type, Callable[[_FuncReader, Any], Stmt]] = {
    ast.Assign: _FuncReader.store,
    ast.Expr: _FuncReader.evaluate,
    ast.If: _FuncReader.branch,
    ast.For: _FuncReader.loop,
    ast.With: _FuncReader.block,
}
