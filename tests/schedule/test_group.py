"""create_group: stages that are moved as one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.schedule import ROOT, create_schedule

from .test_cache import computed
from .test_text import made_again


@pytest.fixture
def graph() -> SimpleNamespace:
    """A -> B -> C -> D -> E, where D reads B too and E reads the input X; and a schedule s of E."""
    n = te.var("n")
    A, X = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="X")
    B = te.compute((n, n), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((n, n), lambda i, j: B[i, j] * 2, name="C")
    D = te.compute((n, n), lambda i, j: C[i, j] - B[i, n - 1 - j], name="D")
    E = te.compute((n, n), lambda i, j: D[i, j] * X[i, j], name="E")
    return SimpleNamespace(A=A, X=X, B=B, C=C, D=D, E=E, s=create_schedule(E.op))


def names(group):
    return [stage.name for stage in group.stages]


def test_what_lies_between(graph):
    g, s = graph, graph.s
    assert names(s.create_group(outputs=g.D, inputs=g.A)) == ["B", "C", "D"]
    assert names(s.create_group(outputs=[g.C], inputs=[g.B])) == ["C"]
    assert names(s.create_group([g.C], g.B.op, include_inputs=True)) == ["B", "C"]
    assert names(s.create_group(g.E, [g.A, g.X])) == ["B", "C", "D", "E"]
    assert repr(s.create_group(g.D, g.A)) == "group(B, C, D)"


def test_a_group_moves_as_one(graph):
    g, s = graph, graph.s
    group = s.create_group(outputs=g.D, inputs=g.A)
    row = g.E.op.axis[0]
    group.compute_at(s[g.E], row)
    assert [s[tensor].attach_ivar for tensor in (g.B, g.C, g.D)] == [row] * 3
    assert [applied.primitive for applied in s.history] == ["compute_at"] * 3
    a, x = np.random.default_rng(0).standard_normal((2, 7, 7)).astype("f")
    (e,) = computed(s, [g.A, g.X, g.E], [a, x], [(7, 7)])
    np.testing.assert_allclose(e, ((a + 1) * 2 - (a + 1)[:, ::-1]) * x, rtol=1e-5)
    group.compute_root()
    assert [s[tensor].attach_type for tensor in (g.B, g.C, g.D)] == [ROOT] * 3


def test_members_move_among_each_other(graph):
    g, s = graph, graph.s
    group = s.create_group(outputs=g.D, inputs=g.A)
    s[g.C].compute_at(s[g.D], g.D.op.axis[1])
    group.compute_at(s[g.E], g.E.op.axis[0])
    assert s[g.C].attach_stage is g.D.op
    s[g.B].compute_at(s[g.D], g.D.op.axis[0])
    group.compute_root()
    assert s[g.B].attach_stage is g.D.op
    assert s[g.D].attach_type is ROOT
    assert made_again(s) == s.text()


def test_a_group_within_a_group(graph):
    g, s = graph, graph.s
    inner, outer = s.create_group(g.C, g.A), s.create_group(g.D, g.A)
    inner.compute_at(s[g.D], g.D.op.axis[0])
    outer.compute_at(s[g.E], g.E.op.axis[0])
    assert [s[tensor].attach_stage for tensor in (g.B, g.C, g.D)] == [g.D.op, g.D.op, g.E.op]
    a, x = np.random.default_rng(1).standard_normal((2, 5, 5)).astype("f")
    (e,) = computed(s, [g.A, g.X, g.E], [a, x], [(5, 5)])
    np.testing.assert_allclose(e, ((a + 1) * 2 - (a + 1)[:, ::-1]) * x, rtol=1e-5)


def test_none_moves_where_one_cannot(graph):
    g = graph
    s = create_schedule([g.B.op, g.E.op])
    with pytest.raises(ScheduleError, match="'B' is an output, and outputs are computed at the root"):
        s.create_group(g.D, g.A).compute_at(s[g.E], g.E.op.axis[0])
    assert s.history == ()
    assert s[g.D].attach_type is ROOT


def test_a_stage_knows_its_smallest_group(graph):
    g, s = graph, graph.s
    outer = s.create_group(outputs=g.D, inputs=g.A)
    inner = s.create_group(outputs=g.C, inputs=g.B)
    assert s.groups == [outer, inner]
    assert [s[tensor].group for tensor in (g.A, g.B, g.C, g.D, g.E)] == [None, outer, inner, outer, None]


def test_a_copy_has_groups_of_its_own(graph):
    g, s = graph, graph.s
    s.create_group(outputs=g.D, inputs=g.A)
    other = s.copy()
    other.groups[0].compute_at(other[g.E], g.E.op.axis[0])
    assert (s.text(), len(other.history)) == ("", 3)
    assert other[g.C].group is other.groups[0] is not s.groups[0]
