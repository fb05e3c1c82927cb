"""Reading a hybrid function: its statements are run once, on expressions, and what they do is written down.

    for i in range(n):            For(i, range, Store(b, [i], Add(Load(a, [i]), 1.0)))
        b[i] = a[i] + 1.0    ->

What Python knows then (constants, the shape of a loop, a call of another hybrid function) leaves no trace; the tables
of `statements`, `loops`, `expressions` and `functions` are the language.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...errors import UserError
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from .block import Block
from .expressions import EXPRESSIONS
from .memory import Memory, reads_memory
from .names import Names, assignments
from .scripted import Scripted
from .source import Source, in_the_language
from .statements import STATEMENTS
from .written import Written


class Parser:
    """Reads one function, called with `arguments`."""

    def __init__(
        self, source: Source, arguments: Mapping[str, Any], captured: Mapping[str, Any], written: Written
    ) -> None:
        self.source, self.written = source, written
        self.names = Names(arguments, captured)
        self.assigned = assignments(source.tree)
        self.depth = len(written.blocks)
        self.returned: tuple[Memory, ...] | None = None

    def inside(self, function: Scripted, arguments: Mapping[str, Any]) -> tuple[Memory, ...]:
        """Write down another function that this one calls."""
        return Parser(function.source, arguments, function.captured(), self.written).run()

    def run(self) -> tuple[Memory, ...]:
        """Write down the whole function; return its results."""
        self.written.functions.append(self.source)
        self.statements(self.source.tree.body)
        self.written.functions.pop()
        if self.returned is None:
            raise self.refuse(
                self.source.tree,
                "it returns nothing",
                "its results are the tensors that it returns",
                "return b, where b = output_tensor(shape, dtype)",
            )
        for buffer, error in self.written.early.items():
            if buffer not in self.written.stored:
                raise error
        return self.returned

    def refuse(self, node: ast.AST, what: str, because: str = "", legal: str | Sequence[str] = "") -> UserError:
        """Return the refusal of a node."""
        return self.source.refuse(node, what, because, legal)

    def statements(self, body: Sequence[ast.stmt]) -> None:
        """Read statements one after the other."""
        for node in body:
            if self.returned is not None:
                raise self.refuse(
                    node, "a statement after return", "nothing runs after it", "return as the last statement"
                )
            STATEMENTS.get(type(node), STATEMENTS[ast.stmt])(self, node)

    def value(self, node: ast.expr) -> Any:
        """Return what an expression is: a constant of Python, an Expr, memory, a function."""
        return EXPRESSIONS.get(type(node), EXPRESSIONS[ast.expr])(self, node)

    def number(self, node: ast.expr) -> Any:
        """Return what an expression is as a number: of Python, or an Expr."""
        return self.as_number(node, self.value(node))

    def as_number(self, node: ast.expr, value: Any) -> Any:
        """Return the value of `node` as a number; of a tensor without dimensions its element."""
        if isinstance(value, Memory) and value.ndim == 0:
            return self.load(node, value, ())
        if isinstance(value, (bool, int, float, Expr)):
            return value
        raise self.refuse(
            node, f"{ast.unparse(node)} as a number", f"it is {describe(value)}", "a number, an element of a tensor"
        )

    def load(self, node: ast.expr, memory: Memory, indices: tuple[Expr, ...]) -> Expr:
        """Return an element of memory, which was written before.

        Under a condition in a loop an earlier iteration may have written it; then something in the function must.
        """
        written = self.written
        if memory.buffer not in written.stored:
            error = self.refuse(
                node,
                f"'{memory.name}' is read before it is written",
                f"it is {memory.role.value} and holds anything until an element is stored",
                f"store to '{memory.name}' first",
            )
            if not (written.loops and written.guards):
                raise error
            written.early.setdefault(memory.buffer, error)
        return make.load(memory.buffer, indices)

    def apply(self, node: ast.AST, function: Callable[..., Any], *args: Any) -> Any:
        """Return function(*args); what it refuses points at the node."""
        try:
            return function(*args)
        except UserError as error:
            raise self.refuse(node, *map(in_the_language, (error.asked, error.because, error.legal))) from None

    def condition(self, node: ast.expr) -> bool | Expr:
        """Return a condition: decided, where Python knows it, or a bool expression."""
        value = self.value(node)
        if not isinstance(value, (Expr, Memory)):
            return bool(value)
        value = self.as_number(node, value)
        if not value.dtype.is_bool:
            raise self.refuse(
                node,
                f"{ast.unparse(node)} as a condition",
                f"it is {value.dtype}",
                f"a comparison, such as {ast.unparse(node)} != 0",
            )
        return bool(value.value) if isinstance(value, E.Const) else value

    @contextmanager
    def under(self, condition: Expr) -> Generator[None]:
        """Read what is only evaluated where a condition holds."""
        self.written.guards.append(condition)
        yield
        self.written.guards.pop()

    @contextmanager
    def nested(self, node: ast.stmt) -> Generator[Block]:
        """Read a block inside the statement `node`: its names end with it."""
        self.written.blocks.append(Block())
        self.names.open()
        yield self.written.block
        self.names.close(self.source.at(node).line)
        self.written.blocks.pop()

    def held(self, name: str, value: Expr, node: ast.AST) -> Expr:
        """Return an expression that keeps its value whatever is stored later: itself, or a name given to it here."""
        if value.dtype.is_float or reads_memory(value):
            var = E.Var(name, value.dtype)
            self.written.block.let(var, value, self.source.line(node))
            return var
        return value


def describe(value: Any) -> str:
    """Say what a value is that is no number."""
    if isinstance(value, Memory):
        return f"a tensor of {value.ndim} dimension{'' if value.ndim == 1 else 's'}"
    return f"a {type(value).__name__}" if value is not None else "None"
