"""Kernels as text that are right, and what is said of each when a line of it is another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np
import pytest

import tecomp
from tecomp import sim
from tecomp.ir.parse import parse
from tecomp.sim import SimulationFault

TARGET = "cuda-sim -arch=sm_90a"
SEEDS = range(3)


class Row(NamedTuple):
    """A kernel, what makes the arguments of a call, and what the last of them holds behind it."""

    text: str
    arrays: Callable[[], list[Any]]
    expected: Callable[..., Any]
    """Of the arguments as they were given."""


class Wrong(NamedTuple):
    """A kernel of a name with `new` in place of `old`, everywhere, and the kind of fault that is reported.

    `race, deadlock` is one or the other, as the seed has it.
    """

    name: str
    old: str
    new: str
    kind: str


def built(text: str, target: str = TARGET) -> tecomp.module.Module:
    """Return the kernel of a program's text."""
    return tecomp.build(parse(dedent(text)), target=target)


def left(text: str, *arrays: Any, **options: Any) -> list[Any]:
    """Return what a kernel leaves in copies of the arrays."""
    given = [array.copy() if isinstance(array, np.ndarray) else array for array in arrays]
    sim.simulate(built(text), *given, **options)
    return given


def fault(text: str, *arrays: Any, **options: Any) -> SimulationFault:
    """Return what the simulator reports of a kernel."""
    with pytest.raises(SimulationFault) as caught:
        left(text, *arrays, **options)
    return caught.value


def said(found: Exception) -> str:
    """Return a report without its location, which is the line of a test."""
    lines = str(found).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("  -->", "   |")))


def check_right(row: Row) -> None:
    """Under each seed a kernel leaves what it should."""
    for seed in SEEDS:
        given = row.arrays()
        want = row.expected(*given)
        np.testing.assert_array_equal(left(row.text, *given, seed=seed)[-1], want)


def check_wrong(rows: dict[str, Row], wrong: Wrong) -> None:
    """Under each seed the changed kernel has a fault of the kind."""
    row = rows[wrong.name]
    assert wrong.old in row.text
    text = row.text.replace(wrong.old, wrong.new)
    for seed in SEEDS:
        found = fault(text, *row.arrays(), seed=seed, steps=100_000)
        assert {one.kind for one in found.faults} & {*wrong.kind.split(", ")}, said(found)


def checks(rows: dict[str, Row], wrongs: Sequence[Wrong]) -> tuple[Callable[[str], None], Callable[[Wrong], None]]:
    """Return two tests: each kernel is right, and each that is changed is reported."""

    @pytest.mark.parametrize("name", rows)
    def right(name: str) -> None:
        check_right(rows[name])

    @pytest.mark.parametrize("wrong", wrongs, ids=names(wrongs))
    def reported(wrong: Wrong) -> None:
        check_wrong(rows, wrong)

    return right, reported


def names(wrongs: Sequence[Wrong]) -> list[str]:
    """Return a name for each."""
    return [f"{one.name}: {one.old.strip()} -> {one.new.strip()}" for one in wrongs]


def f32(*shape: int) -> np.ndarray:
    """Return 0, 1, 2, ..."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def zeros(*shape: int, dtype: str = "f4") -> np.ndarray:
    """Return what a call fills."""
    return np.zeros(shape, dtype)
