"""The text of a hybrid function: its syntax tree, and for each node of it the user's line and column."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...errors import UserError, UserTypeError
from ...location import Location


class Source:
    """One function as it was written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__name__
        self.file, self.lines, self.first = _text(function)
        self.indent = len(self.lines[0]) - len(self.lines[0].lstrip())
        self.tree = _definition(self, ast.parse(textwrap.dedent("".join(self.lines))))

    def at(self, node: ast.AST) -> Location:
        """Return the line and column at which a node begins."""
        line: int = getattr(node, "lineno", 1)
        before = self.lines[line - 1][self.indent :].encode()[: getattr(node, "col_offset", 0)]
        return Location(self.file, self.first + line - 1, self.indent + len(before.decode()))

    def line(self, node: ast.AST) -> Location:
        """Return the line of a node: what a statement of the program says of its origin."""
        return self.at(node)._replace(column=0)

    def refuse(self, node: ast.AST, what: str, because: str = "", legal: str | Sequence[str] = "") -> UserError:
        """Return the refusal of a node, which points at its column."""
        return UserError(self.asked(what), because, legal, location=self.at(node))

    def asked(self, what: str) -> str:
        """Return what an error of this function was asked."""
        return f"te.hybrid '{self.name}': {what}"


_WORDS: Final = (
    (r"te\.any, te\.all, te\.if_then_else", "and, or, x if c else y"),
    (r"\b(\w+)\.astype\('(\w+)'\)", r"\2(\1)"),
    (r"\.astype\('(\w+)'\)", r"\1(...)"),
    (r"\bte\.(?!(?:hybrid|var)\b)", ""),
)
"""How an error of te says something, and how a hybrid function would."""


def in_the_language(said: str) -> str:
    """Return a part of an error of te in the words of a hybrid function: exp for te.exp, float32(x) for x.astype."""
    for pattern, words in _WORDS:
        said = re.sub(pattern, words, said)
    return said


def _text(function: Callable[..., Any]) -> tuple[str, list[str], int]:
    """Return the file, the lines from the first decorator on, and the number of the first of them."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise UserError(
            f"te.hybrid.script of '{function.__name__}'",
            because=f"its source cannot be read ({error}), and a hybrid function is made of its source",
            legal="a function defined in a file or a notebook",
        ) from None
    return inspect.getsourcefile(function) or function.__code__.co_filename, lines, first


def _definition(source: Source, module: ast.Module) -> ast.FunctionDef:
    found = module.body[0]
    if isinstance(found, ast.FunctionDef):
        return found
    raise UserTypeError(
        f"te.hybrid.script of '{source.name}'",
        because="it is no function written with def",
        legal="@te.hybrid.script above a def",
        location=Location(source.file, source.first),
    )
