"""Where the text of a large expression is cut: into parts with names, so that Python can read it back.

Python's parser refuses deep nesting, and an expression whose parts are shared may be far larger as a tree than it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .node import Expr

DEEPEST: Final = 40
"""How many operators stand inside each other in one text: each may cost Python two of its 200 brackets."""
LARGEST: Final = 2000
"""How many nodes are written in one text."""


def parts(roots: Iterable[Expr]) -> list[Expr]:
    """Return the expressions below `roots` that get a name, each before those that contain it; most often none."""
    measures: dict[Expr, tuple[int, int]] = {}
    found: list[Expr] = []
    stack = list(roots)
    while stack:
        node = stack[-1]
        operands = [] if node in measures else node.operands()
        waiting = [operand for operand in operands if operand not in measures]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if node in measures:
            continue
        below = [measures[operand] for operand in operands]
        depth, size = 1 + max((depth for depth, _ in below), default=0), 1 + sum(size for _, size in below)
        if depth > DEEPEST or size > LARGEST:
            found.append(node)
            depth, size = 1, 1
        measures[node] = depth, size
    return found
