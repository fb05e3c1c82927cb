"""What threads of the simulator have begun and not waited for: copies and multiplications, in groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np


class Group(NamedTuple):
    """Operations that were committed together, by the threads of `lanes`."""

    operations: list[Any]
    lanes: Any


class Groups:
    """The groups of one kind of operation, the oldest first; `open` are not in one yet."""

    def __init__(self) -> None:
        self.open: list[Any] = []
        self.groups: list[Group] = []

    def commit(self, lanes: Any) -> None:
        """Make a group of what is open; what other threads have begun too stays open for them."""
        self.groups.append(Group(self.open, lanes))
        self.open = [one for one in self.open if not np.isin(one.lane, lanes).all()]
        self._forget()

    def _forget(self) -> None:
        """Leave out what has ended: a long pipeline waits for few, however many it has begun."""
        self.open = [one for one in self.open if not _has_ended(one)]
        while self.groups and all(map(_has_ended, self.groups[0].operations)):
            self.groups.pop(0)

    def older(self, newest: int, lanes: Any, size: int) -> Iterator[tuple[Any, Any]]:
        """Yield the operations that threads wait for who leave the `newest` groups alone, oldest first, each with the
        threads for which it is one of these."""
        later = np.zeros(size, np.int64)
        found: list[tuple[Group, Any]] = []
        waiting = np.zeros(size, np.bool_)
        waiting[lanes] = True
        for group in reversed(self.groups):
            own = np.zeros(size, np.bool_)
            own[group.lanes] = True
            found.append((group, own & waiting & (later >= newest)))
            later += own
        for group, chosen in reversed(found):
            if chosen.any():
                for operation in group.operations:
                    yield operation, chosen

    def unended(self) -> Iterator[Any]:
        """Yield all operations, those in no group too."""
        self._forget()
        for group in self.groups:
            yield from group.operations
        yield from self.open


def _has_ended(operation: Any) -> bool:
    return np.size(operation.lane) == 0 or getattr(operation, "done", False)


class Pending:
    """What the threads of one gang have begun."""

    def __init__(self) -> None:
        self.copies, self.stores, self.products = Groups(), Groups(), Groups()
        self.puts = 0
        """How often registers were stored to."""
        self.fenced = -1
        """The number of stores to registers at the last wgmma_fence."""
