"""Trees as lists, for pickling: a node is a row that names its parts by their places in the list, before it.

    a + b * 2    ->    [a, b, 2, (Mul, (1, 2)), (Add, (0, 3))]

Python's pickle goes as deep as what it writes, so a tree of thousands of levels must not be one for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Rows = list[Any]


def rows_of(root: Any, below: Callable[[Any], Iterable[Any]], row: Callable[[Any, dict[Any, int]], Any]) -> Rows:
    """Return a row for each node below `root`, every node after its parts, `root` last. Each node stands there once.

    below  gives the parts of a node that are nodes
    row    makes the row of a node, given the places of those before it
    """
    places: dict[Any, int] = {}
    rows: Rows = []
    stack = [root]
    while stack:
        node = stack[-1]
        waiting = [part for part in below(node) if part not in places]
        if node not in places and waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        if node not in places:
            rows.append(row(node, places))
            places[node] = len(rows) - 1
    return rows


def placed(part: Any, places: dict[Any, int]) -> Any:
    """Return the place of a node, the places of a tuple of nodes, None of nothing."""
    if isinstance(part, tuple):
        return tuple(places[node] for node in part)
    return None if part is None else places[part]


def found(part: Any, nodes: Rows) -> Any:
    """Return the node at a place, the nodes at a tuple of places, nothing for None."""
    if isinstance(part, tuple):
        return tuple(nodes[place] for place in part)
    return None if part is None else nodes[part]
