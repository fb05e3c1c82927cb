"""A back end's compiler is asked to unroll short loops only."""

from __future__ import annotations

import pytest

from tecomp.codegen.unrolling import is_unrolled, walks_columns
from tecomp.ir.parse import parse
from tecomp.ir.stmt import For
from tecomp.ir.visit import walk


def asked(*loops: str) -> list[bool]:
    """Return of loops inside one another, the innermost around two stores, whether each is to be unrolled."""
    lines = ["def f(n: index, B: out[f32[4]]):"]
    lines += [f"{'    ' * depth}for i{depth} in {loop}:" for depth, loop in enumerate(loops, start=1)]
    lines += ["    " * (len(loops) + 1) + f"B[{at}] = 1.0" for at in range(2)]
    return [is_unrolled(node) for node in walk(parse("\n".join(lines)).body) if isinstance(node, For)]


@pytest.mark.parametrize(
    ("loops", "unrolled"),
    [
        (["unrolled(4)"], [True]),
        (["unrolled(512)"], [True]),
        (["unrolled(513)"], [False]),
        (["unrolled(15000000)"], [False]),
        (["range(4)"], [False]),
        (["unrolled(16)", "unrolled(32)"], [True, True]),
        (["unrolled(17)", "unrolled(32)"], [False, True]),
        (["unrolled(17)", "range(32)"], [True, False]),
        (["unrolled(100)", "unrolled(100)", "unrolled(100)"], [False, False, True]),
    ],
)
def test_loops(loops: list[str], unrolled: list[bool]) -> None:
    assert asked(*loops) == unrolled


WALKS = {
    "A[k * 512 + j]": True,
    "A[j * 512 + k]": False,
    "A[k * 16 + j]": False,
    "A[k * 17 + j]": True,
    "A[k * n + j]": True,
    "A[j - k * 100]": True,
    "A[j]": False,
}


@pytest.mark.parametrize("read", WALKS)
def test_a_loop_down_a_column_stays_rolled(read: str) -> None:
    """Each copy of its load would have so long a stride that the processor does not fetch ahead."""
    func = parse(
        "def f(A: f32[4096], B: out[f32[n]]) -> flat:\n    for j in range(i64(4)):\n"
        f"        for k in range(i64(100)):\n            B[j] = B[j] + {read}\n"
    )
    loops = [node for node in walk(func.body) if isinstance(node, For)]
    assert walks_columns(loops[1]) is WALKS[read]
