"""The arguments of the calls in a hybrid function."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .parser import Parser


def positional(parser: Parser, node: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call of numbers, none of them given by name."""
    if node.keywords:
        raise parser.refuse(
            node, ast.unparse(node), f"{node.keywords[0].arg or '**'} is given by name", "arguments by position"
        )
    return node.args


def bound(parser: Parser, node: ast.Call, names: str, defaults: tuple[Any, ...] = ()) -> list[Any]:
    """Return the values of a call's arguments by the order of `names`; the last ones may have defaults."""
    parameters = names.split()
    given = dict(zip(parameters, node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    required = parameters[: len(parameters) - len(defaults)]
    fits = len(node.args) <= len(parameters) and set(required) <= set(given) <= set(parameters)
    if not fits or len(given) < len(node.args) + len(node.keywords):
        raise parser.refuse(
            node, ast.unparse(node), "it takes other arguments", f"{ast.unparse(node.func)}({', '.join(parameters)})"
        )
    values = dict(zip(parameters[len(required) :], defaults, strict=True))
    return [parser.value(given[name]) if name in given else values[name] for name in parameters]


def called(parser: Parser, node: ast.Call, function: Callable[..., Any]) -> Any:
    """Return a function of numbers of the arguments of a call."""
    values = [parser.number(arg) for arg in positional(parser, node)]
    try:
        inspect.signature(function).bind(*values)
    except TypeError as error:
        raise parser.refuse(node, ast.unparse(node), str(error), f"{_parameters(node, function)}") from None
    return parser.apply(node, function, *values)


def _parameters(node: ast.Call, function: Callable[..., Any]) -> str:
    names = ", ".join(str(p).split(":")[0] for p in inspect.signature(function).parameters.values())
    return f"{ast.unparse(node.func)}({names})"
