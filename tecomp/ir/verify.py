"""Well-formedness by level: every node is asked the questions of its type, in one walk that keeps the scopes.

A fault found here is one of the compiler, whichever pass it comes from; the message shows the program with the
statement underlined.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import InternalError
from . import expr as E
from .func import Func
from .node import Expr
from .stmt import Across, Alloc, Buffer, For, If, Launch, Let, Stmt, Store
from .text import flattened, underlined
from .wellformed import TABLES


def verify(func: Func) -> None:
    """Raise InternalError unless `func` is well formed for its level."""
    _Walk(func).run()


class _Walk:
    """One pass over a function: scopes are kept, and every node is asked the questions of its type."""

    def __init__(self, func: Func) -> None:
        self.func, self.table = func, TABLES[func.level]
        self.scope: set[Any] = {*func.params, *func.sizes()}
        self.asked: set[Expr] = set()
        self.launched = False

    def run(self) -> None:
        """Check parameters, then the body."""
        for output in self.func.outputs:
            if not any(output is param for param in self.func.params):
                raise InternalError(f"verify: output {output.name!r} of {self.func.name} is no parameter")
        self.suite(self.func.body)

    def fail(self, stmt: Stmt, because: str) -> None:
        asked, shown = f"verify: {self.func.name} is not well formed", underlined(self.func, [stmt])
        raise InternalError(asked, because=because, ir=shown, location=stmt.loc)

    def suite(self, root: Stmt) -> None:
        """Check a suite in order; what a Let or an Alloc at its end opens lasts to there."""
        opened: list[Any] = []
        pending = flattened(root)[::-1]
        while pending:
            stmt = pending.pop()
            self.stmt(stmt)
            if not isinstance(stmt, (Let, Alloc)):
                continue
            thing = stmt.var if isinstance(stmt, Let) else stmt.buffer
            if pending:
                self.scoped([thing], stmt.body, stmt)
            else:
                self.open(thing, stmt)
                opened.append(thing)
                pending += reversed(flattened(stmt.body))
        self.close(opened)

    def open(self, thing: Any, stmt: Stmt) -> None:
        """Begin the scope of a variable or buffer."""
        if thing in self.scope:
            self.fail(stmt, f"{thing.name!r} is bound inside its own scope")
        self.scope.add(thing)

    def close(self, things: Iterable[Any]) -> None:
        """End scopes; expressions checked inside are not known to be right outside."""
        for thing in things:
            self.scope.discard(thing)
            self.asked.clear()

    def scoped(self, things: list[Any], body: Stmt, stmt: Stmt) -> None:
        """Check `body`, in which `things` are bound."""
        for thing in things:
            self.open(thing, stmt)
        self.suite(body)
        self.close(things)

    def stmt(self, stmt: Stmt) -> None:
        """Check one statement, its expressions and, but for Let and Alloc, what is below it."""
        for question in self.table.get(type(stmt), ()):
            because = question.ask(stmt, self.func.level)
            if because is not None:
                self.fail(stmt, because)
        for expr in stmt.expressions():
            self.expr(expr, stmt)
        for buffer in _written(stmt):
            self.declared(buffer, stmt)
        match stmt:
            case For():
                self.scoped([stmt.var], stmt.body, stmt)
            case Launch():
                self.launch(stmt)
            case If() | Across():
                for part in stmt.substatements():
                    self.suite(part)
            case _:
                pass

    def launch(self, stmt: Launch) -> None:
        if self.launched:
            self.fail(stmt, "a launch inside a launch")
        self.launched = True
        self.scoped([var for _, var in stmt.threads], stmt.body, stmt)
        self.launched = False

    def declared(self, thing: E.Var | Buffer, stmt: Stmt) -> None:
        if thing not in self.scope:
            kind = "variable" if isinstance(thing, E.Var) else "buffer"
            self.fail(stmt, f"{kind} {thing.name!r} is used outside its scope")

    def expr(self, root: Expr, stmt: Stmt) -> None:
        """Check an expression and all below it that was not checked in this scope."""
        stack = [root]
        while stack:
            node = stack.pop()
            if node in self.asked:
                continue
            self.asked.add(node)
            if isinstance(node, E.Var):
                self.declared(node, stmt)
            elif isinstance(node, (E.Load, E.Address)):
                self.declared(node.buffer, stmt)
            for question in self.table.get(type(node), ()):
                because = question.ask(node, self.func.level)
                if because is not None:
                    self.fail(stmt, because)
            stack += node.operands()


def _written(stmt: Stmt) -> tuple[Buffer, ...]:
    """Return the buffers that a statement itself writes."""
    if isinstance(stmt, Across):
        return stmt.buffers
    return (stmt.buffer,) if isinstance(stmt, Store) else ()
