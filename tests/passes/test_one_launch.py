"""A loop over kernels becomes one kernel where each thread keeps to itself; elsewhere the loop says why it stays."""

from __future__ import annotations

import pytest

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import For, LoopKind
from tecomp.ir.visit import walk
from tecomp.passes import one_launch
from tests.passes.programs import GPU, same_results

HEAD = "def f(X: f32[m, n], S: out[f32[m, n]], T: out[f32[m, n]]):\n"


def launched(body: str) -> tuple[Func, Func]:
    before = parse(HEAD + body)
    after = one_launch.run(before, GPU)
    same_results(before, after, m=5, n=6)
    return before, after


def order(func: Func) -> list[str]:
    """Return the loops, outermost first: the variable of a serial one, the axis of one over threads."""
    return [node.thread or node.var.name for node in walk(func.body) if isinstance(node, For)]


def reasons(func: Func) -> list[str]:
    loops = (node for node in walk(func.body) if isinstance(node, For) and node.kind is LoopKind.SERIAL)
    return [value for loop in loops for name, value in loop.pragmas if name == one_launch.LAUNCHES]


STEP = "        for i in thread('blockIdx.x', n):\n            "
FIRST = "    for i in thread('blockIdx.x', n):\n        "

OWN = {
    "its own column": "    for t in range(1, m):\n" + STEP + "S[t, i] = S[t - 1, i] + X[t, i]\n",
    "a column of its own elsewhere": (
        "    for t in range(1, m):\n" + STEP + "S[t, n - 1 - i] = S[t - 1, n - 1 - i] + X[t, i]\n"
    ),
    "two kernels a step": (
        "    for t in range(1, m):\n" + STEP + "T[t, i] = S[t - 1, i] * 2.0\n" + STEP + "S[t, i] = T[t, i] + X[t, i]\n"
    ),
}


@pytest.mark.parametrize("case", OWN)
def test_each_thread_reads_what_it_wrote(case: str) -> None:
    _, after = launched(OWN[case])
    assert order(after) == ["blockIdx.x", "t"]
    assert reasons(after) == []


def test_the_first_rows_join() -> None:
    _, after = launched(FIRST + "S[0, i] = X[0, i]\n" + OWN["its own column"])
    assert order(after) == ["blockIdx.x", "t"]


def test_first_rows_by_other_threads_do_not() -> None:
    _, after = launched(FIRST + "S[0, n - 1 - i] = X[0, i]\n" + OWN["its own column"])
    assert order(after) == ["blockIdx.x", "blockIdx.x", "t"]


STAYS = {
    "a neighbour's column": (
        STEP + "S[t, i] = S[t - 1, (i + 1) % n] + X[t, i]\n",
        "a thread needs what another one did to 'S'",
    ),
    "an element of all": (
        STEP + "S[t, 0] = X[t, 0]\n",
        "a thread needs what another one did to 'S'",
    ),
    "a neighbour's value of the same step": (
        STEP + "T[t, i] = X[t, i]\n" + STEP + "S[t, i] = T[t, n - 1 - i]\n",
        "a thread needs what another one did to 'T'",
    ),
    "other threads in the second kernel": (
        STEP + "T[t, i] = X[t, i]\n" + STEP.replace("block", "thread") + "S[t, i] = T[t, i]\n",
        "its kernels run on different threads",
    ),
    "more threads each time": (
        STEP.replace("n)", "t + 1)") + "S[t, i] = S[t - 1, i]\n",
        "the number of threads changes from one to the next",
    ),
    "work of the host's between": (
        "        S[t, 0] = 1.0\n" + STEP + "T[t, i] = X[t, i]\n",
        "a step is not one nest of thread loops",
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_the_loop_stays_on_the_host_and_says_why(case: str) -> None:
    steps, reason = STAYS[case]
    before, after = launched("    for t in range(1, m):\n" + steps)
    assert order(after) == order(before)
    assert reasons(after) == [reason]


def test_the_reason_is_read_back() -> None:
    _, after = launched("    for t in range(1, m):\n" + STAYS["a neighbour's column"][0])
    assert reasons(parse(str(after))) == reasons(after)
