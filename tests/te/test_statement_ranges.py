"""Elements that leave their memory in the body of an opaque operation."""

from __future__ import annotations

import numpy as np

import tecomp
from tecomp import te, tir
from tests.te.message import message

n = te.var("n")
A = te.placeholder((4, 3), name="A")
X = te.placeholder((n,), name="X")
ROWS = te.placeholder((n,), "int32", name="ROWS")


def made(write, shape=(4, 3), inputs=(A,), name="C"):
    """Return the tensor whose body `write(ib, *inputs, result)` emits."""

    def body(ins, outs):
        ib = tir.ir_builder.create()
        write(ib, *map(ib.buffer_ptr, (*ins, *outs)))
        return ib.get()

    return te.extern(shape, list(inputs), body, name=name, dtype="float32")


def test_a_loop_that_stores_too_much() -> None:
    def write(ib, a, c):
        with ib.for_range(0, 4, "i") as i, ib.for_range(0, 4, "j") as j:
            c[i, j] = 1.0

    assert message(lambda: made(write)) == (
        "te.extern 'C': C[i, j] leaves 'C'\n"
        "  because: index 1, j, lies in [0, 3] and is 3 at j = 3; 'C' has extent 3 there\n"
        "  legal: 0 to 2, or an if_scope around it"
    )


def test_a_flat_index_that_reads_too_far() -> None:
    def write(ib, a, c):
        with ib.for_range(0, 12, "i") as i:
            c[i] = a[i + 1]

    assert message(lambda: made(write)) == (
        "te.extern 'C': A[(i + 1) // 3, (i + 1) % 3] leaves 'A'\n"
        "  because: index 0, (i + 1) // 3, lies in [0, 4] and is 4 at i = 11; 'A' has extent 4 there\n"
        "  legal: 0 to 3, or an if_scope around it"
    )


def test_one_element_past_a_symbolic_end() -> None:
    def write(ib, x, c):
        with ib.for_range(0, n, "i") as i:
            c[i] = x[i + 1]

    assert message(lambda: made(write, (n,), [X])) == (
        "te.extern 'C': X[i + 1] leaves 'X'\n"
        "  because: index 0, i + 1, reaches n; 'X' has extent n there\n"
        "  legal: 0 to n - 1, or an if_scope around it"
    )


def test_conditions_keep_elements_inside() -> None:
    def write(ib, x, c):
        with ib.for_range(0, n, "i") as i:
            with ib.if_scope(i > 0):
                c[i] = x[i - 1]
            with ib.else_scope():
                c[i] = te.if_then_else(n > 1, x[i + 1], 0.0)
        with ib.for_range(0, 0, "k") as k:
            c[k - 5] = 0.0

    x, got = np.arange(5, dtype="float32"), np.zeros(5, "float32")
    C = made(write, (n,), [X])
    tecomp.build(te.create_schedule(C.op), [X, C])(x, got)
    assert got.tolist() == [1, 0, 1, 2, 3]


def test_what_depends_on_data_passes() -> None:
    def write(ib, x, rows, c):
        with ib.for_range(0, n, "i") as i, ib.for_range(0, rows[i], "k") as k:
            c[rows[i] - 1] = x[k]

    assert made(write, (n,), [X, ROWS]).ndim == 1


def test_the_last_lane_of_a_vector() -> None:
    def write(ib, x, c):
        with ib.for_range(0, 4, "i") as i:
            ib.emit(c.asobject().vstore((i * 4,), x.asobject().vload((i,), "float32x4")))

    assert message(lambda: made(write, (14,), [te.placeholder((7,), name="X")])) == (
        "te.extern 'C': C[ramp(i * 4, 1, 4)] leaves 'C'\n"
        "  because: index 0, ramp(i * 4, 1, 4), lies in [3, 15] and is 15 at i = 3; 'C' has extent 14 there\n"
        "  legal: 0 to 13, or an if_scope around it"
    )
