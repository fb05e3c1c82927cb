"""Lanes on the two sides of a branch, each of which may wait for the other: whichever can go on does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..instructions.meeting import Waiting


def side_by_side(g: Any, started: list[Iterator[Waiting]]) -> Iterator[Waiting]:
    """Run the sides of a branch in turns, as the seed decides, and wait where none can go on."""
    if len(started) == 1:
        yield from started[0]
        return
    waits: list[Waiting | None] = [None] * len(started)
    while started:
        able = [at for at, wait in enumerate(waits) if wait is None or wait.ready()]
        if able:
            at = able[int(g.run.random.integers(len(able)))]
            waits[at] = next(started[at], None)
            if waits[at] is not None:
                continue
            del started[at], waits[at]
        else:
            yield _either([wait for wait in waits if wait is not None])


def _either(waits: list[Waiting]) -> Waiting:
    """Return what is there when one of several is."""
    return waits[0]._replace(
        ready=lambda: any(wait.ready() for wait in waits),
        what=lambda: " and ".join(dict.fromkeys(wait.what() for wait in waits)),
    )
