"""How a simulation runs: the seed of everything that has no order, what is looked for, how far it may go."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

from ..errors import UserError

TOGETHER, APART = "together", "apart"
MOST_STEPS: Final = 2_000_000
MOST_THREADS: Final = 1 << 16
MOST_FAULTS: Final = 8


@dataclass(frozen=True)
class Options:
    """What `tecomp.sim.options` says."""

    seed: int = 0
    """Decides which warp goes first, and which asynchronous operation ends first."""
    sanitize: bool = True
    """Whether races are looked for, and whether asynchronous operations see what was written; all else always is."""
    deterministic: bool = False
    """Whether atomic updates whose result depends on their order are faults."""
    warps: str = ""
    """together: threads in step; apart: each warp by itself. Empty: as the kernel needs it."""
    blocks: int | Sequence[int] | None = None
    """Only so many blocks of each launch, evenly spread, or those of these numbers; None is all."""
    steps: int = MOST_STEPS
    """How many statements, each by many threads at once, and launches may run in a call: it is a fault to need more."""
    threads: int = MOST_THREADS
    """How many threads run in step at most."""
    faults: int = MOST_FAULTS
    """After how many faults the simulation stops."""


_USUAL: Final = Options()
_CURRENT: Final[ContextVar[Options]] = ContextVar("options", default=_USUAL)


def current() -> Options:
    """Return the options in force."""
    return _CURRENT.get()


def options(**given: Any) -> AbstractContextManager[Options]:
    """Let simulations in the block run with these options: seed, sanitize, deterministic, warps, blocks, steps, ...

    UserError for one that there is not, or not with that value.
    """
    known = Options.__dataclass_fields__
    for name, value in given.items():
        if name not in known:
            raise UserError(f"tecomp.sim.options({name}={value!r})", f"there is no option {name!r}", list(known))
        fault = _fault(name, value)
        if fault:
            raise UserError(f"tecomp.sim.options({name}={value!r})", *fault)
    return _in_force(given)


@contextmanager
def _in_force(given: dict[str, Any]) -> Generator[Options]:
    token = _CURRENT.set(replace(_CURRENT.get(), **given))
    try:
        yield _CURRENT.get()
    finally:
        _CURRENT.reset(token)


def _fault(name: str, value: Any) -> tuple[str, str] | None:
    if name in ("sanitize", "deterministic"):
        return None if isinstance(value, bool) else ("it is neither True nor False", "True, False")
    if name == "warps":
        return None if value in ("", TOGETHER, APART) else ("warps run together or apart", f"{TOGETHER!r}, {APART!r}")
    if name == "blocks":
        listed = isinstance(value, (list, tuple, range)) and len(value) and all(_is_at_least(0, one) for one in value)
        fits = value is None or listed or _is_at_least(1, value)
        return (
            None
            if fits
            else ("it says which blocks run", "a number of blocks, 1 or more; a list of their numbers; None")
        )
    least = 0 if name == "seed" else 1
    return None if _is_at_least(least, value) else (f"it is an integer of {least} or more", "")


def _is_at_least(least: int, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
