"""Programs as Python text, which `parse` reads back.

    def scale(X: f32[n], Y: out[f32[n]], alpha: f32):
        for i in parallel(n):
            Y[i] = X[i] * alpha  # scale.py:7

A level other than LOOPS stands as the return annotation. Alloc and Let hold for the rest of their suite; where their
scope ends earlier, `with scope():` says so. A name is free again when its scope has ended. `(part := ...)` on a line of
its own is no statement: it names a part of the next one's expressions, which are too large for one text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dtype import DType
from .expr import Add, Broadcast, Const, Sub, Var
from .func import Func, Level
from .make import const
from .node import OPERATORS, Expr
from .stmt import STMT_TEXT, Across, Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store
from .syntax import default_integer, identifier
from .text_expr import ExprText, Names
from .text_parts import parts

INDENT = "    "


def text(node: Expr | Stmt | Func) -> str:
    """Return the program text of an expression, a statement or a function (with a newline at the end of each line)."""
    if isinstance(node, Expr):
        return ExprText(Names())(node)
    return "".join(f"{line}\n" for line, _ in lines(node))


def lines(node: Stmt | Func, level: Level = Level.LOOPS) -> list[tuple[str, Stmt | None]]:
    """Return the lines of the text, each with the statement that begins there; `level` is that of a statement."""
    if isinstance(node, Func):
        return _StmtText(default_integer(node.level)).func(node)
    printer = _StmtText(default_integer(level))
    printer.suite(node, 0)
    return printer.lines


def flattened(root: Stmt) -> list[Stmt]:
    """Return the statements of a suite: those of nested Seqs in order."""
    found: list[Stmt] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Seq):
            stack.extend(reversed(node.stmts))
        else:
            found.append(node)
    return found


class _StmtText:
    """Prints statements line by line; literals that nothing types are of type `default`."""

    def __init__(self, default: DType) -> None:
        self.default = default
        self.names = Names()
        self.expr = ExprText(self.names, default)
        self.lines: list[tuple[str, Stmt | None]] = []

    def add(self, depth: int, line: str, owner: Stmt | None = None) -> None:
        self.lines.append((INDENT * depth + line, owner))

    def func(self, func: Func) -> list[tuple[str, Stmt | None]]:
        """Print the head, the sizes that are not plain indices, what they must satisfy, the body."""
        for thing in (*func.params, *func.sizes()):
            self.names.give(thing)
        params = ", ".join(f"{self.names(param)}: {self.param(param, func)}" for param in func.params)
        level = "" if func.level is Level.LOOPS else f" -> {func.level.value}"
        self.add(0, f"def {identifier(func.name)}({params}){level}:")
        for size in func.sizes():
            if not (size.dtype is self.default and size.extent is None and size.min is const(0, self.default)):
                self.add(1, f"{self.names(size)}: size[{self.ranged(size)}]")
        for condition, reason in func.requires:
            self.add(1, f"assert {self.expr(condition)}, {reason!r}")
        self.suite(func.body, 1)
        return self.lines

    def param(self, param: Buffer | Var, func: Func) -> str:
        if isinstance(param, Var):
            return self.ranged(param)
        memory = self.memory(param)
        return f"out[{memory}]" if any(param is output for output in func.outputs) else memory

    def ranged(self, var: Var) -> str:
        """f32; i32[0:] of a variable with a least value; i32[0:n], i32[1:1 + n] with both."""
        if var.min is None:
            return var.dtype.short
        return f"{var.dtype.short}[{':'.join(self.span(var.min, var.extent, var.dtype.element))}]"

    def span(self, low: Expr, extent: Expr | None, want: DType | None) -> tuple[str, str]:
        """Return the texts of `low` and of the end, from which `low` and `extent` can be read back."""
        start = self.expr(low, want)
        if extent is None:
            return start, ""
        if isinstance(low, Const) and low.value == 0:
            return start, self.expr(extent, want)
        if isinstance(low, Const) and isinstance(extent, Const) and low.dtype is extent.dtype:
            return start, self.expr(Const(low.value + extent.value, low.dtype), want)
        if isinstance(extent, Sub) and extent.b is low and not isinstance(extent.a, (Const, Add)):
            return start, self.expr(extent.a, want)
        return start, self.expr(Add(low, extent), want)

    def memory(self, buffer: Buffer) -> str:
        """f32[m, n] of a compact global buffer; buffer(f32[m, n], 'shared', align=16) of any other."""
        extras = self.extras(buffer)
        kind = f"{buffer.dtype.short}[{', '.join(map(self.expr, buffer.shape)) or '()'}]"
        return f"buffer({', '.join([kind, *extras])})" if extras else kind

    def extras(self, buffer: Buffer) -> list[str]:
        found = [] if buffer.scope == "global" else [repr(buffer.scope)]
        if buffer.strides is not None:
            found.append(f"strides=[{', '.join(map(self.expr, buffer.strides))}]")
        if buffer.align != buffer.dtype.element.bytes:
            found.append(f"align={buffer.align}")
        return found

    def suite(self, root: Stmt, depth: int) -> None:
        """Print `root` as a whole suite; Let and Alloc open a scope that lasts to its end."""
        opened: list[Var | Buffer] = []
        pending = flattened(root)[::-1]
        if not pending:
            self.add(depth, "pass", root)
        while pending:
            stmt = pending.pop()
            if isinstance(stmt, (Let, Alloc)) and pending:  # its scope ends before the suite does
                self.add(depth, "with scope():")
                self.suite(stmt, depth + 1)
                continue
            self.cut(stmt, depth)
            if not isinstance(stmt, (Let, Alloc)):
                _PRINT[type(stmt)](self, stmt, depth)
            else:
                opened.append(self.let(stmt, depth) if isinstance(stmt, Let) else self.alloc(stmt, depth))
                pending += reversed(flattened(stmt.body))
        for thing in reversed(opened):
            self.names.release(thing)

    def cut(self, stmt: Stmt, depth: int) -> None:
        """Give names to the parts of a statement's expressions that are too large for one text."""
        for part in self.expr.parts:
            self.names.release(part)
        self.expr.parts.clear()
        for part in parts(_expressions(stmt)):
            value = self.expr(part)
            self.expr.parts[part] = name = self.names.give(part, "part")
            self.add(depth, f"({name} := {value})")

    def let(self, stmt: Let, depth: int) -> Var:
        plain = stmt.var.dtype is stmt.value.dtype and stmt.var.min is None
        kind = "" if plain else f": {self.ranged(stmt.var)}"
        value = self.expr(stmt.value, None if plain else stmt.var.dtype.element)
        self.add(depth, f"{self.names.give(stmt.var)}{kind} = {value}", stmt)
        return stmt.var

    def alloc(self, stmt: Alloc, depth: int) -> Buffer:
        """c: f32 of a 0-D local buffer, T = alloc(f32[8], 'shared') of any other."""
        buffer, name = stmt.buffer, self.names.give(stmt.buffer)
        kind, extras = buffer.dtype.short, self.extras(buffer)
        if stmt.copies > 1:
            extras.append(f"copies={stmt.copies}")
        if extras == ["'local'"] and not buffer.shape:
            self.add(depth, f"{name}: {kind}", stmt)
        else:
            shape = f"[{', '.join(map(self.expr, buffer.shape))}]" if buffer.shape else ""
            self.add(depth, f"{name} = alloc({', '.join([kind + shape, *extras])})", stmt)
        return buffer

    def loop(self, stmt: For, depth: int) -> None:
        arguments = [repr(stmt.thread)] if stmt.kind is LoopKind.THREAD else []
        arguments += self.bounds(stmt.var)
        if stmt.pragmas:
            pairs = ", ".join(f"({name!r}, {self.pragma(value)})" for name, value in stmt.pragmas)
            arguments.append(f"pragmas=[{pairs}]")
        name = self.names.give(stmt.var)
        self.add(depth, f"for {name} in {stmt.kind.value}({', '.join(arguments)}):", stmt)
        self.suite(stmt.body, depth + 1)
        self.names.release(stmt.var)

    def bounds(self, var: Var) -> list[str]:
        """n; or 1, n of a range that does not begin at 0; ? of a variable without a range, which is not well formed."""
        if var.min is None or var.extent is None:
            return ["?"]
        typed = None if isinstance(var.extent, Const) else var.extent.dtype.element
        start, end = self.span(var.min, var.extent, typed)
        return [end] if isinstance(var.min, Const) and var.min.value == 0 else [start, end]

    def pragma(self, value: Any) -> str:
        return self.expr(value) if isinstance(value, Expr) else repr(value)

    def launch(self, stmt: Launch, depth: int) -> None:
        tags = [identifier(tag) for tag, _ in stmt.threads]
        extents = ["?" if var.extent is None else self.expr(var.extent) for _, var in stmt.threads]
        names = [self.names.give(var) for _, var in stmt.threads]
        axes = ", ".join(f"{tag}={extent}" for tag, extent in zip(tags, extents, strict=True))
        renamed = "" if names == tags else f" as {names[0] if len(names) == 1 else '({})'.format(', '.join(names))}"
        self.add(depth, f"with launch({axes}){renamed}:", stmt)
        self.suite(stmt.body, depth + 1)
        for _, var in stmt.threads:
            self.names.release(var)

    def across(self, stmt: Across, depth: int) -> None:
        """with across(['threadIdx.x'], [b], [0.0], lambda x, y: x + y): parts, their first values, how two join."""
        combiner = stmt.combiner
        kinds = [buffer.dtype.element for buffer in stmt.buffers]
        start = [self.expr(value, kind) for value, kind in zip(combiner.identity, kinds, strict=True)]
        names = [self.names.give(var) for var in (*combiner.lhs, *combiner.rhs)]
        joins = [self.expr(value, kind) for value, kind in zip(combiner.result, kinds, strict=True)]
        for var in (*combiner.lhs, *combiner.rhs):
            self.names.release(var)
        join = joins[0] if len(joins) == 1 else f"({', '.join(joins)})"
        lists = (f"[{', '.join(parts)}]" for parts in (map(repr, stmt.threads), map(self.names, stmt.buffers), start))
        self.add(depth, f"with across({', '.join(lists)}, lambda {', '.join(names)}: {join}):", stmt)
        self.suite(stmt.body, depth + 1)

    def branch(self, stmt: If, depth: int) -> None:
        word = "if"
        while True:
            self.add(depth, f"{word} {self.expr(stmt.condition)}:", stmt)
            self.suite(stmt.then, depth + 1)
            rest = flattened(stmt.otherwise) if stmt.otherwise is not None else []
            if len(rest) != 1 or not isinstance(rest[0], If) or parts([rest[0].condition]):
                break
            stmt, word = rest[0], "elif"
        if rest:
            self.add(depth, "else:")
            self.suite(Seq(tuple(rest)), depth + 1)

    def store(self, stmt: Store, depth: int) -> None:
        target = "".join(
            piece if isinstance(piece, str) else self.expr(piece[0], piece[2], piece[1])
            for piece in self.expr.access(stmt.buffer, stmt.indices, stmt.mask)
        )
        value = stmt.value
        if isinstance(value, Broadcast) and value.lanes == stmt.lanes:
            value = value.value
        value = self.expr(value, stmt.buffer.dtype.element)
        comment = "" if stmt.loc is None else f"  # {stmt.loc}"
        self.add(depth, f"{target} = {value}{comment}", stmt)

    def evaluate(self, stmt: Evaluate, depth: int) -> None:
        self.add(depth, self.expr(stmt.value), stmt)


_PRINT: dict[type[Stmt], Callable[[_StmtText, Any, int], None]] = {
    For: _StmtText.loop,
    Launch: _StmtText.launch,
    Across: _StmtText.across,
    If: _StmtText.branch,
    Store: _StmtText.store,
    Evaluate: _StmtText.evaluate,
}


def _expressions(stmt: Stmt) -> list[Expr]:
    """Return a statement's expressions; a loop that is not well formed may lack its range."""
    if isinstance(stmt, For):
        return [bound for bound in (stmt.var.min, stmt.var.extent) if bound is not None]
    if isinstance(stmt, Launch):
        return [var.extent for _, var in stmt.threads if var.extent is not None]
    return list(stmt.expressions())


def headline(stmt: Stmt, level: Level = Level.LOOPS) -> str:
    """Return the line at which `stmt`, of a program of that level, begins."""
    return next((line for line, owner in lines(stmt, level) if owner is stmt), "")


def underlined(node: Stmt | Func, culprits: Sequence[Stmt]) -> str:
    """Return the text of `node` with a line of carets below each of the statements `culprits`."""
    out: list[str] = []
    for line, owner in lines(node):
        out.append(line)
        if any(owner is culprit for culprit in culprits):
            indent = len(line) - len(line.lstrip())
            out.append(" " * indent + "^" * (len(line) - indent))
    return "\n".join(out)


OPERATORS["repr"] = text
STMT_TEXT.append(lambda node: text(node).rstrip("\n"))
