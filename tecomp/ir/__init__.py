"""What a program is: expressions, statements, functions; their text, their meaning."""

from ..absent import absent
from .alpha import alpha_equal
from .evaluate import ExecutionError, evaluate
from .func import Func, Level
from .interpret import interpret
from .node import Expr
from .parse import parse
from .parse_expr import parse_expr
from .stmt import Buffer, Stmt
from .text import text
from .verify import verify

__all__ = [
    "Buffer",
    "ExecutionError",
    "Expr",
    "Func",
    "Level",
    "Stmt",
    "alpha_equal",
    "evaluate",
    "interpret",
    "parse",
    "parse_expr",
    "text",
    "verify",
]


def __getattr__(name: str) -> object:
    raise absent(__name__, name)
