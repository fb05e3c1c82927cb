"""Where stages are computed: what compute_at and its kin write into the record, and what later calls make of it."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.schedule import INLINE, ROOT, SCAN, At, create_schedule


def test_stages_begin_at_the_root(chain):
    assert chain.s[chain.B].attach_type is ROOT
    assert chain.s[chain.D].is_output
    assert not chain.s[chain.C].is_output


def test_compute_at(chain):
    s = chain.s
    i = chain.D.op.axis[0]
    s[chain.C].compute_at(s[chain.D], i)
    attach = s[chain.C].attach_type
    assert isinstance(attach, At)
    assert (attach.op, attach.axis) == (chain.D.op, i)
    assert s[chain.C].attach_stage is chain.D.op
    assert s[chain.C].attach_ivar is i


def test_compute_at_a_reader_of_a_reader(chain):
    chain.s[chain.B].compute_at(chain.s[chain.D], chain.D.op.axis[0])
    assert chain.s[chain.B].attach_stage is chain.D.op


def test_a_split_moves_the_place_inside(chain):
    s, i = chain.s, chain.D.op.axis[0]
    s[chain.C].compute_at(s[chain.D], i)
    _, inner = s[chain.D].split(i, factor=4)
    assert s.attach_axis(chain.C.op) is inner
    _, innermost = s[chain.D].split(inner, factor=2)
    assert s.attach_axis(chain.C.op) is innermost


@pytest.mark.parametrize("at", [0, 1])
def test_a_fuse_moves_the_place_to_the_fused_loop(grid, at):
    E = te.compute(grid.C.shape, lambda i, j, l: grid.C[i, j, l] + 1, name="E")
    s = create_schedule(E.op)
    i, j, _ = E.op.axis
    s[grid.C].compute_at(s[E], (i, j)[at])
    fused = s[E].fuse(i, j)
    assert s.attach_axis(grid.C.op) is fused
    outer, inner = s[E].split(fused, factor=4)
    s[E].reorder(inner, outer)
    assert s.attach_axis(grid.C.op) is inner


def test_a_stage_can_be_moved_again(chain):
    s = chain.s
    s[chain.B].compute_inline()
    assert s[chain.B].attach_type is INLINE
    s[chain.B].compute_at(s[chain.C], chain.k)
    assert s[chain.B].attach_ivar is chain.k
    s[chain.B].compute_root()
    assert s[chain.B].attach_type is ROOT
    assert s[chain.B].attach_stage is None
    assert s[chain.B].attach_ivar is None


def test_the_last_guest_gone_a_stage_can_be_inlined(chain):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    s = create_schedule(E.op)
    s[chain.C].compute_at(s[chain.D], chain.D.op.axis[0])
    with pytest.raises(ScheduleError, match="has 'C' computed in its loops"):
        s[chain.D].compute_inline()
    s[chain.C].compute_root()
    s[chain.D].compute_inline()


def test_scope_and_predicate(chain):
    i = chain.D.op.axis[0]
    chain.s[chain.B].set_scope("shared")
    chain.s[chain.D].set_scope("global")
    chain.s[chain.D].set_store_predicate(i < 3)
    assert chain.s[chain.B].scope == "shared"
    assert chain.s[chain.D].state.store_predicate is (i < 3)


def test_stages_of_a_scan(cumsum):
    s = cumsum.s
    assert [group.scan for group in s.scans] == [cumsum.S.op]
    assert s.scans[0].body == (cumsum.s1.op, cumsum.s2.op)
    assert s.scans[0].init == (cumsum.init.op,)
    assert s[cumsum.s1].attach_type is SCAN
    assert s[cumsum.s2].attach_type is SCAN
    assert s[cumsum.init].attach_type is ROOT
    assert s[cumsum.X2].attach_type is ROOT
    assert s[cumsum.s1].group is cumsum.S.op
    assert s[cumsum.s2].state.is_update
    assert s[cumsum.init].state.is_init
    assert not s[cumsum.s1].state.is_update


def test_body_stages_move_within_the_body(cumsum):
    s = cumsum.s
    _, i = cumsum.s2.op.axis
    outer, _ = s[cumsum.s2].split(i, factor=32)
    s[cumsum.s1].compute_at(s[cumsum.s2], outer)
    assert s[cumsum.s1].attach_ivar is outer
    s[cumsum.s1].compute_root()
    assert s[cumsum.s1].attach_type is SCAN
    s[cumsum.s1].compute_inline()


def test_a_stage_outside_may_move_into_the_body(cumsum):
    cumsum.s[cumsum.X2].compute_at(cumsum.s[cumsum.s2], cumsum.s2.op.axis[1])
    assert cumsum.s[cumsum.X2].attach_stage is cumsum.s2.op


def test_time_is_split_on_the_scan_and_free_in_the_init(cumsum):
    s = cumsum.s
    _, inner = s[cumsum.S].split(cumsum.S.op.scan_axis, factor=4)
    s[cumsum.S].unroll(inner)
    t, i = cumsum.init.op.axis
    s[cumsum.init].reorder(i, t)
    s[cumsum.init].parallel(i)
    assert s[cumsum.S].leaf_iter_vars[-1] is inner
    assert tuple(s[cumsum.init].leaf_iter_vars) == (i, t)


def test_location_of_the_last_call(chain):
    s, i = chain.s, chain.D.op.axis[0]
    s[chain.C].compute_at(s[chain.D], i)
    s[chain.D].unroll(i)
    assert "compute_at" in s.location_of(chain.C.op, "compute_at").source()
    assert "unroll" in s.location_of(chain.D.op, "unroll", i).source()
    assert s.location_of(chain.B.op, "compute_at") is chain.B.op.loc
