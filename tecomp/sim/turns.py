"""Warps in turns: each runs to where it waits, then another that can go on does, whichever the seed decides."""

from __future__ import annotations

from typing import Any, Final

from ..instructions.meeting import Waiting
from .faults import Stopped
from .gang import Gang

ASKED: Final = 16
"""Who can go on is asked again when one in so many of all warps has had a turn."""


def in_turns(run: Any, started: list[tuple[Gang, Any]]) -> None:
    """Let warps run in an order that the seed decides, each as far as it can go."""
    waiting: dict[int, Waiting] = {}
    going = dict.fromkeys(range(len(started)))
    able: list[int] = []
    turns = 0
    while going:
        turns -= 1
        if turns < 0 or not able:
            able = [one for one in going if one not in waiting or waiting[one].ready()]
            turns = len(able) // ASKED
        if not able:
            if run.flights.land_one():
                continue
            _deadlock(run, [waiting[one] for one in going])
        at = int(run.random.integers(len(able)))
        able[at], able[-1] = able[-1], able[at]
        one = able.pop()
        if one in waiting and not waiting[one].ready():
            continue
        waiting.pop(one, None)
        gang, steps = started[one]
        found = next(steps, None)
        if found is not None:
            waiting[one] = found
            continue
        del going[one]
        run.ended(gang)
    run.flights.end()


def _deadlock(run: Any, waiting: list[Waiting]) -> None:
    for one in waiting:
        if one.kind != "deadlock":
            run.report(one.kind, "an instruction of a warp diverges", one.what(), one.site.stmt)
            raise Stopped
    groups: dict[str, list[str]] = {}
    for one in waiting:
        groups.setdefault(one.what(), []).append(f"thread ({one.gang.name(0)})")
    lines = [f"{_warps(first)} for {what}" for what, first in groups.items()]
    what = f"deadlock: {'1 warp waits' if len(waiting) == 1 else f'{len(waiting)} warps wait'} for what does not come"
    run.report("deadlock", what, "\n           ".join(lines), waiting[0].site.stmt)
    raise Stopped


def _warps(first: list[str]) -> str:
    """Return in words which warps, by their first threads, wait."""
    if len(first) == 1:
        return f"warp of {first[0]} waits"
    return f"warps of {', '.join(first[:4])}{' and others' if len(first) > 4 else ''} wait"
