"""What set_store_predicate refuses of reductions, word for word."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.errors import ScheduleError


@pytest.mark.parametrize("name", ["k", "k.inner", "i.k.outer.fused"])
def test_store_predicate_over_what_is_reduced(chain, refused, name):
    stage = chain.s[chain.C]
    outer, inner = stage.split(chain.k, 4)
    fused = stage.fuse(chain.C.op.axis[0], outer)
    axis = {"k": chain.k, "k.inner": inner, "i.k.outer.fused": fused}[name]
    with refused(
        ScheduleError,
        f"""
        set_store_predicate: {name.replace(".", "_")} == 1 on 'C'
          --> test_refuse_predicate.py:LINE
           |     stage.set_store_predicate(axis == 1)
           |     ^
          because: '{name}' is reduced: an element is stored for all its values
          legal: data axes, or where= in the reduction
    """,
    ):
        stage.set_store_predicate(axis == 1)


def test_a_thread_that_reduces_may_be_asked_for(chain):
    stage = chain.s[chain.C]
    stage.set_store_predicate(te.thread_axis("threadIdx.x") == 0)
    assert stage.state.store_predicate is not None
