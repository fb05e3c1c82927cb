"""Where threads meet under the interpreter other than at barriers: they join parts of a reduction, or lanes exchange.

A thread that comes to such a place waits there until all it meets have come, and goes on with what they gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..target.limits import WARP
from .evaluate import evaluate
from .interpret_memory import Fault
from .interpret_races import Clock, Turn
from .stmt import Across


class Parts(NamedTuple):
    """A thread has folded its parts, and waits for those of all threads along the axes that the statement names."""

    stmt: Across
    values: tuple[Any, ...]

    def group(self, number: int, turns: Sequence[Turn]) -> Any:
        """Return what the threads that meet this one have in common."""
        return _apart(self.stmt, turns[number])

    def missing(self, members: Mapping[int, Parts], turns: Sequence[Turn]) -> list[int]:
        """Return the numbers of those that have not come."""
        own = _apart(self.stmt, turns[next(iter(members))])
        return [number for number, turn in enumerate(turns) if number not in members and _apart(self.stmt, turn) == own]

    def given(self, members: Mapping[int, Parts]) -> dict[int, tuple[Any, ...]]:
        """Return for each thread the join of all parts."""
        combiner, (first, *others) = self.stmt.combiner, members.values()
        result = first.values
        for other in others:
            known = dict(zip((*combiner.lhs, *combiner.rhs), (*result, *other.values), strict=True))
            result = tuple(evaluate(value, known) for value in combiner.result)
        return dict.fromkeys(members, result)


class Shuffle(NamedTuple):
    """A lane gives a value at `site`, and asks for another lane's: for the one of that number, or the one whose number
    differs from its own in those bits. It waits for the lanes of its warp that the mask names."""

    site: Any
    name: str
    value: Any
    lane: int
    mask: int

    def group(self, number: int, turns: Sequence[Turn]) -> Any:
        """Return what the lanes that meet this one have in common."""
        return number // WARP, self.mask

    def missing(self, members: Mapping[int, Shuffle], turns: Sequence[Turn]) -> list[int]:
        """Return the numbers of those that have not come; raise Fault where the mask is not of the lanes there are."""
        first = next(iter(members)) // WARP * WARP
        named = [first + lane for lane in range(WARP) if self.mask >> lane & 1]
        wrong = next((number for number in (*members, *named) if number not in named or number >= len(turns)), None)
        if wrong is not None:
            raise Fault(f"the mask {self.mask} of an exchange is wrong about lane {wrong - first}")
        return [number for number in named if number not in members]

    def given(self, members: Mapping[int, Shuffle]) -> dict[int, Any]:
        """Return for each lane the value of the one it asked for."""
        found: dict[int, Any] = {}
        for number, asked in members.items():
            own = number % WARP
            lane = _LANES[asked.name](own, asked.lane)
            other = members.get(number - own + lane) if 0 <= lane < WARP else None
            if other is None:
                raise Fault(f"lane {own} reads lane {lane}, which takes no part")
            found[number] = other.value
        return found


_LANES: Final[dict[str, Callable[[int, int], int]]] = {
    "shuffle": lambda own, lane: lane,
    "shuffle_xor": lambda own, bits: own ^ bits,
    "shuffle_up": lambda own, delta: own - delta if own >= delta else own,
    "shuffle_down": lambda own, delta: own + delta if own + delta < WARP else own,
}
"""Whose value a lane gets by each exchange."""


class Together(NamedTuple):
    """A thread has come to what its whole warp does at `site`, once, by `run`; `clock` tells whose doing it is."""

    site: Any
    clock: Clock
    turn: Turn
    run: Callable[[], None]

    def group(self, number: int, turns: Sequence[Turn]) -> Any:
        """Return the warp."""
        return number // WARP

    def missing(self, members: Mapping[int, Together], turns: Sequence[Turn]) -> list[int]:
        """Return the numbers of those that have not come; raise Fault where the warp is not whole."""
        first = next(iter(members)) // WARP * WARP
        if first + WARP > len(turns):
            raise Fault(f"a warp of {len(turns) - first} threads comes to what {WARP} do together")
        return [number for number in range(first, first + WARP) if number not in members]

    def given(self, members: Mapping[int, Together]) -> dict[int, None]:
        """Do it once for all; return nothing for each thread."""
        self.clock.turn = self.turn
        self.run()
        return dict.fromkeys(members)


Meeting = Parts | Shuffle | Together


def _apart(stmt: Across, turn: Turn) -> tuple[int, ...]:
    """Return where a thread is along the axes that do not join."""
    return tuple(at for tag, at in zip(turn.tags, turn.thread, strict=True) if tag not in stmt.threads)


def met(turns: Sequence[Turn], waiting: Sequence[Any]) -> dict[int, Any]:
    """Return what each thread is given whose partners have all come; `waiting` is where each thread of a block stands.

    Raises Fault when no thread that meets others can go on.
    """
    groups: dict[Any, dict[int, Any]] = {}
    for number, place in enumerate(waiting):
        if isinstance(place, Meeting):
            groups.setdefault((place[0], place.group(number, turns)), {})[number] = place
    found: dict[int, Any] = {}
    late: list[tuple[int, int]] = []
    for members in groups.values():
        number, place = next(iter(members.items()))
        missing = place.missing(members, turns)
        if missing:
            late.append((number, missing[0]))
        else:
            found.update(place.given(members))
    if late and not found:
        here, absent = late[0]
        raise Fault(f"thread ({turns[here]}) waits for thread ({turns[absent]}), which does not come")
    return found
