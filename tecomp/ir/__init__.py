"""What a program is: expressions, statements, functions; their text, their meaning."""

from .func import Func, Level
from .interpret import evaluate, interpret
from .node import Expr
from .stmt import Buffer, Stmt
from .text import text

__all__ = ["Buffer", "Expr", "Func", "Level", "Stmt", "evaluate", "interpret", "text"]
