"""What the lanes of a warp give each other in the simulator, and updates that nothing can come between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..target.limits import WARP
from .sync_numpy import together
from .updates import UPDATES


def _source(own: Any, name: str, operand: Any) -> Any:
    """Return the lane whose value each lane is given; outside of the warp, none. Of operands, five bits count."""
    if name == "shuffle":
        return operand
    if name == "shuffle_xor":
        return own ^ operand
    return own - operand if name == "shuffle_up" else own + operand


def exchange(name: str) -> Callable[..., Any]:
    """Return the meaning of an exchange."""

    def run(g: Any, site: Any, mask: Any, value: Any, operand: Any, members: Any) -> Any:
        lanes = together(g, site, mask, members)
        g.run.tally("shuffle", len(np.unique(g.warp[lanes])))
        own = g.all_lanes % WARP
        source = _source(own, name, np.broadcast_to(operand, (g.size,)).astype(np.int64) % WARP)
        source = np.where((source >= 0) & (source < WARP), source, own)
        active = np.zeros(g.size, np.bool_)
        active[lanes] = True
        whole = (
            np.broadcast_to(value, (g.size, *np.shape(value)[1:]))
            if np.ndim(value) == 2
            else np.broadcast_to(value, (g.size,))
        )
        from_ = g.all_lanes - own + source
        bad = active & ~active[from_]
        if bad.any():
            lane = int(np.flatnonzero(bad)[0])
            because = f"thread ({g.name(lane)}) asks for lane {int(source[lane])}, which takes no part"
            g.run.report("undefined", f"{name} has no value", because, site.stmt, int(bad.sum()))
        return whole[from_]

    return run


def _vote(g: Any, site: Any, mask: Any, p: Any, members: Any) -> Any:
    """Return for each lane which lanes of its warp take part, and which of these say yes."""
    lanes = together(g, site, mask, members)
    g.run.tally("vote", len(np.unique(g.warp[lanes])))
    active = np.zeros(g.size, np.bool_)
    active[lanes] = True
    yes = active & np.broadcast_to(p, (g.size,))
    return active.reshape(-1, WARP), yes.reshape(-1, WARP)


def vote_all(g: Any, site: Any, mask: Any, p: Any, members: Any) -> Any:
    """Whether p holds in all lanes."""
    active, yes = _vote(g, site, mask, p, members)
    return np.repeat((yes | ~active).all(axis=1), WARP)


def vote_any(g: Any, site: Any, mask: Any, p: Any, members: Any) -> Any:
    """Whether p holds in a lane."""
    _, yes = _vote(g, site, mask, p, members)
    return np.repeat(yes.any(axis=1), WARP)


def vote_ballot(g: Any, site: Any, mask: Any, p: Any, members: Any) -> Any:
    """A bit for each lane in which p holds."""
    _, yes = _vote(g, site, mask, p, members)
    return np.repeat((yes.astype(np.int64) << np.arange(WARP)).sum(axis=1), WARP).astype(np.uint32)


def elect_one(g: Any, site: Any, mask: Any, members: Any) -> Any:
    """Whether this lane is the one that acts for all: the first."""
    active, _ = _vote(g, site, mask, np.bool_(True), members)
    first = active.argmax(axis=1)
    return (np.arange(WARP) == first[:, None]).ravel()


def atomic(name: str) -> Callable[..., None]:
    """Return the meaning of an update; several of one element happen in an order that the seed decides."""

    def run(g: Any, site: Any, mask: Any, at: Any, value: Any) -> None:
        if hasattr(at.memory, "rows"):
            _update_own(g, at, name, value, mask)
            return
        found = g.located(at.site, at.memory, np.broadcast_to(at.offset, (g.size,)), mask, "updates")
        g.checked_write(at.site, at.memory, found, atomic=True)
        data, x = at.memory.data, found.x
        more = np.broadcast_to(value, (g.size,))[found.lane].astype(data.dtype)
        if name in ("atomic_add", "atomic_mul"):
            _order_matters(g, site, at, found)
        order = g.run.random.permutation(len(x))
        UPDATES[name].numpy.at(data, x[order], more[order])

    return run


def _update_own(g: Any, at: Any, name: str, value: Any, mask: Any) -> Any:
    """Update registers, which no other thread has; return what was there before."""
    old = g.load(at.site, at.offset, mask)
    g.store(at.site, at.offset, UPDATES[name].numpy(old, np.asarray(value).astype(old.dtype)), mask)
    return old


def _order_matters(g: Any, site: Any, at: Any, found: Any) -> None:
    """Report floats that several threads add to in no order, where asked: each order rounds the sum otherwise."""
    memory, shadow = at.memory, at.memory.shadow
    if not g.run.options.deterministic or not memory.buffer.dtype.is_float or shadow is None or not len(found.x):
        return
    threads = g.threads[found.lane]
    _, inverse, counts = np.unique(found.x, return_inverse=True, return_counts=True)
    open_ = counts[inverse] > 1
    open_[shadow.writes.unordered(g.run.clock, found.x, threads)] = True
    if open_.any():
        first = int(np.flatnonzero(open_)[0])
        because = f"thread ({g.name(int(found.lane[first]))}) and another update it, and each order rounds otherwise"
        g.run.report("atomic", f"'{memory.place(int(found.x[first]))}' is not deterministic", because, site.stmt)


def fetch_add(g: Any, site: Any, mask: Any, at: Any, value: Any) -> Any:
    """Add, and return what was there before."""
    if hasattr(at.memory, "rows"):
        return _update_own(g, at, "atomic_add", value, mask)
    found = g.located(at.site, at.memory, np.broadcast_to(at.offset, (g.size,)), mask, "updates")
    g.checked_write(at.site, at.memory, found, atomic=True)
    _order_matters(g, site, at, found)
    data = at.memory.data
    more = np.broadcast_to(value, (g.size,)).astype(data.dtype)
    before = np.zeros(g.size, data.dtype)
    left = Counter(found.x.tolist())
    for position in g.run.random.permutation(len(found.x)):
        x, lane = int(found.x[position]), int(found.lane[position])
        before[lane] = data[x]
        data[x] = data[x] + more[lane]
        left[x] -= 1
        g.run.flags.update(g, at.memory, x, lane, left[x])
    return before


EXCHANGE_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    **{name: exchange(name) for name in ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")},
    "vote_all": vote_all,
    "vote_any": vote_any,
    "vote_ballot": vote_ballot,
    "elect_one": elect_one,
    "fetch_add": fetch_add,
}
"""What each does."""
ATOMICS_NUMPY: Final[dict[str, Callable[..., Any]]] = {name: atomic(name) for name in UPDATES}
"""What updates do that give nothing."""
