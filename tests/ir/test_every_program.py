"""Random programs under random schedules, after every pass: their text is read back as they were.

A failure prints its seed and its pass.
"""

from __future__ import annotations

import pytest

import tecomp
from tecomp.errors import ScheduleError
from tecomp.ir.alpha import difference
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes.manager import Trace
from tests.differential.gpu_schedules import random_gpu_schedule
from tests.differential.programs import KINDS, case
from tests.differential.schedules import random_schedule

SCHEDULES = {"llvm": random_schedule, "cuda -arch=sm_90a": random_gpu_schedule}


def traced(seed: int, target: str) -> Trace:
    """Return the program of a seed after every pass; other seeds of its kind are tried where a schedule is refused."""
    for attempt in range(20):
        program, draw = case(seed + attempt * 1000 * len(KINDS))
        try:
            return tecomp.lower(SCHEDULES[target](program, draw), program.args, target=target, trace=True)
        except ScheduleError:
            continue
    raise AssertionError(f"seed {seed}: no legal schedule in 20 attempts")


@pytest.mark.parametrize("target", SCHEDULES)
@pytest.mark.parametrize("seed", range(80))
def test_text_is_read_back(seed: int, target: str) -> None:
    trace = traced(seed, target)
    assert len(trace) > 1
    for step in trace:
        read = parse(text(step.func))
        assert difference(step.func, read) == "", f"seed {seed} after {step.name}"
        assert text(parse(text(read))) == text(read)
