"""Rows are read ahead where iterations wait for each other through registers, and nothing is read that was not."""

from __future__ import annotations

import pytest

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import Alloc
from tecomp.ir.visit import walk
from tecomp.passes import carry, prefetch
from tests.passes.programs import GPU, same_results

HEAD = (
    "def f(X: f32[m, n], I: i32[m], S: out[f32[m, n]]):\n"
    "    for i in thread('threadIdx.x', n):\n        S[0, i] = X[0, i]\n"
)
LOOP = "        for t in range(1, m):\n            "
SUM = "S[t, i] = S[t - 1, i] + X[t, i]\n"


def ahead(statement: str, *rows: int) -> Func:
    before = carry.run(parse(HEAD + LOOP + statement), GPU)
    after = prefetch.run(before, GPU)
    for m in rows:
        same_results(before, after, m=m, n=3)
    return after


def buffers(func: Func) -> set[str]:
    return {node.buffer.name for node in walk(func.body) if isinstance(node, Alloc)}


@pytest.mark.parametrize("m", [1, 2, 15, 16, 17, 18, 33, 40])
def test_blocks_and_the_rest_are_all_rows(m: int) -> None:
    assert "X_ahead" in buffers(ahead(SUM, m))


NOT_AHEAD = {
    "only some iterations read it": "S[t, i] = S[t - 1, i] + (X[t, i] if t % 2 == 0 else 0.0)\n",
    "where it is depends on data": "S[t, i] = S[t - 1, i] + X[index(I[t]) * 0, i]\n",
    "every iteration reads the same": "S[t, i] = S[t - 1, i] + X[0, i]\n",
}


@pytest.mark.parametrize("case", NOT_AHEAD)
def test_what_is_read_when_it_is_needed(case: str) -> None:
    assert "X_ahead" not in buffers(ahead(NOT_AHEAD[case], 5, 20))


def test_a_buffer_that_the_kernel_writes_is_not_read_ahead() -> None:
    func = parse(
        "def f(S: out[f32[m, n]], T: out[f32[m, n]]):\n    for i in thread('threadIdx.x', n):\n"
        "        S[0, i] = 1.0\n        T[0, i] = 2.0\n        for t in range(1, m):\n"
        "            T[t, i] = 3.0\n            S[t, i] = S[t - 1, i] + T[t, i]\n"
    )
    before = carry.run(func, GPU)
    assert prefetch.run(before, GPU) is before


def test_a_loop_without_registers_is_left() -> None:
    func = parse(HEAD + LOOP + "S[t, i] = X[t, i]\n")
    assert prefetch.run(func, GPU) is func
