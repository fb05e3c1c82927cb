"""Random programs under random schedules: LLVM and the interpreter against NumPy.

A failure prints its seed; `pytest "tests/differential/test_random.py::test_llvm[17]"` runs that one again.
"""

from __future__ import annotations

import pytest

import tecomp
from tecomp.ir.interpret import interpret

from .running import check, legal_case, note
from .schedules import random_schedule

SEEDS = range(336)


@pytest.mark.parametrize("seed", SEEDS)
def test_llvm(seed: int) -> None:
    """The compiled function equals NumPy, and no guard word changes."""
    program, schedule, module = legal_case(seed, random_schedule, lambda s, args: tecomp.build(s, args, target="llvm"))
    check(note(seed, program, schedule), program, module)


@pytest.mark.parametrize("seed", SEEDS)
def test_interpreter(seed: int) -> None:
    """The loop program as lowered equals NumPy; the interpreter also checks every index."""
    program, schedule, func = legal_case(seed, random_schedule, tecomp.lower)
    check(note(seed, program, schedule), program, lambda *arrays: interpret(func, *arrays))
