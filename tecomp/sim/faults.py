"""What the simulator reports: faults of a program, each with the tensor, the place, the threads and the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ..errors import TecompError
from ..ir.func import Level
from ..ir.stmt import Stmt
from ..ir.text import headline
from ..location import Location

KINDS: Final = {
    "race": "a barrier, or an atomic update, between the two",
    "async": "a wait for the asynchronous operation, before what it touches is used",
    "bounds": "indices inside, or a guard around the access",
    "misaligned": "an address that is a multiple of what the instruction moves",
    "divergence": "the instruction outside the condition, so that all threads that must come to it do",
    "undefined": "operands for which the operation is defined",
    "uninitialised": "a store before it",
    "deadlock": "an arrival for each wait: counts, bytes and phases that agree",
    "limit": "a loop that ends; of a program that does, a larger bound, sim.options(steps=...), or fewer blocks=...",
    "atomic": "integers, or a reduction whose order is fixed",
}
"""Every kind of fault, with what would be right. A cause stands before what it may bring about."""
_RANKS: Final = {kind: rank for rank, kind in enumerate(KINDS)}


class Fault(NamedTuple):
    """One report."""

    kind: str
    what: str
    """What happened: "race on AS[3, 5]"."""
    because: str
    """Who did what, where."""
    stmt: Stmt | None = None
    """The statement that was running."""
    times: int = 1
    """In how many threads it happened at once."""
    legal: str = ""
    """What would be right, where that is not what it is for all of its kind."""

    @property
    def location(self) -> Location | None:
        """The user's line."""
        return None if self.stmt is None else self.stmt.loc


class SimulationFault(TecompError, RuntimeError):
    """The program does something that a GPU answers with a wrong result, a hang or an error.

    `faults` are all that were found before the simulator stopped, causes before what they bring about, and `kind` is
    that of the first: race, async, bounds, misaligned, divergence, undefined, uninitialised, deadlock, limit, atomic.
    """

    def __init__(self, kernel: str, faults: Sequence[Fault]) -> None:
        self.kernel, self.faults = kernel, tuple(sorted(faults, key=lambda fault: _RANKS[fault.kind]))
        first, *others = self.faults
        self.kind = first.kind
        more = [f"also {other.what}{_at(other)}: {other.because}" for other in others]
        super().__init__(
            f"{kernel}: {first.what}",
            because="\n           ".join([first.because, *more]),
            legal=first.legal or KINDS[first.kind],
            ir="" if first.stmt is None else headline(first.stmt, Level.FLAT),
            location=first.location,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by kernel and faults."""
        return type(self), (self.kernel, self.faults)


class Stopped(Exception):
    """The simulation cannot go on; its faults are noted."""


def _at(fault: Fault) -> str:
    return "" if fault.location is None else f" at {fault.location}"
