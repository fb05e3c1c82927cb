"""One row of the corpus: a kernel as text, what to call it with, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np

FAULTS = ("", "race", "bounds", "uninitialised")
TOOLS = ("racecheck", "memcheck", "initcheck")

Given = Callable[[np.random.Generator], list[Any]]
Part = Callable[[np.random.Generator], Any]


class Case(NamedTuple):
    """A DEVICE program. `tool` is what of compute-sanitizer reports its fault; none where only a simulator can."""

    name: str
    text: str
    arrays: Given
    """What a call takes, in the order of the parameters."""
    fault: str = ""
    tool: str = ""
    expected: Callable[..., Any] | None = None
    """The last array as a right call leaves it, of what the call was given."""


def given(*parts: Part | float) -> Given:
    """Return what makes the arguments of a call: an array for each part, a number as it is."""
    return lambda rng: [part(rng) if callable(part) else part for part in parts]


def floats(*shape: int, dtype: str = "float32") -> Part:
    """Small whole numbers, of which every sum is exact."""
    return lambda rng: rng.integers(-8, 9, shape).astype(dtype)


def ints(*shape: int, below: int) -> Part:
    """Indices."""
    return lambda rng: rng.integers(0, below, shape).astype("int32")


def fixed(*values: int) -> Part:
    """These integers."""
    return lambda _: np.array(values, "int32")


def zeros(*shape: int, dtype: str = "float32") -> Part:
    """What a call fills."""
    return lambda _: np.zeros(shape, dtype)


def twins(
    name: str,
    text: str,
    arrays: Given,
    fault: str,
    tool: str,
    expected: Callable[..., Any],
    *,
    broken: Given | None = None,
    **changes: tuple[str, str],
) -> list[Case]:
    """Return the right program and the wrong one, `name.fault`: each of `changes` is a word of the text, and what
    stands for it in either. Where the programs are the same, `broken` are the arguments that do it.

    `HERE=("barrier_block()", "pass")`  ->  a program with this barrier, and one without
    """
    right, wrong = ([(word, pair[side]) for word, pair in changes.items()] for side in (0, 1))
    return [
        Case(name, _with(text, right), arrays, expected=expected),
        Case(f"{name}.{fault}", _with(text, wrong), broken or arrays, fault, tool),
    ]


def clean(name: str, text: str, arrays: Given, expected: Callable[..., Any] | None = None) -> Case:
    """Return a program that is right."""
    return Case(name, _with(text), arrays, expected=expected)


def faulty(name: str, text: str, arrays: Given, fault: str, tool: str) -> Case:
    """Return a program that is wrong, and has no twin."""
    return Case(f"{name}.{fault}", _with(text), arrays, fault, tool)


def _with(text: str, words: Sequence[tuple[str, str]] = ()) -> str:
    for word, meant in words:
        assert word in text, word
        text = text.replace(word, meant)
    return dedent(text).strip() + "\n"


BARRIER = ("barrier_block()", "pass")
"""A barrier, and none."""
