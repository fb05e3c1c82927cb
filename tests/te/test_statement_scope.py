"""Names used behind their block in the body of an opaque operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tests.te.message import message, text

A = te.placeholder((4,), name="A")


def made(write):
    """Return the tensor whose body `write(ib, a, c)` emits."""

    def body(ins, outs):
        ib = tir.ir_builder.create()
        write(ib, *map(ib.buffer_ptr, (*ins, *outs)))
        return ib.get()

    return te.extern((4,), [A], body, name="C")


def leak_loop(ib, a, c):
    with ib.for_range(0, 3, "i") as i:
        c[i] = 0.0
    c[i] = 1.0


def leak_value(ib, a, c):
    with ib.for_range(0, 3, "i") as i:
        x = ib.let("x", a[i])
    c[0] = x


def leak_memory(ib, a, c):
    with ib.for_range(0, 3, "i"):
        t: Any = ib.allocate("float32", (2,), "t")
        t[0] = 1.0
    c[0] = t[0]


@pytest.mark.parametrize(("write", "name"), [(leak_loop, "i"), (leak_value, "x"), (leak_memory, "t")])
def test_a_name_behind_its_block(write, name) -> None:
    assert message(lambda: made(write)) == text(
        f"te.extern 'C': '{name}' behind its block",
        "what a loop, ib.let or ib.allocate makes is known to the end of the block that it is made in",
        f"uses of '{name}' in that block, or another name made outside",
    )


def test_a_body_may_be_said_twice() -> None:
    """Each of both loops makes the variable anew."""

    def write(ib, a, c):
        inner = tir.ir_builder.create()
        with inner.for_range(0, 4, "i") as i:
            x = inner.let("x", a[i])
            inner.emit(c.asobject().vstore((i,), x + x))
        ib.emit(inner.get())
        ib.emit(inner.get())

    C, got = made(write), np.zeros(4, "float32")
    tecomp.build(te.create_schedule(C.op), [A, C])(np.arange(4, dtype="float32"), got)
    assert got.tolist() == [0, 2, 4, 6]
