"""What storage_align, double_buffer and prefetch refuse, word for word."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tecomp import te, tir
from tecomp.ir.text import text
from tecomp.lowering.func import lower_schedule
from tecomp.schedule import create_schedule
from tests.goldens import Golden

from .messages import messages
from .programs import chain, cumsum

Call = Callable[[SimpleNamespace], Any]


def lowered(p: SimpleNamespace, *more: Any) -> str:
    return text(lower_schedule(p.s, [p.A, *more, p.D], "f"))


def scope_and_lower(p: SimpleNamespace, call: Callable[[], Any], *more: Any) -> None:
    call()
    lowered(p, *more)


def inlined(p: SimpleNamespace) -> Any:
    p.s[p.B].compute_inline()
    return p.s[p.B].storage_align(p.B.op.axis[0], 8, 1)


def twice(p: SimpleNamespace) -> None:
    p.s[p.B].double_buffer()
    p.s[p.B].double_buffer()


def then_inlined(p: SimpleNamespace) -> None:
    p.s[p.B].double_buffer()
    p.s[p.B].compute_inline()


def bound_around(p: SimpleNamespace, thread: str) -> None:
    p.s[p.C].compute_at(p.s[p.D], p.D.op.axis[0])
    p.s[p.D].bind(p.D.op.axis[0], te.thread_axis(thread))
    p.s[p.C].double_buffer()
    lowered(p)


def by_address(p: SimpleNamespace) -> None:
    called = te.extern(
        (64,),
        [p.B],
        lambda ins, outs: tir.call_extern("int32", "f", ins[0].data, outs[0].data),
        name="called",
        dtype="float32",
    )
    s = create_schedule(called.op)
    s[p.B].storage_align(p.B.op.axis[0], 8, 1)
    lower_schedule(s, [p.A, called], "f")


def transformed(p: SimpleNamespace) -> None:
    p.s[p.B].transform_layout(lambda i, j: [j, i])
    p.s[p.B].storage_align(p.B.op.axis[0], 8, 1)


STORAGE_ALIGN: dict[str, Call] = {
    "an output": lambda p: p.s[p.D].storage_align(p.D.op.axis[0], 8, 1),
    "a placeholder": lambda p: p.s[p.A].storage_align(p.B.op.axis[0], 8, 1),
    "an inlined stage": inlined,
    "no axis": lambda p: p.s[p.B].storage_align(0, 8, 1),
    "a reduce axis": lambda p: p.s[p.C].storage_align(p.k, 8, 1),
    "a piece of a dimension": lambda p: p.s[p.B].storage_align(p.s[p.B].split(p.B.op.axis[1], 4)[0], 8, 1),
    "an axis of another stage": lambda p: p.s[p.B].storage_align(p.C.op.axis[0], 8, 1),
    "a factor of 0": lambda p: p.s[p.B].storage_align(p.B.op.axis[0], 0, 0),
    "a negative factor": lambda p: p.s[p.B].storage_align(p.B.op.axis[0], -8, 0),
    "a factor that is no integer": lambda p: p.s[p.B].storage_align(p.B.op.axis[0], 8.0, 1),
    "an offset that is no integer": lambda p: p.s[p.B].storage_align(p.B.op.axis[0], 8, True),
    "an argument": lambda p: scope_and_lower(p, lambda: p.s[p.B].storage_align(p.B.op.axis[0], 8, 1), p.B),
    "read by address": by_address,
    "in a layout of its own": transformed,
}

DOUBLE_BUFFER: dict[str, Call] = {
    "an output": lambda p: p.s[p.D].double_buffer(),
    "a placeholder": lambda p: p.s[p.A].double_buffer(),
    "twice": twice,
    "then inlined": then_inlined,
    "at the root": lambda p: scope_and_lower(p, p.s[p.B].double_buffer),
    "at a loop of threads": lambda p: bound_around(p, "threadIdx.x"),
    "at a loop of virtual threads": lambda p: bound_around(p, "vthread"),
    "an argument": lambda p: scope_and_lower(p, p.s[p.C].double_buffer, p.C),
}

SET_SCOPE: dict[str, Call] = {
    "an output": lambda p: p.s[p.D].set_scope("shared.dyn"),
    "an argument": lambda p: scope_and_lower(p, lambda: p.s[p.C].set_scope("shared"), p.C),
}


def later(p: SimpleNamespace, call: Call) -> None:
    """Prefetch B along the rows of C, then do something else to the loop."""
    p.s[p.C].prefetch(p.B, p.C.op.axis[0], 1)
    call(p)


def not_read_any_more(p: SimpleNamespace) -> None:
    p.s[p.D].prefetch(p.A, p.D.op.axis[0], 1)
    lowered(p)


def inlined_later(p: SimpleNamespace) -> None:
    p.s[p.C].prefetch(p.B, p.C.op.axis[0], 1)
    p.s[p.B].compute_inline()
    lowered(p)


def computed_there(p: SimpleNamespace) -> None:
    p.s[p.B].compute_at(p.s[p.C], p.C.op.axis[0])
    p.s[p.C].prefetch(p.B, p.C.op.axis[0], 1)
    lowered(p)


def near(p: SimpleNamespace) -> None:
    p.s[p.B].set_scope("local")
    p.s[p.C].prefetch(p.B, p.C.op.axis[0], 1)
    lowered(p)


def one_iteration_later(p: SimpleNamespace) -> None:
    """How long a loop of C is turns out where D computes it."""
    p.s[p.C].compute_at(p.s[p.D], p.D.op.axis[0])
    p.s[p.C].prefetch(p.B, p.C.op.axis[0], 1)
    lowered(p)


def decided_by_data(p: SimpleNamespace) -> None:
    index = te.placeholder((8,), "int32", name="index")
    G = te.compute((8,), lambda i: p.A[index[i], 0], name="G")
    s = create_schedule(G.op)
    s[G].prefetch(p.A, G.op.axis[0], 1)
    lower_schedule(s, [p.A, index, G], "f")


def trivial(p: SimpleNamespace) -> None:
    one = te.compute((1,), lambda i: p.A[i, 0], name="one")
    create_schedule(one.op)[one].prefetch(p.A, one.op.axis[0], 1)


PREFETCH: dict[str, Call] = {
    "no tensor": lambda p: p.s[p.C].prefetch(p.B.op, p.C.op.axis[0], 1),
    "a tensor that is not read": lambda p: p.s[p.B].prefetch(p.C, p.B.op.axis[0], 1),
    "a tensor that others read": not_read_any_more,
    "a tensor that is in no memory": inlined_later,
    "an axis of another stage": lambda p: p.s[p.C].prefetch(p.B, p.B.op.axis[0], 1),
    "the present iteration": lambda p: p.s[p.C].prefetch(p.B, p.C.op.axis[0], 0),
    "an earlier iteration": lambda p: p.s[p.C].prefetch(p.B, p.C.op.axis[0], -2),
    "no number": lambda p: p.s[p.C].prefetch(p.B, p.C.op.axis[0], 1.5),
    "a loop of threads": lambda p: (
        p.s[p.D].bind(p.D.op.axis[0], te.thread_axis("threadIdx.x")),
        p.s[p.D].prefetch(p.C, p.D.op.axis[0], 1),
    ),
    "lanes": lambda p: (p.s[p.D].vectorize(p.D.op.axis[0]), p.s[p.D].prefetch(p.C, p.D.op.axis[0], 1)),
    "vectorized later": lambda p: later(p, lambda p: p.s[p.C].vectorize(p.C.op.axis[0])),
    "parallel later": lambda p: later(p, lambda p: p.s[p.C].parallel(p.C.op.axis[0])),
    "split later": lambda p: later(p, lambda p: p.s[p.C].split(p.C.op.axis[0], 4)),
    "one iteration": trivial,
    "one iteration where it is computed": one_iteration_later,
    "what is computed in that loop": computed_there,
    "what is near": near,
    "what data decides": decided_by_data,
}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(STORAGE_ALIGN, id="storage_align"),
        pytest.param(DOUBLE_BUFFER, id="double_buffer"),
        pytest.param(SET_SCOPE, id="set_scope"),
        pytest.param(PREFETCH, id="prefetch"),
    ],
)
def test_refused(calls: dict[str, Call], golden: Golden) -> None:
    golden(messages(calls, chain))


def test_a_scan_keeps_the_memory_of_its_steps(golden: Golden) -> None:
    attempts: dict[str, Call] = {
        "storage_align of the update": lambda p: p.s[p.s2].storage_align(p.s2.op.axis[1], 8, 1),
        "double_buffer of the init": lambda p: p.s[p.init].double_buffer(),
    }
    golden(messages(attempts, cumsum))
