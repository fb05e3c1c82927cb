"""Random programs under random schedules that move stages and their memory: LLVM and the interpreter against NumPy."""

from __future__ import annotations

import pytest

import tecomp
from tecomp.ir.interpret import interpret

from .layouts import random_layout
from .running import check, legal_case

SEEDS = range(120)


@pytest.mark.parametrize("seed", SEEDS)
def test_llvm(seed: int) -> None:
    """The compiled function equals NumPy, and no guard word changes."""
    legal = legal_case(seed, random_layout, lambda s, args: tecomp.build(s, args, target="llvm"))
    check(legal.note, legal.program, legal.lowered)


@pytest.mark.parametrize("seed", SEEDS)
def test_interpreter(seed: int) -> None:
    """The loop program as lowered equals NumPy; the interpreter also checks every index."""
    legal = legal_case(seed + 1000, random_layout, tecomp.lower)
    check(legal.note, legal.program, lambda *arrays: interpret(legal.lowered, *arrays))
