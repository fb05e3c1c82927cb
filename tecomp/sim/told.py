"""What a thread was told of others by atomic updates: of all threads of some blocks, of single threads, and how many
updates of an element came before its own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

Epochs = Mapping[int, int]
Updates = Mapping[tuple[int, int], int]
"""How many updates of an element, by its memory and its place."""
_NONE: Final[Mapping[Any, int]] = MappingProxyType({})


class Told(NamedTuple):
    """The epochs up to which threads are known: all of a block, by its number, and single ones, by theirs."""

    blocks: Epochs = _NONE
    threads: Epochs = _NONE
    updates: Updates = _NONE

    def joined(self, other: Told) -> Told:
        """Return what both know together."""
        return self if other is self else Told(*map(_joined, self, other))

    def before(self, block: int, thread: int, epoch: int) -> bool:
        """Return whether what a thread of a block did in an epoch is known."""
        return epoch < max(self.blocks.get(block, 0), self.threads.get(thread, 0))


def _joined(a: Mapping[Any, int], b: Mapping[Any, int]) -> Mapping[Any, int]:
    return {**a, **{key: max(epoch, a.get(key, 0)) for key, epoch in b.items()}}


NOTHING: Final = Told()
