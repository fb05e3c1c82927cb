"""Seeds and ways to run change nothing of a program that is right, and hide nothing of one that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import sim
from tecomp.ir import parse
from tecomp.sim.function import programs
from tecomp.target import Target
from tests.sim.corpus import CORPUS, Case

from .kernels import TARGET
from .sanitizer import arguments

CLEAN = [case for case in CORPUS if not case.fault]
FAULTY = [case for case in CORPUS if case.fault == "race"]


def spread(cases: list[Case], count: int) -> list[Case]:
    """Return so many of them, evenly."""
    return [cases[at * len(cases) // count] for at in range(count)]


WAITING = [
    case for case in CLEAN if any(name in case.text for name in ("mbarrier", "barrier_named", "cp_async", "grid"))
]
PIPELINES = WAITING + [case for case in spread(CLEAN, 24) if case not in WAITING]
assert len(PIPELINES) >= 20


def left(module: tecomp.module.Module, case: Case, **options: object) -> list[np.ndarray]:
    given = arguments(case)
    sim.simulate(module, *given, **options)
    return [array for array in given if isinstance(array, np.ndarray)]


@pytest.mark.parametrize("case", PIPELINES, ids=lambda case: case.name)
def test_what_is_right_is_the_same_under_every_seed(case: Case) -> None:
    """Sums are of whole numbers, so that no order of updates rounds."""
    module = tecomp.build(parse(case.text), target=TARGET)
    first = left(module, case)
    kernels = programs(module.ir, Target.of(TARGET).hardware).values()
    ways = ["", "apart"] if any(one.between_warps for one in kernels) else ["", "apart", "together"]
    runs = [{"seed": seed} for seed in range(10)] + [{"seed": seed, "warps": way} for way in ways for seed in (0, 5)]
    for run in runs:
        for array, want in zip(left(module, case, **run), first, strict=True):
            np.testing.assert_array_equal(array, want, str(run))


@pytest.mark.parametrize("case", spread(FAULTY, 16), ids=lambda case: case.name)
def test_what_is_wrong_is_reported_under_every_seed(case: Case) -> None:
    module = tecomp.build(parse(case.text), target=TARGET)
    found = []
    for seed in range(5):
        with pytest.raises(sim.SimulationFault) as caught:
            left(module, case, seed=seed)
        found.append({one.kind for one in caught.value.faults})
    assert all(kinds & {"race", "async"} for kinds in found)


def test_the_seed_decides_who_is_first() -> None:
    """What order leaves open comes out otherwise under another seed, and the same under the same."""
    text = """
def first(B: out[i32[64]], N: out[i32[1]]) -> device:
    with launch(threadIdx_x=64) as t:
        old = fetch_add(address(N[0], 'rwu'), i32(1))
        B[index(old)] = i32(t)
"""
    module = tecomp.build(parse(text), target=TARGET)
    orders = []
    for seed in (0, 0, 1, 2):
        out = np.zeros(64, "i4")
        sim.simulate(module, out, np.zeros(1, "i4"), seed=seed)
        assert sorted(out) == list(range(64))
        orders.append(tuple(out))
    assert orders[0] == orders[1] and len(set(orders)) == 3
