"""Which loops split, fuse, reorder and tile leave."""

from __future__ import annotations

import contextlib

import numpy as np

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.ir.axis import AxisKind
from tecomp.schedule import Fuse, Singleton, Split, create_schedule


def leaves(stage):
    return [axis.name for axis in stage.leaf_iter_vars]


def test_a_new_stage_has_its_axes_data_first(chain):
    assert leaves(chain.s[chain.C]) == ["i", "k"]
    assert chain.s[chain.C].relations == ()


def test_split_replaces_the_axis_in_place(grid):
    stage = grid.s[grid.C]
    outer, inner = stage.split(grid.axes[1], factor=4)
    assert leaves(stage) == ["i", "j.outer", "j.inner", "l"]
    (relation,) = stage.relations
    assert isinstance(relation, Split)
    assert (relation.parent, relation.outer, relation.inner) == (grid.axes[1], outer, inner)
    assert relation.factor.value == 4
    assert relation.nparts is None


def test_split_keeps_the_kind_and_type(chain):
    outer, inner = chain.s[chain.C].split(chain.k, nparts=3)
    assert outer.kind is inner.kind is AxisKind.REDUCE
    assert outer.dtype == inner.dtype == "int32"


def test_split_takes_numpy_integers(chain):
    chain.s[chain.D].split(chain.D.op.axis[0], factor=np.int64(8))
    assert "factor=8)" in chain.s.text()


def test_split_of_int64_axes():
    n = te.var("n", "int64")
    T = te.compute((n,), lambda i: i, name="T")
    _, inner = create_schedule(T.op)[T].split(T.op.axis[0], factor=4)
    assert inner.dtype == "int64"


def test_fuse_of_three(grid):
    stage = grid.s[grid.C]
    fused = stage.fuse(*grid.axes)
    assert fused.name == "i.j.fused.l.fused"
    assert leaves(stage) == [fused.name]
    assert all(isinstance(relation, Fuse) for relation in stage.relations)


def test_fuse_takes_loop_order_whatever_the_argument_order(grid):
    i, j, _ = grid.axes
    fused = grid.s[grid.C].fuse(j, i)
    assert fused.name == "i.j.fused"


def test_fuse_of_one_changes_nothing(grid):
    stage = grid.s[grid.C]
    assert stage.fuse(grid.axes[0]) is grid.axes[0]
    assert stage.relations == ()


def test_fuse_of_nothing_makes_a_loop():
    T = te.compute((), lambda: 1, name="T")
    stage = create_schedule(T.op)[T]
    single = stage.fuse()
    assert leaves(stage) == ["singleton"]
    assert isinstance(stage.relations[0], Singleton)
    stage.bind(single, te.thread_axis("threadIdx.x"))


def test_fuse_of_data_and_reduction_is_a_reduction(chain):
    fused = chain.s[chain.C].fuse(chain.C.op.axis[0], chain.k)
    assert fused.kind is AxisKind.REDUCE


def test_reorder_permutes_among_the_slots_named(grid):
    i, j, l = grid.axes
    grid.s[grid.C].reorder(l, i)
    assert leaves(grid.s[grid.C]) == ["l", "j", "i"]
    grid.s[grid.C].reorder(j)
    assert leaves(grid.s[grid.C]) == ["l", "j", "i"]


def test_a_reduction_may_stand_outside(chain):
    chain.s[chain.C].reorder(chain.k, chain.C.op.axis[0])
    assert leaves(chain.s[chain.C]) == ["k", "i"]


def test_tile(grid):
    i, j, _ = grid.axes
    tiles = grid.s[grid.C].tile(i, j, 8, 4)
    assert [axis.name for axis in tiles] == ["i.outer", "j.outer", "i.inner", "j.inner"]
    assert leaves(grid.s[grid.C]) == ["i.outer", "j.outer", "i.inner", "j.inner", "l"]


def test_tile_takes_tvm_names(grid):
    i, j, _ = grid.axes
    grid.s[grid.C].tile(i, j, x_factor=8, y_factor=4)
    assert leaves(grid.s[grid.C]) == ["i.outer", "j.outer", "i.inner", "j.inner", "l"]


def test_a_record_never_changes(grid):
    stage = grid.s[grid.C]
    before = stage.state
    stage.split(grid.axes[0], factor=4)
    assert [axis.name for axis in before.leaves] == ["i", "j", "l"]
    assert stage.state is not before


def test_a_refusal_leaves_nothing_behind(grid):
    """Tile splits x before it finds that y cannot be split."""
    stage = grid.s[grid.C]
    i, j, _ = grid.axes
    before = stage.state, grid.s.text(), dict(grid.s.owner)
    with contextlib.suppress(ScheduleError):
        stage.tile(i, j, 4, 0)
    assert stage.state is before[0]
    assert grid.s.text() == before[1]
    assert grid.s.owner == before[2]
    assert grid.s.history == ()


def test_names_of_fused_parts_do_not_grow_without_end():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    axis = B.op.axis[0]
    for _ in range(40):
        axis = s[B].fuse(*s[B].split(axis, factor=2))
    assert len(axis.name) < 400
    assert axis.name.endswith(".fused")
