"""The way in from Python: runs what is right, hands on everything else, and leaks nothing."""

import array
import gc
import sys

import numpy as np
import pytest

from tecomp.codegen import llvm
from tecomp.codegen.llvm_call import FORMATS
from tecomp.dtype import FLOAT32, INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Alloc, Buffer, For, LoopKind, Seq, Store
from tecomp_runtime import ArgumentError, Kernel, NotCompact

N, M = E.Var("n", INDEX, make.const(0, INDEX)), E.Var("m", INDEX, make.const(0, INDEX))


def twice(extents, dtype=FLOAT32, kind=LoopKind.SERIAL, align=0, more=()):
    """Return the function B = A + A over a flat index; its shapes are `extents`."""
    total = make.const(1, INDEX)
    for extent in extents:
        total = make.mul(total, extent)
    a, b = Buffer("A", extents, DType(dtype), align=align), Buffer("B", extents, DType(dtype))
    i = E.Var("i", INDEX, make.const(0, INDEX), total)
    value = make.load(a, [i])
    value = value if DType(dtype).is_bool else make.add(value, value)
    return Func("twice", (a, b, *more), (b,), For(i, kind, Store(b, (i,), value, make.TRUE)), Level.FLAT)


class Way:
    """A kernel's way in, and how often it handed a call on."""

    def __init__(self, func):
        self.artifact = llvm.generate(func, llvm.Target.of("llvm"))
        self.kernel = Kernel(self.artifact)
        self.handed_on = 0
        self.call = self.kernel.entry(self.fallback)

    def fallback(self, *args):
        self.handed_on += 1
        self.kernel._function(*args)


def floats(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


@pytest.fixture(scope="module")
def matrix():
    return Way(twice((N, M)))


def test_what_is_right_runs_at_once(matrix):
    before = matrix.handed_on
    for shape in [(3, 5), (1, 1), (0, 4), (4, 0), (100, 7)]:
        result = np.full(shape, -1, "float32")
        assert matrix.call(floats(*shape), result) is None
        np.testing.assert_array_equal(result, floats(*shape) * 2)
    fixed = floats(3, 5)
    fixed.flags.writeable = False
    matrix.call(fixed, np.zeros((3, 5), "float32"))
    assert matrix.handed_on == before


@pytest.mark.parametrize("dtype", sorted(FORMATS))
def test_types(dtype):
    way = Way(twice((N,), dtype))
    values = np.array([1, 0, 1, 1], dtype)
    result = np.zeros(4, dtype)
    way.call(values, result)
    assert way.handed_on == 0
    np.testing.assert_array_equal(result, values if dtype == "bool" else values + values)
    for other in sorted({*FORMATS} - {dtype}):
        with pytest.raises(ArgumentError, match=f"argument A: expected {dtype}, got {other}"):
            way.call(values.astype(other), result)


def refused(way, message, *args):
    with pytest.raises(ArgumentError) as error:
        way.call(*args)
    assert error.value.asked == message


def test_what_is_wrong_is_told_as_ever(matrix):
    x, out = floats(3, 5), np.full((3, 5), 7, "float32")
    refused(matrix, "twice: expected 2 arguments, got 0")
    refused(matrix, "twice: expected 2 arguments, got 3", x, out, x)
    refused(matrix, "argument A: expected 2 dimensions, got 1", x[0], out)
    refused(matrix, "argument A: expected 2 dimensions, got 0", x[0, 0], out)
    refused(matrix, "argument B: expected extent of dimension 1 to be m = 5, got 4", x, out[:, :4].copy())
    refused(matrix, "argument A: expected float32, got float32 with swapped bytes", x.astype(">f4"), out)
    refused(matrix, "argument A: expected an array of float32, got list", [1.0], out)
    refused(matrix, "argument B: shares memory with argument A", x, x)
    odd = np.zeros(61, "uint8")[1:].view("float32").reshape(3, 5)
    refused(matrix, "argument A: needs 4-byte alignment", odd, out)
    out.flags.writeable = False
    refused(matrix, "argument B: it is written, and the array is read-only", x, out)
    assert (out == 7).all()
    with pytest.raises(TypeError, match="keyword"):
        matrix.call(x, B=out)


def test_gaps_go_to_whoever_knows_them(matrix):
    with pytest.raises(NotCompact):
        matrix.call(floats(6, 5)[::2], np.zeros((3, 5), "float32"))
    with pytest.raises(NotCompact):
        matrix.call(floats(3, 5), np.zeros((5, 3), "float32").T)


def test_overlap():
    way = Way(twice((N,)))
    memory = floats(20)
    way.call(memory[:10], memory[10:])
    way.call(memory[10:], memory[:10])
    assert way.handed_on == 0
    for low in (1, 9, 5):
        refused(way, "argument B: shares memory with argument A", memory[:10], memory[low : low + 10])
        refused(way, "argument B: shares memory with argument A", memory[low : low + 10], memory[:10])


def test_extents_that_are_computed():
    a = Buffer("A", (N,), FLOAT32)
    b = Buffer("B", (make.add(make.mul(N, 2), 1),), FLOAT32)
    body = Store(b, (make.mul(N, 2),), make.const(5.0, "float32"), make.TRUE)
    way = Way(Func("f", (a, b), (b,), body, Level.FLAT))
    result = np.zeros(7, "float32")
    way.call(floats(3), result)
    assert (way.handed_on, result[6]) == (0, 5)
    refused(way, "argument B: expected extent of dimension 0 to be (n * 2) + 1 = 7, got 8", floats(3), floats(8))


def test_requirements_of_sizes():
    func = twice((N, M))
    needs = Func(func.name, func.params, func.outputs, func.body, func.level, ((make.lt(N, M), "rows are fewer"),))
    way = Way(needs)
    way.call(floats(2, 3), np.zeros((2, 3), "float32"))
    assert way.handed_on == 0
    with pytest.raises(ArgumentError, match="rows are fewer"):
        way.call(floats(3, 3), np.zeros((3, 3), "float32"))


def test_declared_alignment():
    way = Way(twice((N,), align=64))
    memory = floats(64)
    start = -(memory.ctypes.data // 4) % 16
    way.call(memory[start : start + 8], np.zeros(8, "float32"))
    assert way.handed_on == 0
    with pytest.raises(NotCompact):
        way.call(memory[start + 1 : start + 9], np.zeros(8, "float32"))


def test_anything_with_a_buffer_will_do():
    way = Way(twice((N,)))
    source, target = array.array("f", [1, 2, 3]), array.array("f", [0, 0, 0])
    way.call(source, target)
    assert (way.handed_on, target.tolist()) == (0, [2, 4, 6])
    way.call(memoryview(source), memoryview(target)[::1])
    with pytest.raises(ArgumentError):
        way.call(b"abcd", target)


@pytest.mark.parametrize("kind", ["right", "wrong rank", "wrong extent", "read-only", "wrong number"])
def test_nothing_is_kept(matrix, kind):
    """Neither buffers (an array that has one lent out cannot grow) nor references."""
    x = {"wrong rank": array.array("f", [1] * 15), "wrong extent": floats(4, 5)}.get(kind, floats(3, 5))
    out = np.zeros((3, 5), "float32")
    out.flags.writeable = kind != "read-only"
    args = (x,) if kind == "wrong number" else (x, out)
    gc.collect()
    nothing = sys.getrefcount(None)
    counts = [sys.getrefcount(arg) for arg in args]
    for _ in range(1000):
        try:
            matrix.call(*args)
        except ArgumentError:
            assert kind != "right"
    assert [sys.getrefcount(arg) for arg in args] == counts
    assert abs(sys.getrefcount(None) - nothing) < 500
    if isinstance(x, array.array):
        x.append(1.0)


def test_no_memory_is_told_by_the_fallback():
    out, size = Buffer("B", (N,), FLOAT32), make.mul(N, 1 << 50)
    huge = Buffer("huge", (size,), FLOAT32)
    store = lambda buffer, at: Store(buffer, (make.index(at),), make.const(1.0, "float32"), make.TRUE)
    way = Way(Func("greedy", (out,), (out,), Alloc(huge, Seq((store(huge, N), store(out, 0)))), Level.FLAT))
    with pytest.raises(MemoryError, match="greedy: no memory for its temporaries"):
        way.call(np.zeros(4, "float32"))
    assert way.handed_on == 1


@pytest.mark.parametrize(
    "func",
    [
        twice((N,), kind=LoopKind.PARALLEL),
        twice((N,), "bfloat16"),
        twice((make.add(N, 1),)),
        twice((N,), more=(E.Var("scale", FLOAT32),)),
    ],
)
def test_what_only_the_runtime_can_check_has_no_way_in(func):
    way = Way(func)
    assert len(way.artifact.kernels) == 1
    assert way.call == way.fallback


def test_the_source_shows_the_program_only(matrix):
    assert "PyObject" not in matrix.artifact.source
    assert matrix.artifact.kernels == ("te.twice", "te.twice.call")


def test_a_way_in_outlives_its_kernel():
    def make_one():
        return Kernel(llvm.generate(twice((N,)), llvm.Target.of("llvm"))).entry(print)

    call = make_one()
    gc.collect()
    result = np.zeros(3, "float32")
    call(floats(3), result)
    assert result.tolist() == [0, 2, 4]
