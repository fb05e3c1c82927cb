"""What each name of a hybrid function means, block by block."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

MISSING: Final = object()
"""What a name stands for that means nothing here."""


class LoopVariable(NamedTuple):
    """The variable of a loop, which the loop alone changes."""

    value: Any


class Names:
    """The names in the blocks around the statement that is read, then those that the function captured."""

    def __init__(self, arguments: Mapping[str, Any], captured: Mapping[str, Any]) -> None:
        self.arguments, self.captured = dict(arguments), captured
        self.blocks: list[dict[str, Any]] = [dict(arguments)]
        self.ended: dict[str, int] = {}
        """The line of the block in which a name was made that has ended."""

    def open(self) -> None:
        """Begin a block."""
        self.blocks.append({})

    def close(self, line: int) -> None:
        """End the block that begins at `line`, and with it the names made there."""
        self.ended |= dict.fromkeys(self.blocks.pop(), line)

    def bind(self, name: str, value: Any) -> None:
        """Give a name its meaning for the rest of the block."""
        self.ended.pop(name, None)
        self.blocks[-1][name] = value

    def local(self, name: str) -> Any:
        """Return what a name was made to mean in the function, MISSING where it was not."""
        return next((block[name] for block in reversed(self.blocks) if name in block), MISSING)

    def find(self, name: str) -> Any:
        """Return what a name means, MISSING where nothing; a name whose block has ended is not looked up outside."""
        found = self.local(name)
        return found if found is not MISSING or name in self.ended else self.captured.get(name, MISSING)


def assignments(function: ast.FunctionDef) -> Counter[str]:
    """Return how often each name is assigned: more than once makes it a variable. x += 1 counts as two."""
    found: Counter[str] = Counter()
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [part for target in targets for part in ast.walk(target)]
            names = [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
            found.update(names * (2 if isinstance(node, ast.AugAssign) else 1))
    return found
