"""What every differential test does: find a legal schedule for a seed, run it on guarded arrays, compare with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tecomp.errors import UnsupportedError, UserError

from .draw import Case, Draw
from .guards import Guarded
from .programs import KINDS, case

ATTEMPTS = 20


class Legal(NamedTuple):
    """A program, its schedule, what lowering made of both, and what to say when it fails."""

    program: Case
    schedule: Any
    lowered: Any
    note: str


def legal_case(seed: int, schedule_of: Callable[[Case, Draw], Any], lower: Callable[[Any, list[Any]], Any]) -> Legal:
    """Return the program of a seed under a schedule that is legal.

    A place that turns out not to be around all readers is refused when the whole schedule is known: then other seeds
    of the same kind are tried, so that each seed runs a legal schedule.
    """
    refused: list[str] = []
    for attempt in range(ATTEMPTS):
        drawn = seed + attempt * 1000 * len(KINDS)
        program, draw = case(drawn)
        schedule = schedule_of(program, draw)
        try:
            lowered = lower(schedule, program.args)
        except (UserError, UnsupportedError) as refusal:
            refused.append(str(refusal))
        except Exception as failure:
            failure.add_note(note(seed, drawn, program, schedule))
            raise
        else:
            return Legal(program, schedule, lowered, note(seed, drawn, program, schedule))
    raise AssertionError(f"no legal schedule in {ATTEMPTS} attempts:\n" + "\n".join(refused))


def note(seed: int, drawn: int, program: Case, schedule: Any) -> str:
    """Return what a failure needs to be looked into."""
    sizes = ", ".join(f"{arg.name}{list(array.shape)}" for arg, array in (program.inputs | program.expected).items())
    return f"seed {seed}, case({drawn}): {program.kind}, {sizes}\n{schedule.text()}"


def check(what: str, program: Case, call: Callable[..., Any], arrays: Any = np, *, gaps: bool = False) -> None:
    """Call with guarded arrays of the module `arrays`; fail with `what` where results or guard words are wrong."""
    given = [
        Guarded.of(program.inputs[arg], arrays, gaps=gaps)
        if arg in program.inputs
        else Guarded(program.expected[arg].shape, str(arg.dtype), arrays, gaps=gaps)
        for arg in program.args
    ]
    try:
        call(*(one.array for one in given))
    except Exception as failure:
        failure.add_note(what)
        raise
    for arg, one in zip(program.args, given, strict=True):
        one.check(f"'{arg.name}' ({what})")
        want = program.inputs[arg] if arg in program.inputs else program.expected[arg]
        if want.dtype.kind == "f":
            np.testing.assert_allclose(one.numpy(), want, rtol=2e-5, atol=2e-5, err_msg=what)
        else:
            np.testing.assert_array_equal(one.numpy(), want, err_msg=what)
