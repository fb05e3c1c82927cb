"""Loops that do something in one iteration only: they become that iteration, wherever its number is known."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.ir.interpret import interpret
from tecomp.ir.parse import parse
from tecomp.passes.solve import run
from tecomp.target import Target

BEFORE = """
def f(I: i32[m], A: f32[m], C: out[f32[n]]):
    for j in range(n):
        C[j] = 0.0
    for i in range(m):
        for j in {kind}(1, n - 1):
            if {guard}:
                C[j] = C[j] + A[i]
"""
GUARDS = [
    "I[i] == i32(j)",
    "i32(j) == I[i] and A[i] < 1.0",
    "index(I[i]) == j",
    "I[i] == i32(j) and I[i] * 2 < i32(j) + 9",
]


def solved(source):
    return run(parse(source), Target.of("llvm"))


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("n", [2, 3, 8, 13])
def test_it_does_the_same(guard, n):
    """Numbers outside of the loop, negative ones too, do nothing."""
    data = np.random.default_rng(n)
    at, a = data.integers(-3, n + 3, 40).astype("int32"), data.standard_normal(40).astype("f")
    results = []
    for func in (parse(BEFORE.format(kind="range", guard=guard)), solved(BEFORE.format(kind="range", guard=guard))):
        c = np.full(n, np.nan, "f")
        interpret(func, at, a, c)
        results.append(c)
    np.testing.assert_array_equal(*results)


def test_the_program(golden):
    golden("\n\n".join(repr(solved(BEFORE.format(kind="range", guard=guard))) for guard in GUARDS) + "\n")


@pytest.mark.parametrize(
    ("kind", "guard"),
    [
        ("vectorized", "I[i] == i32(j)"),
        ("range", "I[i] < i32(j)"),
        ("range", "I[j] == i32(j)"),
        ("range", "C[2] == f32(j)"),
        ("range", "I[i] == i32(j) * 2"),
    ],
)
def test_what_stays(kind, guard):
    source = BEFORE.format(kind=kind, guard=guard)
    assert repr(solved(source)) == repr(parse(source))


def test_a_number_that_the_body_changes_stays():
    source = """
def f(I: out[i32[9]]):
    for j in range(9):
        if I[0] == i32(j):
            I[0] = I[0] + 1
"""
    assert repr(solved(source)) == repr(parse(source))
