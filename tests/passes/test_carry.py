"""What an iteration stores and later ones read again is in registers, and everything else stays in memory."""

from __future__ import annotations

import pytest

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import Alloc
from tecomp.ir.text import text
from tecomp.ir.visit import walk
from tecomp.passes import carry
from tests.passes.programs import GPU, same_results

HEAD = "def f(X: f32[m, n], S: out[f32[m + 2, n]]):\n    for i in thread('threadIdx.x', n):\n"
FIRST = "        S[0, i] = X[0, i]\n        S[1, i] = X[0, i]\n"


def carried(loop: str) -> Func:
    before = parse(HEAD + FIRST + loop)
    after = carry.run(before, GPU)
    for m in (1, 2, 7):
        same_results(before, after, m=m, n=5)
    return after


def registers(func: Func) -> list[str]:
    return sorted(node.buffer.name for node in walk(func.body) if isinstance(node, Alloc))


def test_the_last_value_is_one_register() -> None:
    after = carried("        for t in range(2, m + 2):\n            S[t, i] = S[t - 1, i] + X[t - 2, i]\n")
    assert text(after).splitlines()[4:] == [
        "        S_carry: f32",
        "        S_carry = S[1, i]",
        "        for t in range(2, 2 + (m + 2 - 2)):",
        "            S_carry = S_carry + X[t - 2, i]",
        "            S[t, i] = S_carry",
    ]


def test_two_steps_back_are_two_registers() -> None:
    after = carried("        for t in range(2, m + 2):\n            S[t, i] = S[t - 1, i] + S[t - 2, i]\n")
    assert registers(after) == ["S_carry", "S_carry2", "S_next"]


def test_a_later_statement_still_sees_the_value_before() -> None:
    """It reads the last step's element after this step's was stored."""
    loop = (
        "        for t in range(2, m + 2):\n            S[t, i] = S[t - 1, i] + X[t - 2, i]\n"
        "            X_out[t, i] = S[t - 1, i]\n"
    )
    head = HEAD.replace("S: out[f32[m + 2, n]]", "S: out[f32[m + 2, n]], X_out: out[f32[m + 2, n]]")
    before = parse(head + FIRST + loop)
    after = carry.run(before, GPU)
    same_results(before, after, m=4, n=3)
    assert registers(after) == ["S_carry", "S_next"]


STAYS = {
    "another thread's element": "            S[t, i] = S[t - 1, (i + 1) % n] + X[t - 2, i]\n",
    "not stored every time": "            if 0.0 < X[t - 2, i]:\n                S[t, i] = S[t - 1, i] + 1.0\n",
    "nothing read again": "            S[t, i] = X[t - 2, i]\n",
}


@pytest.mark.parametrize("case", STAYS)
def test_what_stays_in_memory(case: str) -> None:
    before = parse(HEAD + FIRST + "        for t in range(2, m + 2):\n" + STAYS[case])
    assert carry.run(before, GPU) is before


def test_another_store_may_touch_what_would_be_carried() -> None:
    loop = "        for t in range(2, m + 2):\n            S[t, i] = S[t - 1, i] + 1.0\n            S[t - 1, i] = 0.0\n"
    before = parse(HEAD + FIRST + loop)
    assert carry.run(before, GPU) is before
