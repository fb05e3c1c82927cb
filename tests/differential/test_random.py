"""Random programs under random schedules: LLVM and the interpreter against NumPy.

A failure prints its seed; `pytest "tests/differential/test_random.py::test_llvm[17]"` runs that one again.
"""

from __future__ import annotations

import pytest

import tecomp
from tecomp.ir.interpret import interpret

from .running import check, legal_case
from .schedules import random_schedule

SEEDS = range(336)
STRIDED = range(0, 336, 5)


@pytest.mark.parametrize("seed", SEEDS)
def test_llvm(seed: int) -> None:
    """The compiled function equals NumPy, and no guard word changes.

    Of every fifth also the variant for arrays whose elements do not follow one another: it leaves what lies between
    them alone.
    """
    legal = legal_case(seed, random_schedule, lambda s, args: tecomp.build(s, args, target="llvm"))
    check(legal.note, legal.program, legal.lowered)
    if seed in STRIDED:
        check(f"with gaps, {legal.note}", legal.program, legal.lowered, gaps=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_interpreter(seed: int) -> None:
    """The loop program as lowered equals NumPy; the interpreter also checks every index."""
    legal = legal_case(seed, random_schedule, tecomp.lower)
    check(legal.note, legal.program, lambda *arrays: interpret(legal.lowered, *arrays))
