"""THE TABLE of statements: what each kind of Python statement does in a hybrid function."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...arith import can_prove
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.stmt import If, Stmt
from ...ir.visit import walk
from .assign import assign, augment
from .loops import for_statement
from .memory import Memory, Role

if TYPE_CHECKING:
    from .parser import Parser


def _if(parser: Parser, node: ast.If) -> None:
    condition = parser.condition(node.test)
    if isinstance(condition, bool):
        parser.statements(node.body if condition else node.orelse)
        return
    then = _branch(parser, node, node.body, condition)
    otherwise = _branch(parser, node, node.orelse, make.logical_not(condition)) if node.orelse else None
    parser.written.block.add(If(condition, then, otherwise, loc=parser.source.line(node)))


def _branch(parser: Parser, node: ast.If, body: list[ast.stmt], condition: Expr) -> Stmt:
    with parser.under(condition), parser.nested(node) as block:
        parser.statements(body)
        return block.stmt()


def _assert(parser: Parser, node: ast.Assert) -> None:
    """What is asserted of sizes and scalars is checked by each call; of loops and data it must be known here."""
    condition = parser.condition(node.test)
    text = node.msg.value if isinstance(node.msg, ast.Constant) else ""
    reason = f"'{parser.source.name}' asserts {ast.unparse(node.test)}" + (f": {text}" if text else "")
    if condition is True or (isinstance(condition, Expr) and can_prove(condition)):
        return
    if condition is False:
        raise parser.refuse(node, f"assert {ast.unparse(node.test)}", f"it does not hold{f': {text}' if text else ''}")
    assert isinstance(condition, Expr)
    inside = parser.written.loops or parser.written.guards
    if inside or any(isinstance(part, E.Load) for part in walk(condition)):
        raise parser.refuse(
            node,
            f"assert {ast.unparse(node.test)}",
            "what depends on loops or on data cannot be checked before the program runs",
            "a condition on sizes and scalars, before the loops; an if",
        )
    parser.written.requires.append((condition, reason))


def _return(parser: Parser, node: ast.Return) -> None:
    if len(parser.written.blocks) > parser.depth:
        raise parser.refuse(node, "return in a block", "a function has one end", "return as the last statement")
    found = None if node.value is None else parser.value(node.value)
    values: list[Memory] = []
    for value in found if isinstance(found, tuple) else (found,):
        if not isinstance(value, Memory) or value.role is not Role.OUTPUT:
            what = f"'{value.name}' is {value.role.value}" if isinstance(value, Memory) else "it is no tensor"
            raise parser.refuse(
                node,
                f"{ast.unparse(node)}",
                f"{what}, and results are made by output_tensor",
                "b = output_tensor(shape, dtype)",
            )
        if value.buffer not in parser.written.stored:
            raise parser.refuse(node, ast.unparse(node), f"'{value.name}' is never written", "a store to its elements")
        values.append(value)
    if len(set(values)) < len(values):
        raise parser.refuse(node, ast.unparse(node), "each result is returned once", "return b, or return b, c")
    parser.returned = tuple(values)


def _expression(parser: Parser, node: ast.Expr) -> None:
    """A text alone is a comment."""
    if not isinstance(node.value, ast.Constant):
        value = parser.value(node.value)
        raise parser.refuse(node, ast.unparse(node), f"its value, {value!r}, is not used", "x = ...")


_REFUSED: Final[dict[type[ast.stmt], tuple[str, str, str]]] = {
    ast.While: ("while", "how often it runs is known only when it has run", "for i in range(n), with an if inside"),
    ast.Break: ("break", "the iterations of a loop are known before it runs", "an if around the rest of the body"),
    ast.Continue: (
        "continue",
        "the iterations of a loop are known before it runs",
        "an if around the rest of the body",
    ),
    ast.With: ("with", "it is no part of the language", "for, if, assignments"),
    ast.Try: ("try", "a compiled program raises nothing", "an if"),
    ast.Raise: ("raise", "a compiled program raises nothing", "assert, of sizes and scalars"),
    ast.FunctionDef: (
        "a function in a function",
        "it is no part of the language",
        "another hybrid function beside this one",
    ),
    ast.ClassDef: ("a class", "it is no part of the language", "for, if, assignments"),
    ast.Global: ("global", "what is outside the function is constant", "an argument, a result"),
    ast.Nonlocal: ("nonlocal", "what is outside the function is constant", "an argument, a result"),
    ast.Import: ("import", "it is no part of the language", "functions of te by their name alone"),
    ast.ImportFrom: ("import", "it is no part of the language", "functions of te by their name alone"),
    ast.Delete: ("del", "names last to the end of their block", "leave it out"),
    ast.AnnAssign: ("an annotation", "types come from values", "x = float32(0)"),
}


def _refused(parser: Parser, node: ast.stmt) -> None:
    what, because, legal = _REFUSED.get(
        type(node), (ast.unparse(node), "it is no part of the language", "for, if, assignments")
    )
    raise parser.refuse(node, what, because, legal)


STATEMENTS: Final[dict[type[ast.stmt], Callable[[Parser, Any], None]]] = {
    ast.Assign: assign,
    ast.AugAssign: augment,
    ast.For: for_statement,
    ast.If: _if,
    ast.Assert: _assert,
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Pass: lambda parser, node: None,
    ast.stmt: _refused,
}
"""By kind of node; the last row is of all others."""
