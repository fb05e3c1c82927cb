"""How temporaries are padded, and in how many copies they are held."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.dtype import INDEX
from tecomp.ir import make
from tecomp.ir.expr import Var
from tecomp.ir.func import Func
from tecomp.ir.stmt import Alloc
from tecomp.ir.visit import walk
from tecomp.lowering.func import lower_schedule
from tecomp.lowering.layout import strides_of
from tecomp.schedule import create_schedule
from tecomp.schedule.stage import Alignment

n = Var("n", INDEX, make.const(0, INDEX))
A = te.placeholder((4,), name="A")
STATE = create_schedule(te.compute((4,), lambda i: A[i] + 1, name="B").op).stages[1].state


@pytest.mark.parametrize(
    ("shape", "alignments", "strides"),
    [
        ([32, 32], [(0, 32, 1)], [33, 1]),
        ([32, 32], [(0, 32, 0)], [32, 1]),
        ([4, 33], [(0, 16, 8)], [40, 1]),
        ([4, 8], [(1, 4, 0)], [32, 4]),
        ([2, 3, 5], [(0, 8, 0), (1, 4, 3)], [24, 7, 1]),
        ([7], [(0, 1, 0)], [1]),
    ],
)
def test_neighbours_lie_as_far_apart_as_was_asked(
    shape: list[int], alignments: list[tuple[int, int, int]], strides: list[int]
) -> None:
    state = STATE.replace(alignments=tuple(Alignment(*one) for one in alignments))
    found = strides_of(state, [make.index(extent) for extent in shape])
    assert found == tuple(make.index(stride) for stride in strides)
    for dimension, factor, offset in alignments:
        assert found[dimension].value % factor == offset


def test_symbolic_rows_are_padded_when_the_program_runs() -> None:
    state = STATE.replace(alignments=(Alignment(0, 4, 0),))
    rows, ones = strides_of(state, [n, n])
    assert (repr(rows), repr(ones)) == ("(n + 3) // 4 * 4", "1")


def test_nothing_said_is_no_padding() -> None:
    assert strides_of(STATE, [n, n]) is None


def copies(func: Func) -> dict[str, int]:
    return {node.buffer.name: node.copies for node in walk(func.body) if isinstance(node, Alloc)}


def test_a_loop_of_one_iteration_needs_one_copy() -> None:
    X = te.placeholder((1, 8), name="X")
    P = te.compute((1, 8), lambda i, j: X[i, j] + 1, name="P")
    Q = te.compute((1, 8), lambda i, j: P[i, j] * 2, name="Q")
    for axis, count in ((0, 1), (1, 2)):
        s = create_schedule(Q.op)
        s[P].compute_at(s[Q], Q.op.axis[axis])
        s[P].double_buffer()
        assert copies(lower_schedule(s, [X, Q], "f")) == {"P": count}


def test_temporaries_of_other_strides_do_not_share_memory() -> None:
    X = te.placeholder((8, 8), name="X")
    stages = [X]
    for number in range(4):
        stages.append(te.compute((8, 8), lambda i, j: stages[-1][i, j] + 1, name=f"B{number}"))
    s = create_schedule(stages[-1].op)
    s[stages[3]].storage_align(stages[3].op.axis[0], 8, 1)
    assert sorted(copies(lower_schedule(s, [X, stages[-1]], "f"))) == ["B0", "B1", "B2"]
