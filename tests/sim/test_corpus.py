"""The corpus of kernels with planted faults: each compiles, and the simulator says of each what is wrong with it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tecomp
from tecomp.ir import parse, text, verify
from tests.sim.agreement import simulated
from tests.sim.corpus import CORPUS, FAULTS, TOOLS, Case
from tests.sim.sanitizer import FINDS

FAULTY = [case for case in CORPUS if case.fault]
CLEAN = [case for case in CORPUS if not case.fault]


def test_there_are_as_many_as_the_tools_are_compared_on() -> None:
    assert len(CLEAN) >= 36 and len(FAULTY) >= 36
    assert max(Counter(case.name for case in CORPUS).values()) == 1
    assert {case.fault for case in CORPUS} == {*FAULTS} and {case.tool for case in FAULTY} == {*TOOLS, ""}
    assert all(case.tool in ("", *TOOLS) and FINDS.get(case.tool, case.fault) == case.fault for case in CORPUS)


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_it_compiles(case: Case) -> None:
    func = parse(case.text)
    verify(func)
    assert parse(text(func)) is not None
    assert "warning" not in tecomp.build(func, target="cuda -arch=sm_90a").artifact.log


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_the_simulator_reports_what_was_planted(case: Case) -> None:
    assert simulated(case) == case.fault


def test_faults_lie_in_kernels_that_are_right_but_for_them() -> None:
    """The clean ones tell what they compute, all but few."""
    assert sum(case.expected is None for case in CLEAN) == 0
    assert all(isinstance(case.arrays(np.random.default_rng(0)), list) for case in CORPUS)
