"""Loads and stores: masks, gathers, lazy sides. What must not be read lies in memory that faults when it is."""

import ctypes
import mmap

import numpy as np
import pytest

from tecomp.codegen import llvm, llvm_compile
from tecomp.codegen.llvm_memory import multiple
from tecomp.dtype import FLOAT32, INDEX, INT32, DType
from tecomp.errors import InternalError
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Buffer, For, LoopKind, Seq, Store
from tecomp_runtime import Kernel, NotCompact

DTYPES = ["bool", "int8", "int16", "int64", "uint16", "float16", "bfloat16", "float32", "float64"]
PAGE = mmap.PAGESIZE


def c(value):
    return make.const(value, INDEX)


def ramp(base, lanes, stride=1):
    return E.Ramp(make.index(base), c(stride), lanes)


@pytest.fixture
def walled():
    """Arrays whose memory ends, and begins, beside a page that may not be touched."""
    keep = []

    def make_array(values, side="end"):
        values = np.asarray(values)
        memory = mmap.mmap(-1, 3 * PAGE)
        keep.append(memory)
        base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        libc = ctypes.CDLL(None)
        for page in (0, 2):
            assert libc.mprotect(ctypes.c_void_p(base + page * PAGE), PAGE, mmap.PROT_READ * 0) == 0
        start = PAGE if side == "start" else 2 * PAGE - values.nbytes
        inside = np.frombuffer(memory, values.dtype, values.size, start)
        inside[...] = values
        return inside

    return make_array


@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_lanes_are_neither_read_nor_written(flat, walled, dtype, lanes):
    """n = 21 in whole vectors: the lanes past the end lie in a page that faults."""
    n, count = 21, -(-21 // lanes)
    values = walled(flat.samples(dtype, n, 1))
    i = E.Var("i", INDEX, c(0), c(count))
    place = make.mul(i, lanes) if lanes == 1 else ramp(make.mul(i, lanes), lanes)
    inside = make.lt(place, make.broadcast(c(n), lanes))
    a, b = Buffer("A", (c(n),), DType(dtype)), Buffer("B", (c(n),), DType(dtype))
    store = Store(b, (place,), make.load(a, [place], inside), inside)
    kernel = flat.build([a, b], [b], For(i, LoopKind.SERIAL, store))
    result = walled(np.zeros(n, values.dtype))
    kernel(values, result)
    flat.same(np.array(result), np.array(values))


@pytest.mark.parametrize("stride", [-1, 2, 3, 0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers_and_scatters(flat, dtype, stride):
    lanes, n = 8, 32
    values = flat.samples(dtype, n, 2)
    a, b = Buffer("A", (c(n),), DType(dtype)), Buffer("B", (c(n),), DType(dtype))
    start = 8 if stride < 0 else 1
    gather = Store(b, (ramp(0, lanes),), make.load(a, [ramp(start, lanes, stride)]), make.TRUE)
    result = np.zeros_like(values)
    flat.build([a, b], [b], gather)(values, result)
    places = start + stride * np.arange(lanes)
    flat.same(result[:lanes], values[places])
    scatter = Store(b, (ramp(start, lanes, stride),), make.load(a, [ramp(0, lanes)]), make.TRUE)
    result, expected = np.zeros_like(values), np.zeros_like(values)
    flat.build([a, b], [b], scatter)(values, result)
    expected[places] = values[:lanes]  # the last lane wins where all write one element
    flat.same(result, expected)


def test_indices_are_read_only_where_they_are_wanted(flat, walled):
    """out[i] = A[idx[i]] for 6 of 8 lanes: idx ends at a page that faults, and its garbage would be no place in A."""
    a, b, places = Buffer("A", (c(10),), FLOAT32), Buffer("B", (c(6),), FLOAT32), Buffer("idx", (c(6),), INT32)
    mask = make.lt(ramp(0, 8), make.broadcast(c(6), 8))
    at = make.cast(INDEX, make.load(places, [ramp(0, 8)], mask))
    body = Store(b, (ramp(0, 8),), make.load(a, [at], mask), mask)
    values, index = walled(np.arange(10, dtype="float32")), walled(np.array([9, 0, 3, 3, 1, 8], "int32"))
    result = walled(np.zeros(6, "float32"))
    flat.build([a, places, b], [b], body)(values, index, result)
    assert result.tolist() == [9, 0, 3, 3, 1, 8]


@pytest.mark.parametrize("lanes", [1, 4])
def test_the_side_not_taken_is_never_read(flat, walled, lanes):
    """A shifted by one with zero in front: A[-1] lies in a page that faults."""
    values = walled(np.arange(1, 17, dtype="float32"), side="start")
    a, b = Buffer("A", (c(16),), FLOAT32), Buffer("B", (c(16),), FLOAT32)
    i = E.Var("i", INDEX, c(0), c(16 // lanes))
    place = i if lanes == 1 else ramp(make.mul(i, lanes), lanes)
    before = make.sub(place, make.broadcast(c(1), lanes))
    read = make.load(a, [before if lanes == 1 else ramp(make.sub(make.mul(i, lanes), 1), lanes)])
    zero = make.broadcast(make.const(0.0, "float32"), lanes)
    value = make.if_then_else(make.le(make.broadcast(c(0), lanes), before), read, zero)
    result = np.zeros(16, "float32")
    flat.build([a, b], [b], For(i, LoopKind.SERIAL, Store(b, (place,), value, make.TRUE)))(values, result)
    assert result.tolist() == [0, *range(1, 16)]
    nested = make.if_then_else(
        make.le(make.broadcast(c(0), lanes), before), make.if_then_else(make.lt(read, 5.0), read, 0.5), zero
    )
    flat.build([a, b], [b], For(i, LoopKind.SERIAL, Store(b, (place,), nested, make.TRUE)))(values, result)
    assert result.tolist() == [0, 1, 2, 3, 4, *[0.5] * 11]


@pytest.mark.parametrize("lanes", [1, 4])
def test_connectives_stop_early(flat, walled, lanes):
    """i > 0 and A[i - 1] > 2, and its opposite by `or`: A[-1] is not read."""
    values = walled(np.arange(16, dtype="float32"), side="start")
    a, b = Buffer("A", (c(16),), FLOAT32), Buffer("B", (c(16),), DType("bool"))
    i = E.Var("i", INDEX, c(0), c(16 // lanes))
    place = i if lanes == 1 else ramp(make.mul(i, lanes), lanes)
    previous = make.load(a, [make.sub(i, 1) if lanes == 1 else ramp(make.sub(make.mul(i, lanes), 1), lanes)])
    first = make.le(place, make.broadcast(c(0), lanes))
    conditions = {
        "and": make.logical_and(make.logical_not(first), make.lt(2.0, previous)),
        "or": make.logical_or(first, make.le(previous, 2.0)),
    }
    results = {}
    for name, condition in conditions.items():
        result = np.zeros(16, bool)
        flat.build([a, b], [b], For(i, LoopKind.SERIAL, Store(b, (place,), condition, make.TRUE)))(values, result)
        results[name] = result
    np.testing.assert_array_equal(results["and"], np.arange(16) > 3)
    np.testing.assert_array_equal(results["or"], ~results["and"])


def test_one_element_read_for_all_lanes_under_a_mask(flat, walled):
    """A broadcast load is not done at all when no lane wants it."""
    a, b, n = Buffer("A", (c(4),), FLOAT32), Buffer("B", (c(4),), FLOAT32), E.Var("n", INT32)
    mask = make.lt(ramp(0, 4), make.broadcast(make.index(n), 4))
    one = E.Load(a, (E.Broadcast(make.index(n) + 3, 4),), mask)
    body = Store(b, (ramp(0, 4),), one, make.TRUE)
    kernel = flat.build([n, a, b], [b], body)
    result = np.full(4, 7, "float32")
    values = walled([1.0, 2.0, 3.0, 4.0])
    assert values.dtype == "float64"
    values = walled(np.array([1, 2, 3, 4], "float32"))
    kernel(0, values, result)
    assert result.tolist() == [0] * 4
    a5 = Buffer("A", (c(5),), FLOAT32)
    wide = flat.build([n, a5, b], [b], Store(b, (ramp(0, 4),), E.Load(a5, one.indices, mask), make.TRUE))
    wide(1, np.array([1, 2, 3, 4, 5], "float32"), result)
    assert result.tolist() == [5, 0, 0, 0]


def test_scalar_masks(flat, walled):
    a, b = Buffer("A", (c(4),), FLOAT32), Buffer("B", (c(4),), FLOAT32)
    i = E.Var("i", INDEX, c(0), c(8))
    inside = make.lt(i, 4)
    body = For(i, LoopKind.SERIAL, Store(b, (i,), make.load(a, [i], inside), inside))
    result = walled(np.zeros(4, "float32"))
    flat.build([a, b], [b], body)(walled(np.arange(4, dtype="float32")), result)
    assert result.tolist() == [0, 1, 2, 3]


def test_buffers_of_vectors(flat):
    a, b = Buffer("A", (c(5),), DType("float32x3")), Buffer("B", (c(5),), DType("float32x3"))
    i = E.Var("i", INDEX, c(0), c(5))
    value = make.add(make.load(a, [i]), make.broadcast(make.const(1.0, "float32"), 3))
    kernel = flat.build([a, b], [b], For(i, LoopKind.SERIAL, Store(b, (i,), value, make.TRUE)))
    values = np.arange(15, dtype="float32").reshape(5, 3)
    result, intact = flat.guarded((5, 3), "float32")
    kernel(values, result)
    assert intact()
    np.testing.assert_array_equal(result, values + 1)


def test_unsigned_offsets_are_not_negative(flat):
    """An offset of type uint8 above 127 is itself, not a negative address."""
    a, b = Buffer("A", (c(256),), DType("uint8")), Buffer("B", (c(8),), DType("uint8"))
    at = make.add(make.cast("uint8", ramp(0, 8)), make.broadcast(make.const(200, "uint8"), 8))
    values, result = np.arange(256, dtype="uint8"), np.zeros(8, "uint8")
    flat.build([a, b], [b], Store(b, (ramp(0, 8),), make.load(a, [at]), make.TRUE))(values, result)
    assert result.tolist() == list(range(200, 208))


def test_alignment_is_claimed_only_where_it_is_proved(flat):
    n = E.Var("n", INDEX, c(0))
    assert multiple(make.add(make.mul(n, 16), 32)) == 16
    assert multiple(make.add(make.mul(n, 16), 3)) == 1
    assert multiple(make.mul(make.mul(n, 4), make.mul(n, 6))) == 24
    assert multiple(c(0)) == 0
    a = Buffer("A", (c(64),), FLOAT32, align=32)
    for base, align in ((make.mul(n, 8), 32), (make.mul(n, 4), 16), (n, 4)):
        func = Func("f", (a, n), (a,), Store(a, (ramp(base, 8),), make.load(a, [ramp(base, 8)]), make.TRUE), Level.FLAT)
        assert f"load <8 x float>, ptr %A.at, align {align}" in llvm.module_text(func, llvm_compile.cpu())


def test_a_declared_alignment_is_checked(flat):
    a, b = Buffer("A", (c(8),), FLOAT32, align=64), Buffer("B", (c(8),), FLOAT32)
    kernel = flat.build([a, b], [b], Store(b, (ramp(0, 8),), make.load(a, [ramp(0, 8)]), make.TRUE))
    memory = np.zeros(64, "float32")
    skip = -(memory.ctypes.data // 4) % 16
    kernel(memory[skip : skip + 8], np.zeros(8, "float32"))
    with pytest.raises(NotCompact):
        kernel(memory[skip + 1 : skip + 9], np.zeros(8, "float32"))


def test_what_is_not_flat_is_a_fault_of_the_compiler(flat):
    a = Buffer("A", (c(2), c(2)), FLOAT32)
    body = Seq((Store(a, (c(0), c(1)), make.const(0.0, "float32"), make.TRUE),))
    with pytest.raises(InternalError) as refusal:
        flat.build([a], [a], body)
    assert refusal.value.asked == "an access of 'A' has 2 indices"
    with pytest.raises(InternalError, match="is at level loops"):
        llvm.generate(Func("f", (a,), (a,), body, Level.LOOPS), llvm.Target.of("llvm"))
    assert issubclass(Kernel, object)
