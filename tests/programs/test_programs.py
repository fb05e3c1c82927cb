"""Each program of the table gives what NumPy does: compiled, interpreted, and those for GPUs on one.

`pytest tests/programs -k softmax` runs the programs whose names have the word.
"""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tecomp
from tests.cases.places import CUDA
from tests.cases.places import Program as Place
from tests.differential.gpu_memory import GuardedAllocations

from .subject import PROGRAMS, Subject

NO_FAMILY = ("subject", "test_porting", "test_programs")
FAMILIES = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py") if path.stem not in NO_FAMILY)
for _family in FAMILIES:
    importlib.import_module(f".{_family}", __package__)


def sized(gpu: bool, large: bool = False) -> list[Any]:
    """Return the parameters (name, size) of all programs for that processor, the large sizes too where asked for."""
    return [
        pytest.param(name, size, id=f"{name}-{'x'.join(map(str, size))}")
        for name, program in PROGRAMS.items()
        if program.gpu == gpu
        for size in [*program.small, *(program.large if large else ())]
    ]


def largest() -> list[Any]:
    """Return the parameters (name, size) of each GPU program at its largest size."""
    last = {name: [*program.small, *program.large][-1] for name, program in PROGRAMS.items() if program.gpu}
    return [pytest.param(name, size, id=name) for name, size in last.items()]


def run(where: str, subject: Subject) -> None:
    """Run a program in one of the places of `tests/cases/places.py`, and compare."""
    count = len(subject.inputs)
    inputs = dict(zip(subject.args[:count], subject.inputs, strict=True))
    outputs = dict(zip(subject.args[count:], subject.outputs, strict=True))
    Place(where, subject.schedule, subject.args)(inputs, outputs, subject.near)


@pytest.mark.parametrize(("name", "size"), sized(gpu=False, large=True))
def test_llvm(name: str, size: tuple[int, ...]) -> None:
    run("llvm", PROGRAMS[name].make(*size))


@pytest.mark.parametrize(("name", "size"), [*sized(gpu=False), *sized(gpu=True)])
def test_interpreter(name: str, size: tuple[int, ...]) -> None:
    run("interpreter", PROGRAMS[name].make(*size))


@pytest.mark.parametrize(("name", "size"), sized(gpu=True))
def test_device(name: str, size: tuple[int, ...]) -> None:
    """The program that CUDA is printed from: no race, no read of what was not written, barriers that all reach."""
    run("device", PROGRAMS[name].make(*size))


@pytest.mark.parametrize("where", ["simulator", "apart"])
@pytest.mark.parametrize(("name", "size"), sized(gpu=True))
def test_simulator(where: str, name: str, size: tuple[int, ...]) -> None:
    """What CUDA is printed from, all threads at once, and each warp by itself."""
    run(where, PROGRAMS[name].make(*size))


@pytest.mark.parametrize(("name", "size"), largest())
def test_nvrtc(name: str, size: tuple[int, ...]) -> None:
    """NVRTC takes it, and does not warn that wgmma is serialized or memory unaligned."""
    subject = PROGRAMS[name].make(*size)
    artifact = tecomp.build(subject.schedule, subject.args, target=CUDA).artifact
    assert artifact.binary
    assert "C75" not in artifact.log


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "size"), sized(gpu=True, large=True))
def test_gpu(name: str, size: tuple[int, ...]) -> None:
    """Poisoned outputs become what they should; no guard word around arguments or temporaries changes."""
    with GuardedAllocations(importlib.import_module("cupy")) as temporaries:
        run("gpu", PROGRAMS[name].make(*size))
    temporaries.check(name)


def test_sixty_programs() -> None:
    """Each module has programs, and there are many."""
    counts = Counter(program.family for program in PROGRAMS.values())
    assert sorted(counts) == FAMILIES
    assert counts.total() >= 60
