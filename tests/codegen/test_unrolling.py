"""A back end's compiler is asked to unroll short loops only."""

from __future__ import annotations

import pytest

from tecomp.codegen.unrolling import is_unrolled
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
