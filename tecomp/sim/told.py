"""What a thread was told of others by atomic updates: of all threads of some blocks, and of single threads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

Epochs = Mapping[int, int]
_NONE: Final[Epochs] = MappingProxyType({})


class Told(NamedTuple):
    """The epochs up to which threads are known: all of a block, by its number, and single ones, by theirs."""

    blocks: Epochs = _NONE
    threads: Epochs = _NONE

    def joined(self, other: Told) -> Told:
        """Return what both know together."""
        return self if other is self else Told(_joined(self.blocks, other.blocks), _joined(self.threads, other.threads))

    def before(self, block: int, thread: int, epoch: int) -> bool:
        """Return whether what a thread of a block did in an epoch is known."""
        return epoch < max(self.blocks.get(block, 0), self.threads.get(thread, 0))


def _joined(a: Epochs, b: Epochs) -> Epochs:
    return {**a, **{key: max(epoch, a.get(key, 0)) for key, epoch in b.items()}}


NOTHING: Final = Told()
