"""Making schedules, finding stages, and what a long program costs."""

from __future__ import annotations

import itertools
import time

import pytest

from tecomp import te
from tecomp.errors import UserError
from tecomp.schedule import PRIMITIVES, Schedule, Stage, create_schedule
from tests.calls import calls


def test_stages_stand_after_what_they_read(chain):
    assert [stage.name for stage in chain.s.stages] == ["A", "B", "C", "D"]
    assert chain.s.outputs == (chain.D.op,)


def test_a_stage_is_found_by_tensor_and_by_operation(chain):
    assert chain.s[chain.C] is chain.s[chain.C.op]
    assert chain.s[chain.C].op is chain.C.op
    assert repr(chain.s[chain.C]) == "s[C]"


def test_outputs_are_counted_once(chain):
    s = create_schedule([chain.D.op, chain.C.op, chain.D.op])
    assert s.outputs == (chain.D.op, chain.C.op)
    assert s[chain.C].is_output


def test_te_has_create_schedule(chain):
    assert te.create_schedule is create_schedule


def test_the_graph_is_checked(cumsum):
    with pytest.raises(UserError, match="exists only within a step of scan 'S'"):
        create_schedule([cumsum.R.op, cumsum.s2.op])


def test_every_primitive_is_a_method_with_a_picture():
    for name in PRIMITIVES:
        doc = getattr(Stage, name, getattr(Schedule, name, None)).__doc__
        assert "->" in doc, name


def chained(length):
    """T0 -> T1 -> ... -> T(length), each the one before plus 1."""
    tensors = [te.placeholder((64,), name="T0")]
    for number in range(length):
        before = tensors[-1]
        tensors.append(te.compute((64,), lambda i, before=before: before[i] + 1, name=f"T{number + 1}"))
    return tensors


def seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start


def test_a_thousand_stages_print_quickly():
    tensors = chained(1000)
    s = create_schedule(tensors[-1].op)
    assert seconds(lambda: create_schedule(tensors[-1].op)) < 1
    assert seconds(lambda: repr(s)) < 1


@pytest.mark.parametrize("last", [False, True], ids=["nested", "at the last"])
def test_a_thousand_stages_are_placed_quickly(last):
    tensors = chained(1000)
    s = create_schedule(tensors[-1].op)

    def place():
        for producer, reader in itertools.pairwise(tensors[1:]):
            target = tensors[-1] if last else reader
            s[producer].compute_at(s[target], target.op.axis[0])

    assert seconds(place) < 1
    assert seconds(s.text) < 1
    assert seconds(lambda: repr(s)) < 1


def vectorized(length):
    """The stages of a chain, each with its inner loop in lanes."""
    tensors = chained(length)
    s = create_schedule(tensors[-1].op)
    for tensor in tensors[1:]:
        s[tensor].vectorize(s[tensor].split(tensor.op.axis[0], 4)[1])
    return s


def test_finding_the_line_of_a_primitive_looks_at_one_stage():
    def find(s):
        for stage in s.stages[1:]:
            assert s.location_of(stage.origin, "vectorize", stage.leaf_iter_vars[1]).line
            assert s.location_of(stage.origin, "split").line

    short, long = vectorized(50), vectorized(200)
    assert calls(lambda: find(long)) < 6 * calls(lambda: find(short))  # 4 when linear, 16 when quadratic
