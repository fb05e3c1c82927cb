"""Loops, branches, memory of a function's own, threads, and programs too large for recursion."""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tecomp.codegen import llvm, llvm_compile
from tecomp.dtype import FLOAT32 as F
from tecomp.dtype import INDEX, INT32, DType
from tecomp.errors import InternalError, UnsupportedError
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Store
from tecomp_runtime import OutOfMemoryError, libraries, threads

ROOT = Path(__file__).parent.parent.parent


def c(value):
    return make.const(value, INDEX)


def loop(name, low, extent, body, kind=LoopKind.SERIAL):
    """Return a loop over low, low + 1, ... of `extent`; `body` takes its variable."""
    var = E.Var(name, INDEX, make.index(low), make.index(extent))
    return For(var, kind, body(var))


def put(buffer, index, value):
    return Store(buffer, (make.index(index),), make.convert(value, buffer.dtype), make.TRUE)


def read(buffer, *index):
    return make.load(buffer, [make.index(at) for at in index])


N = E.Var("n", INDEX, c(0))


@pytest.mark.parametrize("kind", [LoopKind.SERIAL, LoopKind.PARALLEL])
def test_loops_of_any_extent_and_start(flat, kind):
    a = Buffer("A", (N,), INT32)
    low = E.Var("low", INT32)
    count = E.Var("count", INT32)
    body = loop("i", low, count, lambda i: put(a, i, make.cast("int32", i) * 3), kind)
    kernel = flat.build([a, low, count], [a], body)
    for start, extent in [(0, 0), (0, 1), (3, 5), (2, 97), (4, -3)]:
        result, intact = flat.guarded((100,), "int32")
        result[...] = -1
        kernel(result, start, extent)
        expected = np.full(100, -1, "int32")
        expected[start : start + max(extent, 0)] = np.arange(start, start + max(extent, 0)) * 3
        np.testing.assert_array_equal(result, expected)
        assert intact()


def test_a_matrix_product_with_a_carried_sum(flat):
    m, k = (E.Var(name, INDEX, c(0)) for name in "mk")
    a, b, out = Buffer("A", (m, k), F), Buffer("B", (k, N), F), Buffer("C", (m, N), F)
    total = Buffer("total", (), F, "local")

    def inner(i, j):
        zero = Store(total, (), make.const(0.0, "float32"), make.TRUE)
        step = lambda r: Store(total, (), read(total) + read(a, i * k + r) * read(b, r * N + j), make.TRUE)
        return Alloc(total, Seq((zero, loop("r", 0, k, step), put(out, i * N + j, read(total)))))

    body = loop("i", 0, m, lambda i: loop("j", 0, N, lambda j: inner(i, j)), LoopKind.PARALLEL)
    kernel = flat.build([a, b, out], [out], body)
    for shape in [(1, 1, 1), (3, 0, 2), (0, 3, 2), (17, 33, 9)]:
        x = np.random.rand(shape[0], shape[1]).astype("float32")
        y = np.random.rand(shape[1], shape[2]).astype("float32")
        result, intact = flat.guarded((shape[0], shape[2]), "float32")
        kernel(x, y, result)
        np.testing.assert_allclose(result, x @ y, rtol=1e-5, atol=1e-6)
        assert intact()


def test_branches_and_lets(flat):
    a = Buffer("A", (N,), INT32)

    def body(i):
        half = E.Var("half", INDEX)
        yes, no = put(a, i, make.cast("int32", half)), put(a, i, -1)
        return Let(half, make.floordiv(i, 2), If(make.eq(make.floormod(i, 2), 0), yes, no))

    result = np.zeros(9, "int32")
    flat.build([a], [a], loop("i", 0, N, body))(result)
    assert result.tolist() == [0, -1, 1, -1, 2, -1, 3, -1, 4]


@pytest.mark.parametrize("extent", [4, 5000, 100_000])
@pytest.mark.parametrize("kind", [LoopKind.SERIAL, LoopKind.PARALLEL])
def test_buffers_of_its_own(flat, extent, kind):
    """On the stack, above the stack's limit, and of a size known only at run time."""
    out, size = Buffer("B", (c(8),), F), E.Var("size", INT32)
    for shape in ((c(extent),), (make.index(size),)):
        row = Buffer("row", shape, F)

        def body(i, row=row):
            value = lambda j: make.cast("float32", i * 1000 + j)
            fill = loop("j", 0, extent, lambda j: put(row, j, value(j)))
            total = loop("j", 0, extent, lambda j: put(out, i, read(out, i) + read(row, j)))
            return Alloc(row, Seq((put(out, i, 0.0), fill, total)))

        result = np.zeros(8, "float32")
        flat.build([out, size], [out], loop("i", 0, 8, body, kind))(result, extent)
        exact = [sum(np.float64(i * 1000 + at) for at in range(extent)) for i in range(8)]
        np.testing.assert_allclose(result, exact, rtol=1e-2)


def test_padded_rows_have_room_for_their_gaps(flat):
    """A buffer of 3 rows of 5 with row stride 8 spans 2*8 + 5 elements."""
    out = Buffer("B", (c(15),), F)
    wide = Buffer("wide", (c(3), c(5)), F, strides=(c(8), c(1)))
    symbolic = Buffer("sym", (make.index(E.Var("unused", INDEX, c(0))), c(5)), F)
    fill = loop("i", 0, 3, lambda i: loop("j", 0, 5, lambda j: put(wide, i * 8 + j, make.cast("float32", i * 5 + j))))
    copy = loop("i", 0, 3, lambda i: loop("j", 0, 5, lambda j: put(out, i * 5 + j, read(wide, i * 8 + j))))
    result = np.zeros(15, "float32")
    flat.build([out], [out], Alloc(wide, Seq((fill, copy))))(result)
    assert result.tolist() == list(range(15))
    assert symbolic.strides is None


@pytest.mark.parametrize("kind", [LoopKind.SERIAL, LoopKind.PARALLEL])
def test_no_memory_is_an_error_not_a_fault(flat, kind):
    out, size = Buffer("B", (c(4),), F), E.Var("size", DType("int64"))
    small, huge = Buffer("small", (c(50_000),), F), Buffer("huge", (make.index(size),), F)
    inner = Seq((put(small, 0, 1.0), put(huge, size - 1, 1.0)))
    body = loop("i", 0, 4, lambda i: Alloc(small, Alloc(huge, Seq((inner, put(out, i, 1.0))))), kind)
    kernel = flat.build([out, size], [out], body, name="greedy")
    kernel(np.zeros(4, "float32"), 1000)
    with pytest.raises(OutOfMemoryError, match="greedy: no memory for its temporaries"):
        kernel(np.zeros(4, "float32"), 2**58)


def test_each_thread_has_memory_of_its_own(flat):
    out, own = Buffer("B", (c(2000),), INT32), Buffer("own", (c(64),), INT32)

    def body(i):
        fill = loop("j", 0, 64, lambda j: put(own, j, make.cast("int32", i)))
        return Alloc(own, Seq((fill, put(out, i, read(own, 63)))))

    result = np.zeros(2000, "int32")
    flat.build([out], [out], loop("i", 0, 2000, body, LoopKind.PARALLEL))(result)
    np.testing.assert_array_equal(result, np.arange(2000))


def test_nested_parallel_loops_run_in_the_outer_team(flat):
    out = Buffer("B", (c(600),), INT32)
    body = loop(
        "i",
        0,
        20,
        lambda i: loop("j", 0, 30, lambda j: put(out, i * 30 + j, make.cast("int32", i * 30 + j)), LoopKind.PARALLEL),
        LoopKind.PARALLEL,
    )
    result = np.zeros(600, "int32")
    kernel = flat.build([out], [out], body)
    kernel(result)
    np.testing.assert_array_equal(result, np.arange(600))
    assert kernel.source.count("call void @GOMP_parallel") == 1


def test_a_parallel_loop_sees_what_is_around_it(flat):
    """Scalars of every type, a let, a vector let, an outer loop variable, a buffer of the function."""
    out, own = Buffer("B", (c(12),), F), Buffer("own", (), F, "local")
    flag, half, scale = E.Var("flag", DType("bool")), E.Var("half", DType("float16")), E.Var("scale", DType("float64"))
    ramp, twice = E.Var("ramp", DType("float32x4")), E.Var("twice", F)

    def body(i, j):
        base = make.cast("float32", scale) + make.cast("float32", half) + read(own) + twice
        vector = make.add(ramp, make.broadcast(make.select(flag, base, make.const(0.0, "float32")), 4))
        return Store(out, (E.Ramp((i + j) * 4, c(1), 4),), vector, make.TRUE)

    threads_loop = lambda j: loop("i", 0, 3, lambda i: body(i, j), LoopKind.PARALLEL)
    nest = loop("j", 0, 1, threads_loop)
    lanes = make.cast("float32", E.Ramp(c(0), c(1), 4))
    inner = Let(ramp, lanes, Let(twice, make.cast("float32", scale) * 2.0, nest))
    whole = Alloc(own, Seq((Store(own, (), make.const(100.0, "float32"), make.TRUE), inner)))
    kernel = flat.build([out, flag, half, scale], [out], whole)
    result = np.zeros(12, "float32")
    kernel(result, True, 0.5, 8.0)
    np.testing.assert_array_equal(result, np.tile(np.arange(4) + 8 + 0.5 + 100 + 16, 3))
    kernel(result, np.bool_(False), np.float16(0.5), np.float64(8))
    np.testing.assert_array_equal(result, np.tile(np.arange(4), 3))


@pytest.mark.parametrize("wanted", ["1", "3", "5"])
def test_without_an_openmp_runtime_python_threads_do_it(flat, monkeypatch, wanted):
    monkeypatch.setattr("tecomp_runtime.elf.address", _address_without_openmp)
    monkeypatch.setenv("OMP_NUM_THREADS", wanted)
    out = Buffer("B", (c(100),), INT32)
    kernel = flat.build(
        [out], [out], loop("i", 0, 100, lambda i: put(out, i, make.cast("int32", i)), LoopKind.PARALLEL)
    )
    for _ in range(3):
        result = np.zeros(100, "int32")
        kernel(result)
        np.testing.assert_array_equal(result, np.arange(100))


_found = libraries.address


def _address_without_openmp(symbol):
    return threads.address(symbol) if symbol.startswith(("GOMP_", "omp_")) else _found(symbol)


FORK = """
import os, sys
sys.path[:0] = [".", "runtime"]
import numpy as np
import tecomp
from tecomp import te
A = te.placeholder((1000,), name="A", dtype="int32")
B = te.compute((1000,), lambda i: A[i] + 1, name="B")
s = te.create_schedule(B.op)
s[B].parallel(B.op.axis[0])
add = tecomp.build(s, [A, B])
values, result = np.arange(1000, dtype="int32"), np.zeros(1000, "int32")
add(values, result)
child = os.fork()
result[:] = 0
add(values, result)
right = (result == values + 1).all()
if child == 0:
    os._exit(0 if right else 1)
print(right, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_does_not_hang():
    """An OpenMP runtime's helper threads do not exist in a fork; the loop must still end."""
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )
    assert done.stdout.split() == ["True", "0"], done.stderr


def test_unrolled_loops(flat):
    out = Buffer("B", (c(8),), INT32)
    kernel = flat.build([out], [out], loop("i", 0, 8, lambda i: put(out, i, make.cast("int32", i)), LoopKind.UNROLLED))
    result = np.zeros(8, "int32")
    kernel(result)
    assert result.tolist() == list(range(8))
    assert '"llvm.loop.unroll.full"' in kernel.source
    assert "!0 = !{" in kernel.source and "!1 = distinct !{!1, !0}" in kernel.source


def test_a_sum_of_five_thousand_terms(flat):
    a = Buffer("A", (c(5000),), F)
    total = read(a, 0)
    for term in range(1, 5000):
        total = total + read(a, term)
    out = Buffer("B", (c(1),), F)
    result = np.zeros(1, "float32")
    flat.build([a, out], [out], put(out, 0, total))(np.ones(5000, "float32"), result)
    assert result[0] == 5000


def test_a_thousand_buffers_one_inside_the_other(flat):
    a, out = Buffer("A", (c(4),), F), Buffer("B", (c(4),), F)
    buffers = [a, *(Buffer(f"t{stage}", (c(4),), F) for stage in range(1000)), out]
    steps = [loop("i", 0, 4, lambda i, x=x, y=y: put(y, i, read(x, i) + 1.0)) for x, y in itertools.pairwise(buffers)]
    body = Seq(tuple(steps))
    for buffer in reversed(buffers[1:-1]):
        body = Alloc(buffer, body)
    result = np.zeros(4, "float32")
    flat.build([a, out], [out], body)(np.arange(4, dtype="float32"), result)
    assert result.tolist() == [1001, 1002, 1003, 1004]


def test_shared_expressions_are_emitted_once(flat):
    """x + x, 60 deep, is 2**60 terms when written out."""
    a, out = Buffer("A", (c(1),), DType("uint64")), Buffer("B", (c(1),), DType("uint64"))
    value = read(a, 0)
    for _ in range(60):
        value = make.mul(value, value)
    result = np.zeros(1, "uint64")
    flat.build([a, out], [out], put(out, 0, value))(np.array([3], "uint64"), result)
    assert result[0] == pow(3, 2**60, 2**64)


def test_names_are_the_users(flat):
    a = Buffer("A.shared", (c(4),), F)
    again = Buffer("A.shared", (c(4),), F)
    odd = Buffer("Größe 1", (c(4),), F)
    body = loop("i.outer", 0, 4, lambda i: put(odd, i, read(a, i) - read(again, i)))
    func = Func("exp", (a, again, odd), (odd,), body, Level.FLAT)
    text = llvm.module_text(func, llvm_compile.cpu())
    for name in (
        "@te.exp(",
        "%A.shared,",
        "%A.shared_1,",
        "%Gr__e_1)",
        "%i.outer = phi",
        "%A.shared.at = getelementptr",
    ):
        assert name in text
    result = np.zeros(4, "float32")
    kernel = flat.build([a, again, odd], [odd], body, name="exp")
    kernel(np.full(4, 5, "float32"), np.full(4, 3, "float32"), result)
    assert result.tolist() == [2] * 4


def test_the_whole_text_of_a_small_program():
    a, b = Buffer("A", (N,), F), Buffer("B", (N,), F)
    body = loop("i", 0, N, lambda i: put(b, i, read(a, i) + 1.0))
    assert (
        llvm.module_text(Func("inc", (a, b), (b,), body, Level.FLAT), llvm_compile.cpu())
        == """\
define i32 @te.inc(ptr noalias readonly align 4 %A, ptr noalias align 4 %B, i64 %n) nounwind {
entry:
  %i.any = icmp slt i64 0, %n
  br i1 %i.any, label %i.loop, label %i.end
i.loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %i.step ]
  %A.at = getelementptr inbounds float, ptr %A, i64 %i
  %A.value = load float, ptr %A.at, align 4
  %add = fadd contract float %A.value, 1.0
  %B.at = getelementptr inbounds float, ptr %B, i64 %i
  store float %add, ptr %B.at, align 4
  br label %i.step
i.step:
  %i.next = add nsw i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %i.loop, label %i.end
i.end:
  ret i32 0
}
"""
    )


def refused(body, error):
    a = Buffer("A", (c(4),), F)
    with pytest.raises(error) as refusal:
        llvm.generate(Func("f", (a,), (a,), body(a), Level.FLAT), llvm.Target.of("llvm"))
    return refusal.value.asked, refusal.value.because, refusal.value.legal


def test_gpu_programs_are_refused():
    thread = E.Var("t", INDEX, c(0), c(4))
    bound = lambda a: For(thread, LoopKind.THREAD, put(a, thread, 0.0), thread="threadIdx.x")
    because = "it is bound to threadIdx.x, which a CPU does not have"
    legal = 'target "cuda", parallel in place of bind'
    assert refused(bound, UnsupportedError) == ("loop 't' on llvm", because, legal)
    launch = lambda a: Launch((("threadIdx.x", thread),), put(a, thread, 0.0))
    assert refused(launch, UnsupportedError)[:2] == ("a kernel launch on llvm", "the program is one for a GPU")
    barrier = lambda a: Evaluate(make.call("barrier_block", "int32"))
    assert refused(barrier, UnsupportedError)[:2] == ("a barrier on llvm", "a CPU thread has no block to wait for")


def test_what_should_have_been_lowered_is_a_fault_of_the_compiler():
    lanes = E.Var("i", INDEX, c(0), c(4))
    vectorized = lambda a: For(lanes, LoopKind.VECTORIZED, put(a, lanes, 0.0))
    because = "vectorize did not run"
    assert refused(vectorized, InternalError)[:2] == ("the vectorized loop 'i' reached code generation", because)
    reduction = lambda a: put(a, 0, E.Call(F, "exp", (E.TensorRead(a, (c(0),)),)))
    assert refused(reduction, InternalError)[0] == "a TensorRead reached code generation"


def test_prefetch_reads_nothing(flat):
    a, out = Buffer("A", (c(4),), F), Buffer("B", (c(4),), F)
    ahead = Evaluate(make.call("prefetch", "int32", read(a, 1 << 40)))
    result = np.zeros(4, "float32")
    kernel = flat.build([a, out], [out], Seq((ahead, loop("i", 0, 4, lambda i: put(out, i, read(a, i))))))
    kernel(np.arange(4, dtype="float32"), result)
    assert result.tolist() == [0, 1, 2, 3]
    assert "llvm.prefetch" in kernel.source


def test_another_cpu_is_built_for_by_name(flat):
    a = Buffer("A", (N,), F)
    func = Func("f", (a,), (a,), loop("i", 0, N, lambda i: put(a, i, read(a, i) * 2.0)), Level.FLAT)
    old = llvm_compile.assembly(llvm.module_text(func, llvm_compile.cpu("x86-64")), llvm_compile.cpu("x86-64"))
    assert "xmm" in old and "ymm" not in old
    assert llvm.generate(func, llvm.Target.of("llvm -mcpu=x86-64")).target == "llvm -mcpu=x86-64"


def test_a_runtime_needs_no_compiler():
    """Neither tecomp nor llvmlite is imported by the package that runs what they build."""
    code = "import sys, tecomp_runtime; print([m for m in ('tecomp', 'llvmlite', 'cupy') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT / "runtime"
    )
    assert done.stdout.strip() == "[]", done.stderr
