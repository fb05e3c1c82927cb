"""tensorize: by whatever loops the elements of an instruction are reached, it computes what they did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import ScheduleError
from tecomp.ir import interpret
from tecomp_runtime import ArgumentError
from tests.intrinsics import agrees, elementwise, gemv, numbers, vadd

Tile = Callable[[Any, Any], Any]


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 31, 48, 53])
def test_full_tiles_are_the_instruction_and_the_rest_is_loops(n: int) -> None:
    size = te.var("n")
    A, B = te.placeholder((size,), name="A"), te.placeholder((size,), name="B")
    C = te.compute((size,), lambda i: B[i] + A[i], name="C")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=16)
    s[C].tensorize(inner, vadd())
    a, b = numbers((n,), (n,))
    agrees(s, [A, B, C], [a, b], a + b)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 31])
def test_constant_extents_that_the_tile_does_not_divide(n: int) -> None:
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=16)
    s[C].tensorize(inner, vadd())
    a, b = numbers((n,), (n,))
    agrees(s, [A, B, C], [a, b], a + b)


def matvec(n: Any = 12, m: Any = 64, l: Any = 48) -> Any:
    """C = A @ B.T."""
    A, B = te.placeholder((n, l), name="A"), te.placeholder((m, l), name="B")
    k = te.reduce_axis((0, l), name="k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    return te.create_schedule(C.op), A, B, C


def all_of_k(s: Any, C: Any) -> Any:
    _, inner = s[C].split(C.op.axis[1], factor=16)
    s[C].tensorize(inner, gemv(16, 48))


def part_of_k(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(C.op.axis[0], jo, ko, ji, ki)
    s[C].tensorize(ji, gemv(16, 12))


def k_outermost(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(ko, C.op.axis[0], jo, ji, ki)
    s[C].tensorize(ji, gemv(16, 12))


def permuted(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(C.op.axis[0], jo, ko, ki, ji)
    s[C].tensorize(ki, gemv(16, 12))


def fused_with_k(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(C.op.axis[0], jo, ko, ki, ji)
    s[C].tensorize(s[C].fuse(ki, ji), gemv(16, 12))


def strided(s: Any, C: Any) -> Any:
    jo, ji = s[C].split(C.op.axis[1], nparts=16)
    ko, ki = s[C].split(C.op.reduce_axis[0], nparts=12)
    s[C].reorder(C.op.axis[0], ji, ki, jo, ko)
    s[C].tensorize(jo, gemv(16, 12))


def split_again(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    j1, j2 = s[C].split(ji, factor=4)
    k1, k2 = s[C].split(ki, factor=3)
    s[C].reorder(C.op.axis[0], jo, ko, k1, j2, j1, k2)
    s[C].tensorize(k1, gemv(16, 12))


def one_row_of_several(s: Any, C: Any) -> Any:
    io, ii = s[C].split(C.op.axis[0], factor=1)
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(io, jo, ko, ii, ji, ki)
    s[C].tensorize(ii, gemv(16, 12))


def outside_fused(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(C.op.axis[0], jo, ko, ji, ki)
    s[C].fuse(C.op.axis[0], jo)
    s[C].tensorize(ji, gemv(16, 12))


def outside_fused_with_k(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(C.op.axis[0], jo, ko, ji, ki)
    s[C].fuse(jo, ko)
    s[C].tensorize(ji, gemv(16, 12))


def parallel_outside(s: Any, C: Any) -> Any:
    jo, ji, ko, ki = parts(s, C)
    s[C].reorder(C.op.axis[0], jo, ko, ji, ki)
    s[C].parallel(C.op.axis[0])
    s[C].unroll(ko)
    s[C].tensorize(ji, gemv(16, 12))


def parts(s: Any, C: Any) -> Any:
    return *s[C].split(C.op.axis[1], factor=16), *s[C].split(C.op.reduce_axis[0], factor=12)


SHAPES = [
    all_of_k, part_of_k, k_outermost, permuted, fused_with_k, strided, split_again, one_row_of_several, outside_fused,
    outside_fused_with_k, parallel_outside,
]  # fmt: skip


@pytest.mark.parametrize("tile", SHAPES)
def test_a_reduction_through_loops_of_every_shape(tile: Tile) -> None:
    s, A, B, C = matvec()
    tile(s, C)
    a, b = numbers((12, 48), (64, 48))
    agrees(s, [A, B, C], [a, b], a @ b.T)


@pytest.mark.parametrize(("m", "l"), [(1, 1), (15, 11), (16, 12), (17, 13), (37, 29)])
@pytest.mark.parametrize("parts", ["biu", "u"])
def test_tails_of_a_reduction_along_both_axes(m: int, l: int, parts: str) -> None:
    s, A, B, C = matvec(3, m, l)
    jo, ji, ko, ki = *s[C].split(C.op.axis[1], factor=16), *s[C].split(C.op.reduce_axis[0], factor=12)
    s[C].reorder(C.op.axis[0], jo, ko, ji, ki)
    s[C].tensorize(ji, gemv(16, 12, parts=parts))
    a, b = numbers((3, l), (m, l))
    agrees(s, [A, B, C], [a, b], a @ b.T)


@pytest.mark.parametrize(("n", "m", "l"), [(0, 5, 5), (2, 17, 13), (1, 16, 12), (3, 40, 0)])
def test_symbolic_extents(n: int, m: int, l: int) -> None:
    s, A, B, C = matvec(*map(te.var, "nml"))
    part_of_k(s, C)
    a, b = numbers((n, l), (m, l))
    agrees(s, [A, B, C], [a, b], a @ b.T)


@pytest.mark.parametrize("parts", ["b", "iu", "biu"])
def test_all_of_a_reduction_by_a_body_or_by_its_two_halves(parts: str) -> None:
    s, A, B, C = matvec(3, 16, 8)
    s[C].tensorize(C.op.axis[1], gemv(16, 8, parts=parts))
    a, b = numbers((3, 8), (16, 8))
    agrees(s, [A, B, C], [a, b], a @ b.T)


def test_a_body_that_goes_on_with_the_result_is_not_the_whole() -> None:
    """What TE programs give for a body is often the update: with a start at hand, that comes first."""
    a, b = te.placeholder((8,), name="a"), te.placeholder((8,), name="b")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((1,), lambda _: te.sum(a[k] * b[k], axis=k), name="c")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        x, y, z = map(ib.buffer_ptr, (*ins, *outs))
        with ib.for_range(0, 8) as i:
            z[0] = z[0] + x[i] * y[i]
        return ib.get(), outs[0].vstore(0, 0.0), ib.get()

    s, A, B, C = matvec(3, 4, 8)
    s[C].tensorize(C.op.reduce_axis[0], te.decl_tensor_intrin(c.op, emit))
    x, y = numbers((3, 8), (4, 8))
    agrees(s, [A, B, C], [x, y], x @ y.T)


def test_start_values_of_the_program_are_stored_by_loops() -> None:
    A, B, I = (te.placeholder(shape, name=name) for shape, name in (((6, 24), "A"), ((16, 24), "B"), ((6, 16), "I")))
    k = te.reduce_axis((0, 24), name="k")
    C = te.compute((6, 16), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k, init=I[i, j]), name="C")
    s = te.create_schedule(C.op)
    ko, ki = s[C].split(k, factor=8)
    s[C].reorder(C.op.axis[0], ko, C.op.axis[1], ki)
    s[C].tensorize(C.op.axis[1], gemv(16, 8))
    a, b, i = numbers((6, 24), (16, 24), (6, 16))
    agrees(s, [A, B, I, C], [a, b, i], a @ b.T + i)


def test_the_intrinsic_may_be_in_a_stage_inside_others() -> None:
    s, A, B, C = matvec(8, 32, 24)
    D = te.compute((8, 32), lambda i, j: C[i, j] * 2.0 + 1.0, name="D")
    s = te.create_schedule(D.op)
    _, jo, _, _ = s[D].tile(*D.op.axis, 4, 16)
    s[C].compute_at(s[D], jo)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=12)
    s[C].reorder(C.op.axis[0], ko, C.op.axis[1], ki)
    s[C].tensorize(C.op.axis[1], gemv(16, 12))
    a, b = numbers((8, 24), (32, 24))
    agrees(s, [A, B, D], [a, b], a @ b.T * 2 + 1)


def test_operands_are_regions_of_copies_in_other_memory() -> None:
    s, A, B, C = matvec(8, 32, 24)
    copy = s.cache_read(B, "local", [C])
    jo, ji = s[C].split(C.op.axis[1], factor=16)
    s[copy].compute_at(s[C], jo)
    binds: dict[Any, Any] = {}
    x, y = te.placeholder((24,), name="x"), te.placeholder((16, 24), name="y")
    k = te.reduce_axis((0, 24), name="k")
    z = te.compute((16,), lambda i: te.sum(x[k] * y[i, k], axis=k), name="z")
    binds[y] = tir.decl_buffer(y.shape, y.dtype, "y", scope="local")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        left, right, to = map(ib.buffer_ptr, (*ins, *outs))
        with ib.for_range(0, 16, name="i") as i:
            to[i] = 0.0
            with ib.for_range(0, 24, name="k") as k:
                to[i] = to[i] + left[k] * right[i, k]
        return ib.get()

    s[C].tensorize(ji, te.decl_tensor_intrin(z.op, emit, binds=binds))
    a, b = numbers((8, 24), (32, 24))
    agrees(s, [A, B, C], [a, b], a @ b.T)


def test_two_axes_of_an_instruction_in_one_of_the_program_and_the_other_way_round() -> None:
    A, B = te.placeholder((256,), name="A"), te.placeholder((256,), name="B")
    C = te.compute((256,), lambda i: A[i] * B[i], name="C")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=32)
    high, _ = s[C].split(inner, factor=8)
    s[C].tensorize(high, elementwise(lambda x, y: x * y, ((4, 8), "float32"), ((4, 8), "float32")))
    a, b = numbers((256,), (256,))
    agrees(s, [A, B, C], [a, b], a * b)

    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=32)
    high, low = s[C].split(inner, factor=8)
    s[C].reorder(low, high)
    s[C].tensorize(low, elementwise(lambda x, y: x * y, ((32,), "float32"), ((32,), "float32")))
    agrees(s, [A, B, C], [a, b], a * b)


FORMULAS = [
    (lambda x, y: x + y, lambda a, b: b + a),
    (lambda x, y: x * 2.0 + y, lambda a, b: b + 2.0 * a),
    (te.max, lambda a, b: te.max(b, a)),
    (lambda x, y: tir.Select(x < y, x, y * 2.0), lambda a, b: tir.Select(te.logical_not(a < b), b * 2.0, a)),
    (lambda x, y: te.if_then_else(x > 0.0, y, 0.0), lambda a, b: tir.Select(a > 0.0, b, 0.0)),
    (lambda x, y: te.exp(x) - y, lambda a, b: te.exp(a) - b),
]


@pytest.mark.parametrize("number", [0, 1, 2, 4, 5])
def test_formulas_that_say_the_same(number: int) -> None:
    own, other = FORMULAS[number]
    A, B = te.placeholder((5, 8), name="A"), te.placeholder((5, 8), name="B")
    C = te.compute((5, 8), lambda i, j: other(A[i, j], B[i, j]), name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], elementwise(own, ((8,), "float32"), ((8,), "float32")))
    plain = te.create_schedule(C.op)
    a, b = numbers((5, 8), (5, 8))
    expected = np.zeros((5, 8), "float32")
    interpret(tecomp.lower(plain, [A, B, C]), a, b, expected)
    agrees(s, [A, B, C], [a, b], expected)


def test_a_choice_by_the_opposite_condition() -> None:
    A = te.placeholder((5, 8), "int32", name="A")
    C = te.compute((5, 8), lambda i, j: tir.Select(A[i, j] < 3, A[i, j], A[i, j] * 2), name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], elementwise(lambda x: tir.Select(x >= 3, x * 2, x), ((8,), "int32")))
    a = np.arange(40, dtype="int32").reshape(5, 8) % 7
    agrees(s, [A, C], [a], np.where(a < 3, a, a * 2))


def test_conversions_through_a_wider_type() -> None:
    A = te.placeholder((5, 8), "int8", name="A")
    C = te.compute((5, 8), lambda i, j: A[i, j].astype("int16").astype("int32") + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], elementwise(lambda x: x.astype("int32") + 1, ((8,), "int8")))
    a = np.arange(-20, 20, dtype="int8").reshape(5, 8)
    agrees(s, [A, C], [a], a.astype("int32") + 1)


def scaled(n: int, dtype: str = "float32") -> Any:
    """out = x * v + w, for numbers v and w."""
    x, v, w = te.placeholder((n,), name="x"), te.var("v", dtype), te.var("w", "int32")
    out = te.compute((n,), lambda i: x[i] * v + w.astype("float32"), name="out")

    def emit(ins: Any, outs: Any, given: Any) -> Any:
        ib = tir.ir_builder.create()
        a, to = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, n) as i:
            to[i] = a[i] * given[0] + given[1].astype("float32")
        return ib.get()

    return te.decl_tensor_intrin(out.op, emit, "scaled", scalar_params=[v, w])


def test_numbers_of_an_intrinsic_are_found() -> None:
    alpha = te.var("alpha", "float32")
    A = te.placeholder((5, 8), name="A")
    C = te.compute((5, 8), lambda i, j: i.astype("float32") + alpha * A[i, j], name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], scaled(8))
    (a,) = numbers((5, 8))
    result = np.zeros((5, 8), "float32")
    tecomp.build(s, [A, alpha, C])(a, 2.5, result)
    np.testing.assert_allclose(result, a * 2.5 + np.arange(5, dtype="float32")[:, None], rtol=1e-6)


def test_sizes_of_an_intrinsic_are_found() -> None:
    size = te.var("size")
    x = te.placeholder((size,), name="x")
    out = te.compute((size,), lambda i: x[i] * 3.0, name="out")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        a, to = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, size, name="i") as i:
            to[i] = a[i] * 3.0
        return ib.get()

    intrin = te.decl_tensor_intrin(out.op, emit)
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    C = te.compute((n, m), lambda i, j: A[i, j] * 3.0, name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], intrin)
    for shape in ((0, 3), (4, 1), (3, 7)):
        (a,) = numbers(shape)
        agrees(s, [A, C], [a], a * 3)


def test_strided_and_transposed_arrays() -> None:
    A, B = te.placeholder((6, 16), name="A"), te.placeholder((6, 16), name="B")
    C = te.compute((6, 16), lambda i, j: A[i, j] + B[i, j], name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], vadd())
    module = tecomp.build(s, [A, B, C])
    wide, tall = numbers((6, 32), (16, 6))
    result = np.zeros((6, 16), "float32")
    module(wide[:, ::2], tall.T, result)
    np.testing.assert_array_equal(result, wide[:, ::2] + tall.T)


def test_several_results() -> None:
    x = te.placeholder((8,), name="x")
    pair = te.compute((8,), lambda i: (x[i] + 1.0, x[i] * 2.0), name="pair")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        a, first, second = map(ib.buffer_ptr, (*ins, *outs))
        with ib.for_range(0, 8) as i:
            first[i] = a[i] + 1.0
            second[i] = a[i] * 2.0
        return ib.get()

    A = te.placeholder((3, 8), name="A")
    up, double = te.compute((3, 8), lambda i, j: (A[i, j] + 1.0, A[i, j] * 2.0), name="C")
    s = te.create_schedule(up.op)
    s[up].tensorize(up.op.axis[1], te.decl_tensor_intrin(pair[0].op, emit))
    (a,) = numbers((3, 8))
    results = [np.zeros((3, 8), "float32") for _ in range(2)]
    tecomp.build(s, [A, up, double])(a, *results)
    np.testing.assert_array_equal(results[0], a + 1)
    np.testing.assert_array_equal(results[1], a * 2)


def test_argmin_by_an_intrinsic() -> None:
    x, k = te.placeholder((8,), "int32", name="x"), te.reduce_axis((0, 8), name="k")
    best = te.compute((1,), lambda _: te.argmin((k, x[k]), axis=k), name="best")

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        a, index, value = map(ib.buffer_ptr, (*ins, *outs))
        index[0], value[0] = 0, a[0]
        with ib.for_range(1, 8) as i, ib.if_scope(a[i] < value[0]):
            index[0], value[0] = i, a[i]
        return ib.get()

    A, r = te.placeholder((5, 8), "int32", name="A"), te.reduce_axis((0, 8), name="r")
    where, least = te.compute((5,), lambda i: te.argmin((r, A[i, r]), axis=r), name="C")
    s = te.create_schedule(where.op)
    s[where].tensorize(r, te.decl_tensor_intrin(best[0].op, emit))
    a = (np.arange(40, dtype="int32").reshape(5, 8) * 7) % 11
    results = [np.zeros(5, "int32") for _ in range(2)]
    tecomp.build(s, [A, where, least])(a, *results)
    np.testing.assert_array_equal(results[0], a.argmin(1))
    np.testing.assert_array_equal(results[1], a.min(1))


def test_a_step_of_a_scan() -> None:
    n = te.var("n")
    X, state = te.placeholder((n, 16), name="X"), te.placeholder((n, 16), name="state")
    init = te.compute((1, 16), lambda _, i: X[0, i], name="init")
    update = te.compute((n, 16), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X], name="scan")
    s = te.create_schedule(scan.op)
    s[update].tensorize(update.op.axis[1], vadd())
    for rows in (1, 2, 7):
        (x,) = numbers((rows, 16))
        agrees(s, [X, scan], [x], np.cumsum(x, 0, dtype="float32"))


def test_a_predicate_around_the_instruction() -> None:
    A, B = te.placeholder((6, 16), name="A"), te.placeholder((6, 16), name="B")
    C = te.compute((6, 16), lambda i, j: A[i, j] + B[i, j], name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], vadd())
    s[C].set_store_predicate(C.op.axis[0] < 4)
    a, b = numbers((6, 16), (6, 16))
    agrees(s, [A, B, C], [a, b], np.where(np.arange(6)[:, None] < 4, a + b, np.float32(77)))


def test_an_address_and_its_strides_are_of_the_region() -> None:
    called: list[Any] = []
    x, out = te.placeholder((4, 8), name="x"), None
    out = te.compute((4, 8), lambda i, j: x[i, j], name="out")
    line, start = te.var("line"), te.var("start")
    binds = {
        x: tir.decl_buffer(x.shape, x.dtype, "x", strides=[line, 1], elem_offset=start, offset_factor=8),
        out: tir.decl_buffer(out.shape, out.dtype, "out", strides=[te.var("s"), 1]),
    }

    def emit(ins: Any, outs: Any) -> Any:
        called.append(ins[0])
        ib = tir.ir_builder.create()
        ib.emit(tir.call_extern("int32", "labs", ins[0].strides[0].astype("int64")))
        ib.emit(tir.call_extern("int32", "f", ins[0].access_ptr("r"), ins[0].data, start, outs[0].access_ptr("w")))
        return ib.get()

    A = te.placeholder((8, 32), name="A")
    C = te.compute((8, 32), lambda i, j: A[i, j], name="C")
    s = te.create_schedule(C.op)
    *_, ii, _ = s[C].tile(*C.op.axis, 4, 8)
    s[C].tensorize(ii, te.decl_tensor_intrin(out.op, emit, binds=binds))
    text = repr(tecomp.lower(s, [A, C]))
    assert "call_extern[i32]('labs', i64(32))" in text
    assert "address(A[i_outer * 4, j_outer * 8], 'r'), address(A[i_outer * 4, j_outer * 8], 'r', " in text
    assert "i32(i_outer * 128 + j_outer * 8), address(C[i_outer * 4, j_outer * 8], 'w'))" in text


def test_it_prints_and_is_written_down() -> None:
    s, _, _, C = matvec()
    part_of_k(s, C)
    assert "for j.inner in range(16) by gemv" in repr(s)
    written = s.text()
    assert "gemv = te.TensorIntrin.get('gemv')" in written
    assert "s[C].tensorize(j_inner, gemv)" in written
    again = te.create_schedule(C.op)
    exec(written, {"s": again, "te": te})
    assert again.text() == written


def test_a_c_function_gets_the_addresses_of_a_region() -> None:
    x = te.placeholder((4, 8), name="x")
    out = te.compute((4, 8), lambda i, j: x[i, j], name="out")
    binds = {t: tir.decl_buffer(t.shape, t.dtype, t.name, strides=[te.var(f"{t.name}_s"), 1]) for t in (x, out)}

    def emit(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        with ib.for_range(0, 4, name="row") as row:
            source = ins[0].access_ptr("r", offset=row * ins[0].strides[0])
            target = outs[0].access_ptr("w", offset=row * outs[0].strides[0])
            ib.emit(tir.call_extern("uint64", "memcpy", target, source, tir.const(32, "uint64")))
        return ib.get()

    n = te.var("n")
    A = te.placeholder((n, 16), name="A")
    C = te.compute((n, 16), lambda i, j: A[i, j], name="C")
    s = te.create_schedule(C.op)
    *_, ii, _ = s[C].tile(*C.op.axis, 4, 8)
    s[C].tensorize(ii, te.decl_tensor_intrin(out.op, emit, "rows", binds=binds))
    for rows in (1, 4, 9):
        (a,) = numbers((rows, 16))
        agrees(s, [A, C], [a], a)
    with pytest.raises(ArgumentError, match="argument A has gaps"):
        tecomp.build(s, [A, C])(numbers((8, 32))[0][:, ::2], np.zeros((8, 16), "float32"))


@pytest.mark.parametrize("order", ["jki", "kji", "ikj"])
def test_any_axis_of_three(order: str) -> None:
    A, B = te.placeholder((16, 16, 16), name="A"), te.placeholder((16, 16, 16), name="B")
    C = te.compute((16, 16, 16), lambda i, j, k: A[i, j, k] + B[i, j, k], name="C")
    s = te.create_schedule(C.op)
    axes = dict(zip("ijk", C.op.axis, strict=True))
    s[C].reorder(*(axes[name] for name in order))
    s[C].tensorize(axes[order[-1]], elementwise(lambda x, y: x + y, ((16,), "float32"), ((16,), "float32")))
    a, b = numbers((16, 16, 16), (16, 16, 16))
    agrees(s, [A, B, C], [a, b], a + b)


def test_a_double_buffered_copy_by_an_intrinsic() -> None:
    s, A, B, C = matvec(8, 16, 24)
    copy = s.cache_read(A, "global", [C])
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=8)
    s[C].reorder(ko, *C.op.axis, ki)
    s[copy].compute_at(s[C], ko)
    s[copy].double_buffer()
    s[copy].tensorize(s[copy].op.axis[1], elementwise(lambda x: x, ((8,), "float32"), name="copy"))
    assert "alloc(f32[2, 8, 8]" in repr(tecomp.lower(s, [A, B, C]))
    a, b = numbers((8, 24), (16, 24))
    agrees(s, [A, B, C], [a, b], a @ b.T)


def test_rows_of_different_lengths() -> None:
    n, m = te.var("n"), te.var("m")
    L = te.placeholder((n,), "int32", name="L")
    A, x = te.placeholder((n, m), name="A"), te.placeholder((m,), name="x")

    def row(i: Any) -> Any:
        k = te.reduce_axis((0, L[i]), name="k")
        return te.sum(A[i, k] * x[k], axis=k)

    C = te.compute((n,), row, name="C")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].tensorize(inner, gemv(1, 4))
    lengths = np.array([0, 3, 4, 9, 10], "int32")
    a, v = numbers((5, 10), (10,))
    expected = np.array([a[i, :stop] @ v[:stop] for i, stop in enumerate(lengths)], "float32")
    agrees(s, [L, A, x, C], [lengths, a, v], expected)


FUSED_ROWS = {
    "all rows in one": lambda s, C: s[C].split(s[C].fuse(*C.op.axis), 8)[1],
    "a row again": lambda s, C: s[C].split(s[C].fuse(*s[C].split(C.op.axis[1], 8)), 8)[1],
    "pieces of a row": lambda s, C: pieces(s[C], C.op.axis[1]),
}


def pieces(stage, axis):
    outer, inner = stage.split(axis, factor=4)
    return stage.fuse(stage.split(outer, factor=2)[1], inner)


@pytest.mark.parametrize("columns", [8, 16, 64])
@pytest.mark.parametrize("rows", [1, 3, 4])
@pytest.mark.parametrize("loops", FUSED_ROWS)
def test_part_of_a_row_of_fused_loops(loops, rows, columns):
    A = te.placeholder((rows, columns), name="A")
    C = te.compute((rows, columns), lambda i, j: A[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(FUSED_ROWS[loops](s, C), elementwise(lambda x: x * 2, ((8,), "float32")))
    (a,) = numbers((rows, columns))
    agrees(s, [A, C], [a], a * 2)


@pytest.mark.parametrize("columns", [4, 12, 20])
def test_a_tile_of_parts_of_two_rows(columns):
    """8 elements of fused rows of 4, 12 or 20 are not neighbours in every row."""
    A = te.placeholder((4, columns), name="A")
    C = te.compute((4, columns), lambda i, j: A[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(FUSED_ROWS["all rows in one"](s, C), elementwise(lambda x: x * 2, ((8,), "float32")))
    with pytest.raises(ScheduleError, match="are not what 'elementwise' computes"):
        tecomp.lower(s, [A, C])
