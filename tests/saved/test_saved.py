"""Schedules as whole texts: what is read back is written the same again, and computes the same."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError, UserTypeError
from tecomp.ir.parse_expr import ParseError
from tecomp.schedule import Schedule
from tests.goldens import Golden
from tests.parity.kit import plus_one


def again(s: Schedule) -> Schedule:
    """Return the schedule read back from the text of `s`, which is the same text again."""
    text = te.save(s)
    made = te.load(text)
    assert te.save(made) == text
    assert (made.text(), repr(made)) == (s.text(), repr(s))
    return made


def reduction():
    n, m = te.var("n"), te.size_var("m", "int64")
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: te.if_then_else(i < 3, A[i, j] * 2, te.const(1.5) + i), name="B")
    k = te.reduce_axis((0, m), name="k")
    C = te.compute((n,), lambda i: te.sum(B[i, k], axis=k, where=k > i, init=1), name="C")
    s = te.create_schedule(C.op)
    outer, _ = s[C].split(C.op.axis[0], factor=n // 4)
    s[B].compute_at(s[C], outer)
    s[C].set_store_predicate(C.op.axis[0] < n)
    return s


def tuples():
    n = te.var("n")
    A = te.placeholder((n, 7), "float64", name="A")
    k = te.reduce_axis((0, 7), name="k")
    at, best = te.compute((n,), lambda i: te.argmax((k, A[i, k]), axis=k), name="best")
    both = te.comm_reducer(
        lambda x, y: (x[0] + y[0], te.max(x[1], y[1])), lambda a, b: (te.const(0, a), -te.infinity(b)), name="both"
    )

    def ragged(i):
        q = te.reduce_axis((1, i + 3), name="q")
        return both((at[i] * q, best[i]), axis=q)

    D = te.compute((n,), ragged, name="D")
    return te.create_schedule([D[0].op])


def scan():
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S", tag="mine")
    total = te.compute((), lambda: S[0, 0] * 2, name="total")
    R = te.compute((n,), lambda *i: total() + S(0, *i), name="R", varargs_names=["i.x"], attrs={"a": [1, "b"]})
    s = te.create_schedule(R.op)
    s[S].split(S.op.scan_axis, 4)
    for stage in (init, update):
        s[stage].bind(stage.op.axis[1], te.thread_axis("threadIdx.x"))
    return s


def two_states():
    A = te.placeholder((9,), "int32", name="A")
    p, q = te.placeholder((9,), "int32", name="p"), te.placeholder((9,), "int32", name="q")
    S = te.scan(
        [te.compute((2,), lambda i: A[i]), te.compute((2,), lambda i: A[i] * 2)],
        [te.compute((9,), lambda t: p[t - 1] + q[t - 2]), te.compute((9,), lambda t: q[t - 1] & 7)],
        [p, q],
    )
    D = te.compute((9,), lambda i: S[0][i] - S[1][i])
    return te.create_schedule(D.op)


def rewritten():
    A = te.placeholder((64, 32), name="A")
    k = te.reduce_axis((0, 32), name="k")
    C = te.compute((64,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(k, 4)
    R = s.rfactor(C, inner)
    s[s.cache_read(A, "local", [R])].compute_at(s[R], R.op.axis[1])
    s[R].compute_at(s[C], C.op.axis[0])
    return s


def statements():
    n, f = te.var("n"), te.var("f", "float32")
    A = te.placeholder((n, 3), name="A")

    def scaled(ins, outs):
        ib = tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, n, "i") as i, ib.for_range(0, 3, "j") as j, ib.if_scope(i > j):
            b[i, j] = a[i, j] * f
        return ib.get()

    B = te.extern((n, 3), [A], scaled, name="B", attrs={"x": 1})
    C, _ = te.extern(
        [(n, 3), (n,)], [A, B], lambda ins, outs: tir.call_packed("f", *ins, *outs, n + 1), name="C",
        dtype=["float32", "int32"],
    )  # fmt: skip
    D = plus_one(C)
    s = te.create_schedule(D.op)
    s[D].parallel(D.op.axis[0])
    return s


PROGRAMS = (statements, reduction, tuples, scan, two_states, rewritten)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_round_trip(make, golden: Golden) -> None:
    s = make()
    golden(te.save(s))
    again(s)


def test_it_computes_the_same() -> None:
    s = again(reduction())
    A, C = s.stages[0].op.output(0), s.outputs[0].output(0)
    a, c = np.random.default_rng(0).random((19, 23), "float32"), np.zeros(19, "float32")
    tecomp.build(s, [A, C])(a, c)
    i = np.arange(19)[:, None]
    b = np.where(i < 3, a * 2, 1.5 + i)
    np.testing.assert_allclose(c, 1 + (b * (np.arange(23) > i)).sum(1), rtol=1e-5)


def test_a_formula_of_two_thousand_terms() -> None:
    A = te.placeholder((64,), name="A")

    def terms(i):
        total = A[i]
        for at in range(2000):
            total = total + A[(i + at) % 64]
        return total

    B = te.compute((64,), terms, name="B")
    assert "    part0 = " in te.save(te.create_schedule(B.op))
    again(te.create_schedule(B.op))


def test_typed_numbers_stay() -> None:
    A = te.placeholder((4,), "bfloat16", name="A")
    with te.tag_scope("t"):
        B = te.placeholder((4,), "uint8", name="if")
    C = te.compute((4,), lambda i: A[i] * te.const(0.1, "bfloat16") + te.nan("bfloat16") * B[i], name="C")
    D = te.compute((te.const(4, "int64"),), lambda i: te.all(C[i] > 0, B[i] == 255).astype("int8"), name="D")
    E = te.compute((4,), lambda i: (D[i], te.exp(C[i].astype("float16")), -te.infinity("float16")), name="E")
    s = te.create_schedule(E[0].op)
    made = again(s)
    assert [stage.op.tag for stage in made.stages] == ["", "t", "", "", ""]
    assert [tensor.dtype for tensor in made.outputs[0].outputs] == ["int8", "float16", "float16"]


def test_a_line_at_a_time_can_be_read() -> None:
    assert te.load("A = te.placeholder((4,), 'float32', name='A')\n"
                   "B = te.compute((4,), lambda i: A[i] + 1.0, name='B')\n"
                   "s = te.create_schedule([B.op])\n").outputs[0].name == "B"  # fmt: skip


NAMED = "a formula names axes and parts, and then returns its value"
ENDS, ONE_END = "an axis has ends and a name", "1 ends of an axis"
HEAD = "A = te.placeholder((4,), 'float32', name='A')\n"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (HEAD + "for i in range(3): pass", "For is not part of a saved schedule"),
        (HEAD + "import os", "Import is not part of a saved schedule"),
        (HEAD + "x = [i for i in A]", "ListComp is not part of a saved schedule"),
        (HEAD + "x = B", "nothing is called 'B' here"),
        (HEAD + "x = A.__class__", "'.__class__' is not part of a saved schedule"),
        (HEAD + "x = A.op.output(0).astype.__self__", "'.astype' is not part of a saved schedule"),
        (HEAD + "x = te.save(A)", "'save' is not part of a saved schedule"),
        (HEAD + "x = open('f')", "'f' is no number"),
        (HEAD + "x, y = (1, 2, 3)", "the value has other parts than the names"),
        (HEAD + "x = 1 @ 2", "MatMult is not part of a saved schedule"),
        (HEAD, "nothing in it is called s"),
        ("x = (", "'(' was never closed"),
        (HEAD + "def f(i):\n    i\nB = te.compute((4,), f, name='B')", "a formula ends with its value"),
        (HEAD + "def f(i):\n    i\n    return A[i]\nB = te.compute((4,), f, name='B')", NAMED),
        (HEAD + "def f(i):\n    k = te.reduce_axis(4)\n    return A[i]\nB = te.compute((4,), f, name='B')", ENDS),
        (
            HEAD + "def f(i):\n    k = te.reduce_axis(4, 'k')\n    return A[i]\nB = te.compute((4,), f, name='B')",
            ONE_END,
        ),
        (HEAD + "B = te.compute((4,), lambda i: te.sum(A[i], axis=[k]), name='B')", "no reduce axis is called so"),
        (HEAD + "B = te.compute((4,), 3, 'B')", "AttributeError: 'int' object has no attribute 'arguments'"),
        (HEAD + "x = 3 // 0", "ZeroDivisionError: integer division or modulo by zero"),
        (HEAD + "x = (1, 2)[5]", "IndexError: tuple index out of range"),
        (
            HEAD + "x = te.placeholder()",
            "TypeError: _Reader.placeholder() missing 3 required positional arguments: 'shape', 'dtype', and 'name'",
        ),
        (HEAD + "x = 'a' * 10000000000", "it is an operation of numbers"),
        ("\0", "source code string cannot contain null bytes"),
    ],
)
def test_what_cannot_be_read(text: str, because: str) -> None:
    with pytest.raises(ParseError) as caught:
        te.load(text)
    assert caught.value.because == because


def test_a_read_of_another_rank() -> None:
    with pytest.raises(UserError) as caught:
        te.load(HEAD + "B = te.compute((4,), lambda i: A[i, i], 'B')")
    assert (caught.value.asked, caught.value.because) == ("'A' indexed with 2 indices", "it has 1 dimension")


def test_a_function_without_a_name_stays_in_its_process() -> None:
    """In another, its number may be that of another function."""
    A = te.placeholder((4,), name="A")
    B = te.extern((4,), [A], lambda ins, outs: tir.call_packed(lambda a, b: None, ins[0], outs[0]), name="B")
    s = te.create_schedule(B.op)
    function = s[B].op.body.value.name.removeprefix("call_packed:")
    for write in (te.save, pickle.dumps):
        with pytest.raises(UserError) as caught:
            write(s)
        assert caught.value.asked == f"the call of {function} cannot be serialised"
        assert caught.value.because == "this Python function has no name outside this process"
        assert caught.value.legal == 'tecomp.register_func("my.name")(f), and tir.call_packed("my.name", ...)'


def test_other_things_than_texts() -> None:
    with pytest.raises(UserTypeError) as caught:
        te.load(b"s")  # type: ignore[arg-type]
    assert (caught.value.asked, caught.value.because) == ("te.load of b's'", "it is a bytes")


def test_what_cannot_be_written() -> None:
    A = te.placeholder((4,), name="A")
    noted = te.compute((4,), lambda i: A[i], name="noted", attrs={"x": object})
    with pytest.raises(UserError) as caught:
        te.save(te.create_schedule(noted.op))
    assert caught.value.because == "{'x': <class 'object'>} is no literal"
