"""docs/simulator.md: every kind of fault has an example that gives it, every instruction and every option a row."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

import tecomp
from tecomp.ir import parse
from tecomp.sim import SimulationFault, simulate
from tecomp.sim.faults import KINDS
from tecomp.sim.instructions import MEANINGS
from tecomp.sim.options import Options

PAGE = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text()
HEAD = """
def f(A: f32[64], B: out[f32[64]]) -> device:
    with launch(threadIdx_x=64) as t:
        S = alloc(f32[64], 'shared')
"""


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table behind a text."""
    lines = PAGE[PAGE.index(heading) :].splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("|---"))
    last = next((at for at in range(first, len(lines)) if not lines[at].startswith("|")), len(lines))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[first + 1 : last]]


EXAMPLES = {kind.strip("`| "): example.strip("`| ") for kind, _, example in table("## What the reports mean")}


def test_every_kind_has_an_example() -> None:
    assert list(EXAMPLES) == list(KINDS)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_example_gives_it(kind: str) -> None:
    text = HEAD + "".join(f"        {line}\n" for line in EXAMPLES[kind].split("; "))
    module = tecomp.build(parse(text), target="cuda-sim -arch=sm_90a")
    with pytest.raises(SimulationFault) as caught:
        simulate(module, np.ones(64, "f4"), np.zeros(64, "f4"), steps=1000, deterministic=kind == "atomic")
    assert caught.value.kind == kind


def test_every_instruction_has_a_row() -> None:
    patterns = [name for row in table("## What instructions do") for name in re.findall(r"`([\w*]+)`", row[0])]
    for name in MEANINGS:
        assert any(fnmatchcase(name, pattern) for pattern in patterns), name
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in MEANINGS), pattern


def test_every_option_has_a_row() -> None:
    assert [row[0].strip("`| ") for row in table("tecomp.sim.profile(module")] == list(Options.__dataclass_fields__)
