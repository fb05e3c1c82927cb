"""Operations whose results a statement writes: what is declared, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.ir import interpret
from tecomp.ir.parse import parse
from tests.te.message import message, text

n, m = te.var("n"), te.var("m")
A = te.placeholder((n,), name="A")
D = te.placeholder((n, 4), dtype="float64", name="D")


def copied(ins, outs):
    return tir.call_packed("copy", ins[0], outs[0])


def test_one_result_takes_the_type_of_the_inputs() -> None:
    C = te.extern((n, 4), [D], copied, name="C", tag="t", attrs={"a": 1})
    assert repr(C) == "C: f64[n, 4]"
    assert isinstance(C.op, te.ExternOp)
    assert (C.op.tag, C.op.attrs, C.op.input_tensors) == ("t", {"a": 1}, (D,))
    assert repr(C.op.body) == "call_packed('copy', address(D, 'r', i32(0)), address(C, 'rw', i32(0)))"
    assert [repr(buffer) for buffer in (*C.op.input_placeholders, *C.op.output_placeholders)] == [
        "D: f64[n, i32(4)]",
        "C: f64[n, i32(4)]",
    ]


def test_several_results_have_shapes_and_types_of_their_own() -> None:
    def both(ins, outs):
        return tir.call_packed("both", ins[0], *outs)

    values, places = te.extern([(n,), (n, 2)], [A], both, name="sorted", dtype=["float32", "int64"])
    assert (repr(values), repr(places)) == ("sorted.v0: f32[n]", "sorted.v1: i64[n, 2]")
    assert values.op is places.op
    assert te.extern([(n,), ()], [A], both, dtype="int8")[1].ndim == 0


def test_shapes() -> None:
    def fill(ins, outs):
        return tir.call_packed("fill", outs[0])

    assert te.extern(8, [], fill, dtype="int32").shape[0].value == 8
    assert te.extern(n, [], fill, dtype="int32").shape == (n,)
    assert te.extern((), [], fill, dtype="int32").shape == ()


def test_a_tensor_may_be_read_twice() -> None:
    C = te.extern((n,), [A, A], lambda ins, outs: tir.call_packed("add", *ins, *outs), name="C")
    assert C.op.input_tensors == (A,)
    assert len(C.op.input_placeholders) == 2


def test_buffers_of_ones_own() -> None:
    X, Y = tir.decl_buffer((n,), name="X"), tir.decl_buffer((n,), "int32", name="Y")
    C = te.extern((n,), [A], lambda ins, outs: tir.call_packed("f", ins[0], outs[0]), in_buffers=X, out_buffers=[Y])
    assert repr(C) == "extern: i32[n]"
    assert repr(C.op.body) == "call_packed('f', address(X, 'r', i32(0)), address(Y, 'rw', i32(0)))"


def test_the_variables_of_a_body() -> None:
    ib = tir.ir_builder.create()
    out = tir.decl_buffer((n,), name="out")
    place = ib.buffer_ptr(out)
    with ib.for_range(0, n, name="i") as i:
        twice = ib.let("twice", i * 2)
        place[i] = (twice + m).astype("float32")
    op = te.extern((n,), [], lambda ins, outs: ib.get(), out_buffers=out).op
    assert op.variables == [n, m]


COPY = """\
def copy(X: f32[k], Y: out[f32[k, 2]]):
    for i in range(k):
        for j in range(2):
            Y[i, j] = X[i]
"""
ASSERTED = ":\n    assert 1 <= k, 'it has rows'\n    for i"


def test_a_program_as_an_operation() -> None:
    C = te.extern_primfunc([A], parse(COPY))
    assert C.op.name == "copy"
    assert C.op.outputs[0].ndim == 2
    assert te.extern_primfunc([A], parse(COPY), name="C").op.name == "C"


def stored(ins, outs):
    ib = tir.ir_builder.create()
    ib.buffer_ptr(ins[0])[0] = 1.0
    return ib.get()


other = tir.decl_buffer((4,), name="other")

REFUSED = [
    (
        lambda: te.extern((n,), [A, D], copied, name="C"),
        text("te.extern 'C' without dtype", "the inputs are float32 and float64", 'dtype="float32"'),
    ),
    (
        lambda: te.extern((n,), [], copied, name="C"),
        text("te.extern 'C' without dtype", "there is no input", 'dtype="float32"'),
    ),
    (
        lambda: te.extern([(n,), (n,)], [A], copied, name="C", dtype=["int8"]),
        text("te.extern 'C': 1 dtypes", "it has 2 results", "one for all, or one for each"),
    ),
    (
        lambda: te.extern((n,), [A, 3], copied),
        text(
            "te.extern 'extern': inputs [A: f32[n], 3]",
            "they are not all tensors",
            "a list of tensors, [] for none",
        ),
    ),
    (
        lambda: te.extern((n,), [A], "copy"),
        text("te.extern 'extern': 'copy' as the body", "it is no function", "lambda ins, outs: ..."),
    ),
    (
        lambda: te.extern((n,), [A], lambda ins, outs: None),
        text("te.extern 'extern': the body", "it returned None", "ib.get(), tir.call_packed(...), a statement"),
    ),
    (
        lambda: te.extern((n,), [A], lambda ins, outs: tir.ir_builder.create()),
        text(
            "te.extern 'extern': the body",
            "it returned a IRBuilder",
            "ib.get(), tir.call_packed(...), a statement",
        ),
    ),
    (
        lambda: te.extern((n,), [A], lambda ins, outs: tir.call_packed("f", A[0], outs[0])),
        text("te.extern 'extern': the body reads 'A'", "there its memory is a buffer", "the buffers that it is given"),
    ),
    (
        lambda: te.extern((n,), [A], stored),
        text("te.extern 'extern': the body writes 'A'", "it is an input", "writing results"),
    ),
    (
        lambda: te.extern((n,), [A], lambda ins, outs: tir.call_packed("f", ins[0]), name="C"),
        text(
            "te.extern 'C': nothing writes 'C'",
            "it is a result",
            'a store to it, or a call that gets its access_ptr("w")',
        ),
    ),
    (
        lambda: te.extern((n,), [A], lambda ins, outs: tir.call_packed("f", other, outs[0]), name="C"),
        text(
            "te.extern 'C': the body uses 'other'",
            "it is none of its tensors, and not allocated in it",
            "the buffers that it is given, ib.allocate",
        ),
    ),
    (
        lambda: te.extern((n,), [A], copied, in_buffers=[]),
        text("te.extern 'extern': 0 in_buffers", "there are 1 tensors", "one for each"),
    ),
    (
        lambda: te.extern((n,), [A], copied, in_buffers=[3]),
        text("te.extern 'extern': in_buffers[0] is 3", "it is no buffer", "tir.decl_buffer(...)"),
    ),
    (
        lambda: te.extern((n,), [A], copied, in_buffers=[other]),
        text(
            "te.extern 'extern': in_buffers[0], 'other', is float32[4]",
            "'A' is float32[n]",
            "the shape and type of its tensor",
        ),
    ),
    (
        lambda: te.extern((n,), [A], copied, out_buffers=[other]),
        text(
            "te.extern 'extern': out_buffers[0], 'other', is float32[4]",
            "the shape of the result is float32[n]",
            "the shape and type of its tensor",
        ),
    ),
    (
        lambda: te.extern((n,), [A], copied, in_buffers=tir.decl_buffer((n,), name="X", strides=[2])),
        text(
            "te.extern 'extern': in_buffers[0], 'X', has strides, an offset or a scope of its own",
            "an opaque operation sees its tensors whole, row-major, in global memory",
            "tir.decl_buffer(shape, dtype, name)",
        ),
    ),
    (
        lambda: te.extern_primfunc([A], "copy"),
        text("te.extern_primfunc of 'copy'", "it is a str", "what tecomp.lower returns"),
    ),
    (
        lambda: te.extern_primfunc([D], parse(COPY)),
        text(
            "te.extern_primfunc of 'copy': the tensors D: f64[n, 4]",
            "it reads X: f32[k]",
            "one tensor for each, of its type and rank",
        ),
    ),
    (
        lambda: te.extern_primfunc([], parse(COPY.replace("f32[k],", "f32[k], a: f32,"))),
        text(
            "te.extern_primfunc of 'copy'",
            "it takes the scalar 'a'",
            "a program of arrays, as tecomp.lower gives it without a target",
        ),
    ),
    (
        lambda: te.extern_primfunc([A], parse(COPY.replace(":\n    for i", ASSERTED))),
        text(
            "te.extern_primfunc of 'copy'",
            "it requires that it has rows",
            "a program of arrays, as tecomp.lower gives it without a target",
        ),
    ),
    (
        lambda: te.extern_primfunc([A], parse(COPY.replace("2]]):", "2]]) -> device:"))),
        text(
            "te.extern_primfunc of 'copy'",
            "it is lowered to level device",
            "a program of arrays, as tecomp.lower gives it without a target",
        ),
    ),
    (
        lambda: te.extern_primfunc([A], parse(COPY.replace("[k", "[8").replace("(k)", "(8)"))),
        text("te.extern_primfunc of 'copy': extent 0 of 'A' is n", "that of 'X' is 8", "the same extents"),
    ),
    (
        lambda: te.extern_primfunc([A], parse(COPY.replace("f32[k, 2]", "f32[k // 2, 2]"))),
        text("te.extern_primfunc", "it has the extent k // 2", "extents that are sums of sizes"),
    ),
    (
        lambda: te.extern_primfunc([], parse("def f(Y: out[f32[k]]):\n    for i in range(k):\n        Y[i] = 0.0\n")),
        text("te.extern_primfunc of 'f'", "no tensor gives its size 'k'", "a size of what it reads"),
    ),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_refused(call, said) -> None:
    assert message(call) == said


def test_an_opaque_operation_in_a_scan(refused) -> None:
    state = te.placeholder((n, m), name="state")
    X = te.placeholder((n, m), name="X")
    first = te.compute((1, m), lambda _, i: X[0, i], name="first")
    inside = te.extern((n, m), [state], copied, name="inside")
    update = te.compute((n, m), lambda t, i: inside[t, i] + X[t, i], name="update")
    with refused(
        tecomp.errors.UserError,
        """
        te.scan 'scan': 'inside' is computed in each step
          --> test_extern.py:LINE
           |     te.scan(first, update, state)
           |     ^
          because: it is an opaque operation, which reads all of its inputs, and later steps do not exist yet
          legal: te.compute; or what 'inside' reads left out of the scan's inputs
    """,
    ):
        te.scan(first, update, state)


def test_a_function_may_use_the_arrays_as_those_of_tvm():
    A = te.placeholder((5,), name="A")

    def add_one(x, y, z):
        tecomp.nd.array(x.numpy() + 1).copyto(y)
        x.copyto(z)
        z.copyfrom(z.asnumpy() * x.copyto(tecomp.cpu()).numpy())

    B, C = te.extern(
        [(5,), (5,)], [A], lambda ins, outs: tir.call_packed(add_one, *ins, *outs), dtype=["float64", "float32"]
    )
    s = te.create_schedule(B.op)
    a = np.arange(5, dtype="float32")
    for run in (lambda *given: interpret(tecomp.lower(s, [A, B, C]), *given), tecomp.build(s, [A, B, C])):
        b, c = np.zeros(5), np.zeros(5, "float32")
        run(a, b, c)
        np.testing.assert_array_equal(b, a + 1)
        np.testing.assert_array_equal(c, a * a)
