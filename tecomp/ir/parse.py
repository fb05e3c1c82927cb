"""Programs read back from their text: `parse(text(f))` is `f` but for identities and the user's lines."""

from __future__ import annotations

import ast

from . import expr as E
from .func import Func, Level
from .make import const
from .node import Expr
from .parse_declare import declared_size, is_scalar, names_of_values, output_of
from .parse_expr import SourceText, python_tree, too_deep
from .parse_stmt import Statements
from .stmt import Buffer
from .syntax import default_integer


def parse(source: str) -> Func:
    """Return the function whose text `source` is; ParseError, with line and column, for anything else."""
    tree = python_tree(source)
    text = SourceText(source)
    head = tree.body[0] if len(tree.body) == 1 else None
    if not isinstance(head, ast.FunctionDef):
        place = (tree.body or [ast.Pass(lineno=1, col_offset=0)])[-1]
        raise text.error(place, "a program is one def")
    level = _level(text, head.returns)
    try:
        return _FuncReader(text, default_integer(level)).func(head, level)
    except RecursionError:
        raise too_deep() from None


def _level(text: SourceText, returns: ast.expr | None) -> Level:
    if returns is None:
        return Level.LOOPS
    levels = [level.value for level in Level]
    if isinstance(returns, ast.Name) and returns.id in levels:
        return Level(returns.id)
    raise text.error(returns, "no level", ", ".join(levels))


class _FuncReader(Statements):
    """Reads one def: its parameters, sizes, requirements, body."""

    def func(self, head: ast.FunctionDef, level: Level) -> Func:
        """Return the function: scalars and declared sizes come first, since shapes may name them."""
        annotations = {argument.arg: self.annotation(argument) for argument in head.args.args}
        body = head.body
        for name, annotation in annotations.items():
            if is_scalar(annotation):
                self.bind(name, self.variable(name, annotation))
        while body and (size := declared_size(body[0])) is not None:
            self.bind(size[0], self.variable(*size))
            body = body[1:]
        outputs: list[Buffer] = []
        for name, annotation in annotations.items():
            if not is_scalar(annotation):
                self.parameter(name, annotation, outputs)
        requires: list[tuple[Expr, str]] = []
        while body and isinstance(body[0], ast.Assert):
            requires.append(self.requirement(body[0]))
            body = body[1:]
        params = tuple(self.scope[name] for name in annotations)
        return Func(head.name, params, tuple(outputs), self.suite(body), level, tuple(requires))

    def annotation(self, argument: ast.arg) -> ast.expr:
        if argument.annotation is None:
            raise self.text.error(argument, f"parameter {argument.arg!r} has no type", "X: f32[n], n: i32")
        return argument.annotation

    def parameter(self, name: str, annotation: ast.expr, outputs: list[Buffer]) -> None:
        """Bind a buffer, and as a size each name in its shape that means nothing yet."""
        inner = output_of(annotation) or annotation
        for size in names_of_values(inner):
            if size not in self.scope:
                self.bind(size, E.Var(size, self.default, const(0, self.default)))
        buffer = self.bind(name, self.memory(name, inner))
        if inner is not annotation:
            outputs.append(buffer)

    def requirement(self, node: ast.Assert) -> tuple[Expr, str]:
        """Read assert condition, 'reason'."""
        return self.expr(node.test), self.plain(node.msg) if node.msg is not None else ""
