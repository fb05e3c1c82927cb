"""What compute_at, compute_inline, set_scope and set_store_predicate refuse: whole messages, a golden file for each."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tecomp import te
from tecomp.schedule import create_schedule

from .messages import messages
from .programs import chain

Attempts = dict[str, Callable[[SimpleNamespace], object]]


def at(p: SimpleNamespace, tensor: object, reader: object, axis: object = None) -> object:
    """Compute a tensor at the first loop, or another axis, of its reader."""
    return p.s[tensor].compute_at(p.s[reader], reader.op.axis[0] if axis is None else axis)


def longer() -> SimpleNamespace:
    """A chain with E = D + 1 behind it, F of A alone, and a pair PQ of C that G reads; the outputs are D to G."""
    p = chain()
    p.E = te.compute((64,), lambda i: p.D[i] + 1, name="E")
    p.F = te.compute((64,), lambda i: p.A[i, 0], name="F")
    p.P, p.Q = te.compute((64,), lambda i: (p.C[i], p.C[i] + 1), name="PQ")
    p.G = te.compute((64,), lambda i: p.P[i] + p.Q[i], name="G")
    p.s = create_schedule([p.E.op, p.F.op, p.G.op])
    return p


COMPUTE_AT: Attempts = {
    "a tensor": lambda p: p.s[p.C].compute_at(p.D, p.i),
    "no axis": lambda p: at(p, p.C, p.D, 0),
    "itself": lambda p: at(p, p.C, p.C),
    "a cycle": lambda p: (at(p, p.B, p.C), at(p, p.C, p.B)),
    "a cycle of three": lambda p: (at(p, p.B, p.C), at(p, p.C, p.D), at(p, p.D, p.B)),
    "another schedule": lambda p: p.s[p.C].compute_at(create_schedule(p.D.op)[p.D], p.i),
    "a split axis": lambda p: (p.s[p.D].split(p.i, factor=4), at(p, p.C, p.D)),
    "a foreign axis": lambda p: at(p, p.C, p.D, p.k),
    "of an output": lambda p: at(p, p.D, p.C),
    "of a placeholder": lambda p: at(p, p.A, p.B),
    "in a placeholder": lambda p: at(p, p.B, p.A, p.B.op.axis[0]),
}
COMPUTE_AT_IN_MORE: Attempts = {
    "an inlined stage": lambda p: (p.s[p.D].compute_inline(), at(p, p.C, p.D)),
    "a stage that reads something else": lambda p: at(p, p.C, p.F),
}
COMPUTE_INLINE: Attempts = {
    "a reduction": lambda p: p.s[p.C].compute_inline(),
    "an output": lambda p: p.s[p.D].compute_inline(),
    "a placeholder": lambda p: p.s[p.A].compute_inline(),
    "a split stage": lambda p: (p.s[p.B].split(p.B.op.axis[0], factor=4), p.s[p.B].compute_inline()),
    "a reordered stage": lambda p: (p.s[p.B].reorder(*p.B.op.axis[::-1]), p.s[p.B].compute_inline()),
    "a stage with a scope": lambda p: (p.s[p.B].set_scope("local"), p.s[p.B].compute_inline()),
}
COMPUTE_INLINE_OF_MORE: Attempts = {
    "two outputs": lambda p: p.s[p.P].compute_inline(),
    "around another stage": lambda p: (at(p, p.B, p.C), at(p, p.C, p.D), p.s[p.D].compute_inline()),
}
COMPUTE_ROOT: Attempts = {"of a placeholder": lambda p: p.s[p.A].compute_root()}
SET_SCOPE: Attempts = {
    "unknown": lambda p: p.s[p.B].set_scope("texture"),
    "of an output": lambda p: p.s[p.D].set_scope("shared"),
    "of a placeholder": lambda p: p.s[p.A].set_scope("shared"),
    "of an inlined stage": lambda p: (p.s[p.B].compute_inline(), p.s[p.B].set_scope("local")),
}
STORE_PREDICATE: Attempts = {
    "a number": lambda p: p.s[p.D].set_store_predicate(p.i + 1),
    "that reads a tensor": lambda p: p.s[p.D].set_store_predicate(p.A[0, 0] < 1),
    "on an inlined stage": lambda p: (
        p.s[p.B].compute_inline(),
        p.s[p.B].set_store_predicate(p.B.op.axis[0] < 1),
    ),
    "over axes of another stage": lambda p: p.s[p.D].set_store_predicate(p.B.op.axis[1] < 3),
}


@pytest.mark.parametrize(
    ("attempts", "program"),
    [
        pytest.param(COMPUTE_AT, chain, id="compute_at"),
        pytest.param(COMPUTE_AT_IN_MORE, longer, id="compute_at in more"),
        pytest.param(COMPUTE_INLINE, chain, id="compute_inline"),
        pytest.param(COMPUTE_INLINE_OF_MORE, longer, id="compute_inline of more"),
        pytest.param(COMPUTE_ROOT, chain, id="compute_root"),
        pytest.param(SET_SCOPE, chain, id="set_scope"),
        pytest.param(STORE_PREDICATE, chain, id="set_store_predicate"),
    ],
)
def test_refused(attempts, program, golden):
    golden(messages(attempts, program))
