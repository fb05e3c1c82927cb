"""Statements written by running Python."""

from __future__ import annotations

import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError, UserTypeError
from tests.tir.refusals import check_refusal

n = te.var("n")
A = tir.decl_buffer((n,), name="A")
M = tir.decl_buffer((n, 4), "int32", name="M")


def lines(ib) -> str:
    """Return the statements, without the lines they come from."""
    return "\n".join(line.split("  #")[0] for line in repr(ib.get()).splitlines())


def test_loops_and_conditions() -> None:
    ib = tecomp.tir.ir_builder.create()
    a = ib.buffer_ptr(A)
    with ib.for_range(0, n, name="i", kind="parallel") as i:
        with ib.if_scope(ib.likely(a[i] > 0)):
            a[i] = a[i] * 2.0
        with ib.else_scope():
            a[i] = 0
    with ib.for_range(1, 4, kind="unroll") as j:
        ib.emit(tir.call_extern("int32", "f", j))
    assert lines(ib) == (
        "for i in parallel(n):\n"
        "    if 0.0 < A[i]:\n"
        "        A[i] = A[i] * 2.0\n"
        "    else:\n"
        "        A[i] = 0.0\n"
        "for i in unrolled(i32(1), i32(4)):\n"
        "    call_extern[i32]('f', i)"
    )


def test_what_is_declared_lasts_to_the_end_of_its_block() -> None:
    ib = tir.ir_builder.create()
    a = ib.buffer_ptr(A)
    with ib.for_range(0, 8) as i:
        x = ib.let("x", a[i])
        local = ib.allocate("float32", (2,), name="t", scope="local")
        local[0] = x
        a[i] = local[0]
    a[0] = 1.0
    assert lines(ib) == (
        "for i in range(i32(8)):\n"
        "    x = A[i]\n"
        "    t = alloc(f32[i32(2)], 'local')\n"
        "    t[i32(0)] = x\n"
        "    A[i] = t[i32(0)]\n"
        "A[i32(0)] = 1.0"
    )


def test_threads() -> None:
    ib = tir.ir_builder.create()
    a, tx = ib.buffer_ptr(A), te.thread_axis("threadIdx.x")
    ib.scope_attr(tx, "thread_extent", 32)
    a[tx] = 1.0
    assert lines(ib) == "for threadIdx_x in thread('threadIdx.x', i32(32)):\n    A[threadIdx_x] = 1.0"


def test_virtual_threads_are_loops_of_their_kind() -> None:
    ib = tir.ir_builder.create()
    a, v = ib.buffer_ptr(A), te.thread_axis("vthread")
    ib.scope_attr(v, "thread_extent", 2)
    a[v] = 1.0
    assert lines(ib) == "for vthread in vthread(i32(2)):\n    A[vthread] = 1.0"


def test_one_index_into_several_dimensions_counts_row_by_row() -> None:
    ib = tir.ir_builder.create()
    m = ib.buffer_ptr(M)
    m[n] = m[0, 1]
    assert lines(ib) == "M[n // 4, n % 4] = M[i32(0), i32(1)]"
    assert m.asobject() is M
    assert m.dtype == "int32"


def test_a_vector_index_stores_lanes() -> None:
    ib = tir.ir_builder.create()
    m = ib.buffer_ptr(M)
    lanes = M.vload((0, 0), "int32x4").indices[1]
    m[0, lanes] = 7
    assert lines(ib) == "M[i32(0), ramp(i32(0), i32(1), 4)] = 7"


def test_an_address_of_a_pointer() -> None:
    ib = tir.ir_builder.create()
    ib.emit(tir.call_extern("int32", "f", ib.buffer_ptr(M), ib.pointer("float32", "p")))
    assert lines(ib) == "call_extern[i32]('f', address(M, 'rw', i32(0)), address(p, 'rw', i32(0)))"


def test_nothing() -> None:
    assert repr(tir.ir_builder.create().get()) == "pass"


def builder():
    return tir.ir_builder.create()


def inside_a_block(ib=None) -> None:
    ib = builder()
    with ib.for_range(0, 2):
        ib.get()


def kind_of_loop() -> None:
    with builder().for_range(0, 2, kind="fast"):
        pass


def fractional_bound() -> None:
    with builder().for_range(0, 2.5):
        pass


def narrow_loop() -> None:
    with builder().for_range(0, 2, dtype="uint8"):
        pass


def number_as_condition() -> None:
    with builder().if_scope(n):
        pass


def lonely_else() -> None:
    with builder().else_scope():
        pass


def stored_type() -> None:
    builder().buffer_ptr(A)[0] = te.const(1, "int32")


def stored_index() -> None:
    builder().buffer_ptr(A)[0.5] = 1


REFUSED = [
    (inside_a_block, UserError, "ib.get() inside a block", "the block has not ended", "after the with blocks"),
    (
        kind_of_loop,
        UserError,
        "ib.for_range 'i': kind 'fast'",
        "no loop is called so",
        "serial, parallel, vectorize, unroll; ib.scope_attr for the threads of a GPU",
    ),
    (fractional_bound, UserTypeError, "ib.for_range 'i': 2.5 as a bound", "it is float32", "an integer"),
    (
        narrow_loop,
        UserTypeError,
        "ib.for_range 'i': dtype uint8",
        "loops count in int32 or int64",
        "int32, int64",
    ),
    (number_as_condition, UserTypeError, "ib.if_scope of n", "it is int32", "a comparison, te.all, te.any"),
    (
        lonely_else,
        UserError,
        "ib.else_scope()",
        "no if_scope stands right before it",
        "with ib.if_scope(...): first",
    ),
    (stored_type, UserTypeError, "a int32 is stored to 'A'", "it holds float32", "value.astype('float32')"),
    (stored_index, UserTypeError, "'A' indexed by f32(0.5)", "it is float32", "integers"),
    (
        lambda: builder().buffer_ptr(M)[0, 1, 2],
        UserError,
        "'M' indexed with 3 indices",
        "it has 2 dimensions",
        "one for each, or one that counts row by row",
    ),
    (
        lambda: list(builder().buffer_ptr(M)),
        UserTypeError,
        "'M' as a sequence",
        "it is a buffer",
        "its elements by index",
    ),
    (
        lambda: builder().buffer_ptr(3),
        UserTypeError,
        "ib.buffer_ptr of 3",
        "it is a int",
        "a buffer of ins or outs",
    ),
    (
        lambda: builder().buffer_ptr(A, (4,)),
        UserError,
        "ib.buffer_ptr: shape",
        "a buffer has one shape",
        "one flat index, p[i]",
    ),
    (
        lambda: builder().allocate("float32", (4,), axis_separators=[1]),
        UserError,
        "ib.allocate 'buf': axis_separators",
        "memory has one address an element",
        "without",
    ),
    (
        lambda: builder().scope_attr(te.thread_axis("threadIdx.x"), "storage_scope", 1),
        UserError,
        "ib.scope_attr 'storage_scope'",
        "it has no meaning here",
        '"thread_extent" of a te.thread_axis',
    ),
    (
        lambda: builder().scope_attr(n, "thread_extent", 1),
        UserTypeError,
        "ib.scope_attr 'thread_extent' of n",
        "it is no thread axis",
        'te.thread_axis("threadIdx.x")',
    ),
    (
        lambda: builder().while_loop(n > 1),
        UserError,
        "ib.while_loop(1 < n)",
        "how often a loop runs must be known when it begins",
        "ib.for_range up to the greatest number, with an if_scope inside",
    ),
]


@pytest.mark.parametrize(("call", "kind", "asked", "because", "legal"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refused(call, kind, asked, because, legal) -> None:
    check_refusal(__file__, call, kind, asked, because, legal)
