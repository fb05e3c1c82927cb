"""Random programs under random schedules: LLVM and the interpreter against NumPy.

A failure prints its seed; `pytest "tests/differential/test_random.py::test_llvm[17]"` runs that one again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp.errors import ScheduleError
from tecomp.ir.interpret import interpret

from .guards import Guarded
from .programs import Case, case
from .schedules import random_schedule

SEEDS = range(336)


def _lowered(seed: int, lower: Callable[[Any, list[Any]], Any]) -> tuple[Case, Any, Any]:
    """Return the case of a seed, its schedule and what `lower` makes of it.

    A place that turns out not to be around all readers is refused when the whole schedule is known: then other seeds
    of the same kind are tried, so that each seed runs a legal schedule.
    """
    refused: list[str] = []
    for attempt in range(20):
        program, draw = case(seed + attempt * 12_000)
        schedule = random_schedule(program, draw)
        try:
            return program, schedule, lower(schedule, program.args)
        except ScheduleError as refusal:
            refused.append(str(refusal))
    raise AssertionError("no legal schedule in 20 attempts:\n" + "\n".join(refused))


def _run(seed: int, program: Case, schedule: Any, call: Callable[..., Any]) -> None:
    arrays = [
        Guarded.of(program.inputs[arg])
        if arg in program.inputs
        else Guarded(program.expected[arg].shape, str(arg.dtype))
        for arg in program.args
    ]
    call(*(array.array for array in arrays))
    note = f"seed {seed}: {program.kind}\n{schedule.text()}"
    for arg, array in zip(program.args, arrays, strict=True):
        array.check(f"'{arg.name}' ({note})")
        want = program.inputs[arg] if arg in program.inputs else program.expected[arg]
        if want.dtype.kind == "f":
            np.testing.assert_allclose(array.array, want, rtol=2e-5, atol=2e-5, err_msg=note)
        else:
            np.testing.assert_array_equal(array.array, want, err_msg=note)


@pytest.mark.parametrize("seed", SEEDS)
def test_llvm(seed: int) -> None:
    """The compiled function equals NumPy, and no guard word changes."""
    program, schedule, module = _lowered(seed, lambda s, args: tecomp.build(s, args, target="llvm"))
    _run(seed, program, schedule, module)


@pytest.mark.parametrize("seed", SEEDS)
def test_interpreter(seed: int) -> None:
    """The loop program as lowered equals NumPy; the interpreter also checks every index."""
    program, schedule, func = _lowered(seed, tecomp.lower)
    _run(seed, program, schedule, lambda *arrays: interpret(func, *arrays))
