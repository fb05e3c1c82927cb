"""Statements simplified under what stands around them, as text before and after."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import simplify
from tests.passes.programs import CPU, same_results

HEAD = "def f(A: f32[n, 8], B: out[f32[n, 8]]):\n"

CASES = {
    "a guard that the loop implies": (
        """
        for i in range(n):
            for j in range(8):
                if j < 8:
                    B[i, j] = A[i, (j * 4 + 3) // 4]
        """,
        """
        for i in range(n):
            for j in range(8):
                B[i, j] = A[i, j]
        """,
    ),
    "a guard inside an equal one": (
        """
        for i in range(n):
            if i < 5:
                B[i, 0] = A[i, 0]
                if i < 6:
                    B[i, 1] = A[i, 1]
                if 7 < i:
                    B[i, 2] = A[i, 2]
        """,
        """
        for i in range(n):
            if i < 5:
                B[i, 0] = A[i, 0]
                B[i, 1] = A[i, 1]
        """,
    ),
    "what never runs": (
        """
        for i in range(n):
            for j in range(3, 3):
                B[i, j] = A[i, j]
            if 8 < 3:
                B[i, 0] = A[i, 0]
            else:
                B[i, 1] = A[i, 1]
        """,
        """
        for i in range(n):
            B[i, 1] = A[i, 1]
        """,
    ),
    "a loop of one iteration": (
        """
        for i in range(n):
            for j in range(3, 4):
                B[i, j] = A[i, j + 1]
        """,
        """
        for i in range(n):
            B[i, 3] = A[i, 4]
        """,
    ),
    "a value that is a constant": (
        """
        for i in range(n):
            j: index = 3 - 1
            B[i, j] = A[i, j]
        """,
        """
        for i in range(n):
            B[i, 2] = A[i, 2]
        """,
    ),
    "a store of what is there": (
        """
        for i in range(n):
            B[i, 0] = A[i, 0]
            B[i, 1] = B[i, 1]
        """,
        """
        for i in range(n):
            B[i, 0] = A[i, 0]
        """,
    ),
    "memory for nothing": (
        """
        for i in range(n):
            B[i, 0] = A[i, 0]
            t = alloc(f32[8])
            for j in range(0):
                t[j] = 1.0
        """,
        """
        for i in range(n):
            B[i, 0] = A[i, 0]
        """,
    ),
    "the other side of a guard": (
        """
        for i in range(n):
            if i < 4:
                for j in range(0):
                    B[i, j] = 1.0
            else:
                B[i, 0] = A[max(i, 4), 0]
        """,
        """
        for i in range(n):
            if 4 <= i:
                B[i, 0] = A[i, 0]
        """,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_statements(case: str) -> None:
    before, after = (parse(HEAD + indent(dedent(body), "    ")) for body in CASES[case])
    result = simplify.run(before, CPU)
    assert text(result) == text(after)
    same_results(before, result, n=9)


def test_nothing_to_do_gives_the_same_object() -> None:
    func = parse(HEAD + "    for i in range(n):\n        B[i, 0] = A[i, 0]\n")
    assert simplify.run(func, CPU) is func


def test_a_thread_loop_of_one_iteration_stays() -> None:
    """It names the thread."""
    func = parse(HEAD + "    for i in thread('blockIdx.x', 1):\n        B[i, 0] = A[i, 0]\n")
    assert text(simplify.run(func, CPU)) == text(func).replace("B[i, 0] = A[i, 0]", "B[0, 0] = A[0, 0]")


def test_what_the_function_requires_is_known() -> None:
    func = parse(
        "def f(B: out[f32[m]]):\n    assert 2 <= m, 'a scan of two'\n"
        "    for i in range(m):\n        if i < max(m, 1):\n            B[i] = 1.0\n"
    )
    assert "if" not in text(simplify.run(func, CPU)).replace("def f", "")
