"""Which memory each result has."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.ir.func import Func
from tecomp.ir.stmt import Alloc
from tecomp.ir.visit import walk
from tecomp.lowering.func import lower_schedule


def allocated(func: Func) -> list[str]:
    return [repr(node.buffer) for node in walk(func.body) if isinstance(node, Alloc)]


def chain(length: int):
    """B0 = A + 1, B1 = B0 + 1, ... of n elements; the schedule of the last."""
    n = te.var("n")
    stages = [te.placeholder((n,), name="A")]
    for number in range(length):
        stages.append(te.compute((n,), lambda i: stages[-1][i] + 1, name=f"B{number}"))
    return stages, te.create_schedule(stages[-1].op)


def test_results_that_are_never_needed_at_once_share_memory() -> None:
    stages, s = chain(7)
    assert allocated(lower_schedule(s, [stages[0], stages[-1]], "f")) == ["B0: f32[n]", "B1: f32[n]"]


def test_what_is_read_later_keeps_its_memory() -> None:
    stages, _ = chain(4)
    last = te.compute(stages[0].shape, lambda i: stages[1][i] + stages[4][i], name="last")
    func = lower_schedule(te.create_schedule(last.op), [stages[0], last], "f")
    assert allocated(func) == ["B0: f32[n]", "B1: f32[n]", "B2: f32[n]"]


def test_a_temporary_holds_what_is_computed_at_once() -> None:
    stages, s = chain(2)
    outer, _ = s[stages[2]].split(stages[2].op.axis[0], factor=8)
    s[stages[1]].compute_at(s[stages[2]], outer)
    assert allocated(lower_schedule(s, [stages[0], stages[2]], "f")) == ["B0: f32[8]"]


def test_arguments_need_none() -> None:
    stages, s = chain(3)
    assert allocated(lower_schedule(s, stages, "f")) == []


@pytest.mark.parametrize("scope", ["local", "shared"])
def test_memory_of_a_kernel_has_a_constant_size(refused, scope: str) -> None:
    stages, s = chain(2)
    s[stages[1]].set_scope(scope)
    with refused(
        ScheduleError,
        f"""
        'B0' cannot live in {scope} memory
          --> test_storage.py:LINE
           |     s[stages[1]].set_scope(scope)
           |     ^
          because: what is computed of its dimension 0 has extent n, which is not constant
          legal: compute_at inside loops of constant extent, or set_scope('global')
    """,
    ):
        lower_schedule(s, [stages[0], stages[2]], "f")
