"""Where stages of a scan cannot be: whole messages in golden files. Their loops are in the tests of loops and marks."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from .messages import messages
from .programs import cumsum

Attempts = dict[str, Callable[[SimpleNamespace], object]]


def at_R(p: SimpleNamespace, tensor: object, axis: int = 0) -> object:
    return p.s[tensor].compute_at(p.s[p.R], p.R.op.axis[axis])


COMPUTE_AT: Attempts = {
    "the update": lambda p: at_R(p, p.s2),
    "the init": lambda p: at_R(p, p.init),
    "the init in the steps": lambda p: p.s[p.init].compute_at(p.s[p.S], p.time),
    "the scan": lambda p: at_R(p, p.S),
    "the scan in a loop over a dimension": lambda p: at_R(p, p.S, 1),
    "a stage of the step out of it": lambda p: at_R(p, p.s1),
    "a stage of the step in the loop of steps": lambda p: p.s[p.s1].compute_at(p.s[p.S], p.time),
}
COMPUTE_INLINE: Attempts = {
    "the update": lambda p: p.s[p.s2].compute_inline(),
    "the init": lambda p: p.s[p.init].compute_inline(),
    "the scan": lambda p: p.s[p.S].compute_inline(),
}
SET_SCOPE: Attempts = {"of the update": lambda p: p.s[p.s2].set_scope("local")}
TABLES = {"compute_at": COMPUTE_AT, "compute_inline": COMPUTE_INLINE, "set_scope": SET_SCOPE}


@pytest.mark.parametrize("attempts", TABLES.values(), ids=TABLES)
def test_refused(attempts, golden):
    golden(messages(attempts, cumsum))
