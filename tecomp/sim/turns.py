"""Warps in turns: each runs to where it waits, then another that can go on does, whichever the seed decides."""

from __future__ import annotations

from typing import Any

from ..instructions.meeting import Waiting
from .faults import Stopped
from .gang import Gang


def in_turns(run: Any, started: list[tuple[Gang, Any]]) -> None:
    """Let warps run in an order that the seed decides, each as far as it can go."""
    waiting: dict[int, Waiting] = {}
    going = list(range(len(started)))
    while going:
        able = [one for one in going if one not in waiting or waiting[one].ready()]
        if not able:
            if run.flights.land_one():
                continue
            _deadlock(run, [waiting[one] for one in going])
        one = able[int(run.random.integers(len(able)))]
        waiting.pop(one, None)
        gang, steps = started[one]
        found = next(steps, None)
        if found is not None:
            waiting[one] = found
            continue
        going.remove(one)
        run.ended(gang)
    run.flights.end()


def _deadlock(run: Any, waiting: list[Waiting]) -> None:
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
