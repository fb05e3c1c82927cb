"""Relations, by enumeration: whatever is split and fused, each point of the domain is visited once."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tecomp import te
from tecomp.dtype import INDEX
from tecomp.ir import make
from tecomp.ir.axis import Range
from tecomp.ir.expr import Const, Var
from tecomp.ir.subst import substitute
from tecomp.schedule import create_schedule, declared_domains
from tecomp.schedule.extent import show
from tecomp.schedule.relation import Split

ZERO = make.index(0)


def stage_of(*shape):
    T = te.compute(shape, lambda *i: 0, name="T")
    return create_schedule(T.op)[T]


def extents(stage):
    domains = declared_domains(stage.state)
    return {axis.name: show(domains[axis].extent) for axis in stage.leaf_iter_vars}


def visited(stage):
    """Run all leaves over their domains; yield the values of the operation's axes where no guard forbids them."""
    state, domains = stage.state, declared_domains(stage.state)
    counts = [int(domains[leaf].extent.value) for leaf in state.leaves]
    loops = {leaf: Var(leaf.name, INDEX, ZERO, domains[leaf].extent) for leaf in state.leaves}
    values = dict(loops)
    guards = []
    for relation in reversed(state.relations):
        relation.index_up(values, domains)
        guards += relation.guards(values, domains)
    for point in product(*map(range, counts)):
        at = {loops[leaf]: make.index(value) for leaf, value in zip(state.leaves, point, strict=True)}
        if all(holds(guard, at) for guard in guards):
            yield tuple(number(values[axis], at) for axis in stage.op.axis)


def number(value, at):
    folded = make_again(substitute(value, at))
    assert isinstance(folded, Const)
    return folded.value


def holds(guard, at):
    return number(guard, at)


def make_again(value):
    """Fold an expression of constants."""
    table = {"Add": make.add, "Mul": make.mul, "FloorDiv": make.floordiv, "FloorMod": make.floormod, "Lt": make.lt}
    table |= {"Sub": make.sub, "Min": make.minimum, "Max": make.maximum, "Le": make.le}
    if isinstance(value, (Const, Var)):
        return value
    return table[type(value).__name__](*map(make_again, value.operands()))


def test_factor_that_divides_needs_no_guard():
    stage = stage_of(12)
    stage.split(stage.op.axis[0], factor=4)
    assert extents(stage) == {"i0.outer": "3", "i0.inner": "4"}
    assert guards_of(stage) == []


def test_factor_that_does_not_divide_is_guarded():
    stage = stage_of(13)
    stage.split(stage.op.axis[0], factor=4)
    assert extents(stage) == {"i0.outer": "4", "i0.inner": "4"}
    assert guards_of(stage) == ["i0.outer * 4 + i0.inner < 13"]


def test_factor_longer_than_the_axis_is_cut():
    stage = stage_of(2)
    stage.split(stage.op.axis[0], factor=4)
    assert extents(stage) == {"i0.outer": "1", "i0.inner": "2"}
    assert guards_of(stage) == []


def test_factor_longer_than_a_symbolic_extent_stays_constant():
    """So that the inner loop can be unrolled or vectorized, as it was split for."""
    stage = stage_of(te.var("n") % 3 + 1)
    stage.split(stage.op.axis[0], factor=4)
    assert extents(stage)["i0.inner"] == "4"
    assert guards_of(stage) == ["i0.inner < n % 3 + 1"]


def test_factor_bound_to_a_thread_is_kept():
    stage = stage_of(2)
    _, inner = stage.split(stage.op.axis[0], factor=4)
    stage.bind(inner, te.thread_axis("threadIdx.x"))
    assert extents(stage) == {"i0.outer": "1", "i0.inner": "4"}
    assert guards_of(stage) == ["i0.inner < 2"]


def test_nparts():
    stage = stage_of(10)
    stage.split(stage.op.axis[0], nparts=4)
    assert extents(stage) == {"i0.outer": "4", "i0.inner": "3"}


def test_nparts_longer_than_the_axis_is_cut_unless_bound():
    stage = stage_of(3)
    outer, _ = stage.split(stage.op.axis[0], nparts=8)
    assert extents(stage) == {"i0.outer": "3", "i0.inner": "1"}
    stage.bind(outer, te.thread_axis("blockIdx.x"))
    assert extents(stage) == {"i0.outer": "8", "i0.inner": "1"}


def test_symbolic_extent():
    stage = stage_of(te.var("n"))
    stage.split(stage.op.axis[0], factor=32)
    assert extents(stage) == {"i0.outer": "(n + 31) // 32", "i0.inner": "32"}
    assert guards_of(stage) == ["i0.outer * 32 + i0.inner < n"]


def test_symbolic_extent_that_the_factor_divides():
    stage = stage_of(te.var("n") * 32)
    stage.split(stage.op.axis[0], factor=32)
    assert extents(stage) == {"i0.outer": "n", "i0.inner": "32"}
    assert guards_of(stage) == []


def test_symbolic_factor_is_at_least_one():
    n = te.var("n")
    stage = stage_of(n)
    stage.split(stage.op.axis[0], factor=n // 4)
    assert extents(stage)["i0.inner"] == "max(n // 4, 1)"


def guards_of(stage):
    state, domains = stage.state, declared_domains(stage.state)
    values = {leaf: Var(leaf.name, INDEX, ZERO, domains[leaf].extent) for leaf in state.leaves}
    found = []
    for relation in reversed(state.relations):
        relation.index_up(values, domains)
        found += relation.guards(values, domains)
    return [show(guard) for guard in found]


@pytest.mark.parametrize("shape", [(0, 10), (10, 0), (0, 0)])
def test_empty_axes_fuse_and_split(shape):
    stage = stage_of(*shape)
    fused = stage.fuse(*stage.op.axis)
    stage.split(fused, factor=4)
    assert list(visited(stage)) == []


def test_singleton_visits_the_one_point():
    stage = stage_of()
    stage.fuse()
    assert extents(stage) == {"singleton": "1"}
    assert list(visited(stage)) == [()]


def test_index_down_inverts_index_up():
    stage = stage_of(7, 5)
    fused = stage.fuse(*stage.op.axis)
    stage.split(fused, factor=4)
    state, domains = stage.state, declared_domains(stage.state)
    for point in product(range(7), range(5)):
        values = {axis: make.index(value) for axis, value in zip(stage.op.axis, point, strict=True)}
        for relation in state.relations:
            relation.index_down(values, domains)
        back = {leaf: values[leaf] for leaf in state.leaves}
        for relation in reversed(state.relations):
            relation.index_up(back, domains)
        assert [back[axis].value for axis in stage.op.axis] == list(point)


def test_factor_is_turned_into_index_arithmetic_by_the_caller():
    n, size = te.var("n"), Var("n", INDEX, ZERO)
    stage = stage_of(n)
    stage.split(stage.op.axis[0], factor=n)
    (relation,) = stage.relations
    assert isinstance(relation, Split)
    domains = {relation.parent: Range(ZERO, size)}
    relation.domain_down(domains, exact=lambda factor: size)
    assert show(domains[relation.inner].extent) == "max(n, 1)"


verbs = st.sampled_from(["factor", "nparts", "fuse", "swap"])
steps = st.lists(st.tuples(verbs, st.integers(0, 9), st.integers(1, 5)), max_size=5)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=3), steps)
def test_every_point_is_visited_once(shape, steps):
    stage = stage_of(*shape)
    for verb, where, length in steps:
        leaves = stage.leaf_iter_vars
        number = where % len(leaves)
        if verb in ("factor", "nparts"):
            stage.split(leaves[number], **{verb: length})
        elif len(leaves) > 1:
            pair = leaves[max(number - 1, 0) : max(number - 1, 0) + 2]
            stage.fuse(*pair) if verb == "fuse" else stage.reorder(*reversed(pair))
    assert sorted(visited(stage)) == list(product(*map(range, shape)))
