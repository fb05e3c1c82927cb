"""What a thread was told of others by atomic updates: of all threads of some blocks, of single threads, and how many
updates of an element came before its own.

In a row of blocks each is told what all before it were, and only few ask: what several know together is put together
when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

Epochs = Mapping[int, int]
Updates = Mapping[tuple[int, int], int]
"""How many updates of an element, by its memory and its place."""
_NONE: Final[Mapping[Any, int]] = MappingProxyType({})
_DEEPEST: Final = 4096
"""After how many joins they are put together unasked."""


class Told:
    """The epochs up to which threads are known: all of a block, by its number, and single ones, by theirs."""

    __slots__ = ("_depth", "_own", "_parts")

    def __init__(self, blocks: Epochs = _NONE, threads: Epochs = _NONE, updates: Updates = _NONE) -> None:
        self._own: tuple[Mapping[Any, int], ...] = (blocks, threads, updates)
        self._parts: tuple[Told, ...] = ()
        self._depth = 0

    def joined(self, other: Told) -> Told:
        """Return what both know together."""
        if other is self or other is NOTHING:
            return self
        if self is NOTHING:
            return other
        both = Told()
        both._parts, both._depth = (self, other), max(self._depth, other._depth) + 1
        if both._depth > _DEEPEST:
            both._all()
        return both

    def before(self, block: int, thread: int, epoch: int) -> bool:
        """Return whether what a thread of a block did in an epoch is known."""
        blocks, threads, _ = self._all()
        return epoch < max(blocks.get(block, 0), threads.get(thread, 0))

    @property
    def blocks(self) -> Epochs:
        """The epochs up to which all threads of blocks are known."""
        return self._all()[0]

    @property
    def updates(self) -> Updates:
        """How many updates of elements are known."""
        return self._all()[2]

    def _all(self) -> tuple[Mapping[Any, int], ...]:
        if self._parts:
            known: tuple[dict[Any, int], ...] = ({}, {}, {})
            for part in self._leaves():
                for sums, more in zip(known, part._own, strict=True):
                    sums.update({key: max(value, sums.get(key, 0)) for key, value in more.items()})
            self._own, self._parts, self._depth = known, (), 0
        return self._own

    def _leaves(self) -> Iterator[Told]:
        stack, seen = [self], {id(self)}
        while stack:
            one = stack.pop()
            yield one
            fresh = [part for part in one._parts if id(part) not in seen]
            seen.update(map(id, fresh))
            stack += fresh


NOTHING: Final = Told()
