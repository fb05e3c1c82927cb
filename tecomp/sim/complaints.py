"""What is wrong with an access, in words: each function looks, and reports what it finds."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..instructions.touching import Located
from .memory import GLOBAL, Memory
from .shadow import Conflict
from .site import Site
from .values import Array

BETWEEN_BLOCKS: Final = "an atomic update, a launch for each of the two, or barrier_grid between them"
"""What orders what two blocks do."""


def outside(g: Any, site: Site, memory: Memory, flat: Array, lane: Array, bad: Array, verb: str) -> None:
    """Report elements that a memory does not have."""
    at = int(np.flatnonzero(bad)[0])
    where = f"element {int(flat[at])}, outside its {memory.count}"
    what = f"'{memory.named(int(flat[at]))}' is accessed: {where}"
    shape = ", ".join(map(str, memory.shape()))
    because = f"thread ({g.name(lane[at])}) {verb} it; the shape is [{shape}]"
    g.run.report("bounds", what, because, site.stmt, int(bad.sum()))


def unwritten(g: Any, site: Site, memory: Memory, found: Located, missing: Array) -> None:
    """Report elements that nothing was stored to."""
    at = int(np.flatnonzero(missing)[0])
    because = f"thread ({g.name(found.lane[at])}) reads it, and no store has written it"
    what = f"'{memory.place(int(found.x[at]))}' in {memory.buffer.scope} memory holds nothing"
    g.run.report("uninitialised", what, because, site.stmt, int(missing.sum()))


def in_flight(g: Any, site: Site, memory: Memory, found: Located, touched: Array, verb: str) -> None:
    """Report elements that an asynchronous operation has in its hands."""
    if not touched.any():
        return
    at = int(np.flatnonzero(touched)[0])
    assert memory.flight is not None
    operation = g.run.operation(abs(int(memory.flight[found.x[at]])))
    because = f"thread ({g.name(found.lane[at])}) {verb} it, while {operation} has not been waited for"
    what = f"'{memory.place(int(found.x[at]))}' in {memory.buffer.scope} memory is in flight"
    g.run.report("async", what, because, site.stmt, int(touched.sum()))


def race(g: Any, site: Site, memory: Memory, found: Located, conflict: Conflict, verb: str) -> None:
    """Report elements that two threads touch, one of them writing, with nothing between."""
    at = int(conflict.at[0])
    x, lane = int(found.x[at]), int(found.lane[at])
    other = g.run.other_name(memory, x, int(conflict.others[0]))
    earlier = g.run.sites[int(conflict.sites[0])].stmt
    where = "" if earlier.loc is None or earlier is site.stmt else f" at {earlier.loc}"
    because = f"thread ({g.name(lane)}) {verb} it, {other} {conflict.verb} it{where}, and nothing orders the two"
    what = f"race on '{memory.place(x)}' in {memory.buffer.scope} memory"
    who = int(conflict.others[0])
    apart = memory.owner == GLOBAL and who >= 0 and who // g.run.lanes != int(g.threads[lane]) // g.run.lanes
    g.run.report("race", what, because, site.stmt, len(conflict.at), BETWEEN_BLOCKS if apart else "")


def misaligned(g: Any, site: Site, memory: Memory, found: Located, index: Any, verb: str) -> None:
    """Report vectors that are moved together and are not at a multiple of what is moved at once."""
    item = memory.data.itemsize
    first = found.x if found.at is None else found.x[found.at % index.shape[1] == 0]
    first = first[:: index.shape[1]] if found.at is None else first
    wrong = np.flatnonzero((memory.address + first % max(memory.count, 1) * item) % site.align)
    if len(wrong):
        what = f"'{memory.place(int(first[wrong[0]]))}' is not at a multiple of {site.align} bytes"
        because = f"a thread {verb} {site.align} bytes there at once"
        g.run.report("misaligned", what, because, site.stmt, len(wrong))
