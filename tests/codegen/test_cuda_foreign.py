"""Opaque operations on CUDA: kernels from a body's own threads, device functions, Python functions between launches."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import ScheduleError, UnsupportedError
from tecomp_runtime.cuda import host_part
from tests.codegen.cuda_programs import compiles

TARGET = "cuda -arch=sm_90a"
n = te.var("n")
A = te.placeholder((n,), name="A")


def bound(*tensors: Any) -> Any:
    """Return a schedule of the last tensor, the computes among them bound to blocks and threads."""
    s = te.create_schedule(tensors[-1].op)
    for tensor in tensors:
        if isinstance(tensor.op, te.ComputeOp):
            outer, inner = s[tensor].split(tensor.op.axis[0], factor=64)
            s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
            s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    return s


def sorted_between() -> tuple[Any, list[Any]]:
    """Return B = 2 A, S = sort of B in Python, D = S + 1."""
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    S = te.extern((n,), [B], lambda ins, outs: tir.call_packed(sort, ins[0], outs[0], n, 0.5), name="S")
    D = te.compute((n,), lambda i: S[i] + 1, name="D")
    return bound(B, S, D), [A, D]


def sort(x: Any, out: Any, count: int, number: float) -> None:
    assert (len(x), number) == (count, 0.5)
    out[:] = x
    out.sort()


def blocks(ins, outs):
    """Twice the value through shared memory, and the sum of all by atomics."""
    ib = tir.ir_builder.create()
    bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    a, twice = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    ib.scope_attr(bx, "thread_extent", te.floordiv(n + 63, 64))
    ib.scope_attr(tx, "thread_extent", 64)
    i = ib.let("i", bx * 64 + tx)
    shared = ib.allocate("float32", (64,), name="shared", scope="shared")
    with ib.if_scope(i < n):
        shared[tx] = a[i]
        ib.emit(tir.call_extern("float32", "atomicAdd", outs[1].access_ptr("rw"), a[i]))
    with ib.if_scope(i < n):
        twice[i] = shared[tx] * 2.0
    return ib.get()


def test_a_python_function_between_launches() -> None:
    s, args = sorted_between()
    artifact = tecomp.build(s, args, target=TARGET).artifact
    compiles(artifact.source)
    (name,) = (call["function"] for call in artifact.packed)
    assert artifact.host.splitlines() == [
        "def host(launch, alloc, call, A, D, n):",
        "  B = alloc('float32', n)",
        "  S = alloc('float32', n)",
        "  launch('main_B', ((n + 63) // 64, 1, 1), (64, 1, 1), 0, A, n, B)",
        f"  call({name!r}, (B, 'float32', (n, ), None), (S, 'float32', (n, ), None), n, 0.5)",
        "  launch('main_D', ((n + 63) // 64, 1, 1), (64, 1, 1), 0, D, n, S)",
    ]
    asked: list[Any] = []
    host = host_part("main", artifact.host)
    host(lambda *args: asked.append(args[0]), lambda *_: 4096, lambda *args: asked.append(args[1:]), "A", "D", 65)
    assert asked == [
        "main_B",
        ((4096, "float32", (65,), None), (4096, "float32", (65,), None), 65, 0.5),
        "main_D",
    ]


def test_a_body_with_threads_is_a_kernel() -> None:
    twice, total = te.extern([(n,), (1,)], [A], blocks, name="E")
    module = tecomp.build(te.create_schedule(twice.op), [A, twice, total], target=TARGET)
    compiles(module.source)
    assert "atomicAdd(E_v1, A[i]);" in module.source
    assert "__shared__ __align__(16) float shared[64];" in module.source
    assert "float* __restrict__ E_v1" in module.source
    assert module.artifact.packed == ()


def test_addresses_in_a_kernel() -> None:
    """Of an element, of registers, of a scalar: `frexp` and `sincosf` write where they are told."""
    S = te.placeholder((n, 2), name="S")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        tx, out = te.thread_axis("threadIdx.x"), ib.buffer_ptr(outs[0])
        ib.scope_attr(tx, "thread_extent", n)
        two, one = (ib.allocate("float32", shape, name, scope="local") for shape, name in (((2,), "two"), ((), "one")))
        both, alone = two.asobject(), one.asobject()
        x = ib.buffer_ptr(ins[0])[tx, 0]
        ib.emit(tir.call_extern("int32", "sincosf", x, both.access_ptr("w", offset=1), alone.access_ptr("w")))
        out[tx] = two[1] + one[()]
        return ib.get()

    E = te.extern((n,), [S], body, name="E")
    source = tecomp.build(te.create_schedule(E.op), [S, E], target=TARGET).source
    compiles(source)
    assert "sincosf(S[(long long)threadIdx_x * 2], two + 1, &one);" in source


def test_a_call_outside_the_loops_over_some_threads_is_made_once() -> None:
    def body(ins, outs):
        ib = tir.ir_builder.create()
        bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        out = ib.buffer_ptr(outs[0])
        ib.scope_attr(bx, "thread_extent", 4)
        ib.emit(tir.call_extern("int32", "atomicAdd", outs[1].access_ptr("w"), 1))
        with ib.if_scope(bx >= 0):
            ib.scope_attr(tx, "thread_extent", 32)
            out[bx * 32 + tx] = 1
        return ib.get()

    E, _ = te.extern([(128,), (1,)], [], body, name="E", dtype="int32")
    source = tecomp.build(te.create_schedule(E.op), [E, _], target=TARGET).source
    compiles(source)
    assert "if (threadIdx.x == 0) {\n    atomicAdd(E_v1, 1);" in source.replace("threadIdx_x", "threadIdx.x")


def test_a_device_function_in_a_compute() -> None:
    B = te.compute((n,), lambda i: tir.call_pure_extern("float32", "__sinf", A[i]), name="B")
    source = tecomp.build(bound(B), [A, B], target=TARGET).source
    compiles(source)
    assert "B[i] = (float)__sinf(A[i]);" in source


def test_a_python_function_in_a_kernel(refused) -> None:
    def body(ins, outs):
        ib = tir.ir_builder.create()
        ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", 32)
        ib.emit(tir.call_packed("f", ins[0], outs[0]))
        return ib.get()

    B = te.extern((n,), [A], body, name="B")
    s = te.create_schedule(B.op)
    with refused(
        UnsupportedError,
        """
        the Python function 'f' in a kernel
          --> test_cuda_foreign.py:LINE
           |     tecomp.build(s, [A, B], target=TARGET)
           |     ^
          because: a kernel's threads run no Python
          legal: a call outside the loops over threads
          in:
            call_packed('f', address(A, 'r', i32(0)), address(B, 'rw', i32(0)))
    """,
    ):
        tecomp.build(s, [A, B], target=TARGET)


def test_an_intrinsic_of_llvm_in_a_kernel(refused) -> None:
    B = te.compute((n,), lambda i: tir.call_llvm_pure_intrin("float32", "llvm.sqrt", A[i]), name="B")
    s = bound(B)
    with refused(
        UnsupportedError,
        """
        the intrinsic 'llvm.sqrt' in a kernel
          --> test_cuda_foreign.py:LINE
           |     tecomp.build(s, [A, B], target=TARGET)
           |     ^
          because: CUDA C++ has no intrinsics of LLVM
          legal: tir.call_extern of a device function
          in:
            call_llvm_pure_intrin[f32]('llvm.sqrt', A[i])
    """,
    ):
        tecomp.build(s, [A, B], target=TARGET)


def test_a_c_function_on_the_host(refused) -> None:
    B = te.extern((n,), [A], lambda ins, outs: tir.call_extern("int32", "f", ins[0], outs[0]), name="B")
    s = te.create_schedule(B.op)
    with refused(
        ScheduleError,
        """
        the function 'f' is called outside every kernel
          --> test_cuda_foreign.py:LINE
           |     B = te.extern((n,), [A], lambda ins, outs: tir.call_extern("int32", "f", ins[0], outs[0]), name="B")
           |     ^
          because: the host cannot reach device memory, and it is no Python function, which would launch kernels itself
          legal: ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", 1) before it, or tir.call_packed
    """,
    ):
        tecomp.build(s, [A, B], target=TARGET)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000])
def test_sorting_by_cupy_on_a_gpu(size: int) -> None:
    cupy = importlib.import_module("cupy")
    s, args = sorted_between()
    module = tecomp.build(s, args, target="cuda")
    a = np.random.default_rng(size).standard_normal(size).astype("float32")
    for given in (cupy.asarray(a), cupy.asarray(np.repeat(a, 2))[::2]):
        out = cupy.zeros(size, "float32")
        module(given, out)
        np.testing.assert_array_equal(out.get(), np.sort(2 * a) + 1)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_threads_and_atomics_on_a_gpu(size: int) -> None:
    cupy = importlib.import_module("cupy")
    twice, total = te.extern([(n,), (1,)], [A], blocks, name="E")
    module = tecomp.build(te.create_schedule(twice.op), [A, twice, total], target="cuda")
    a = np.random.default_rng(size).integers(0, 100, size).astype("float32")
    found, sum_ = cupy.zeros(size, "float32"), cupy.zeros(1, "float32")
    module(cupy.asarray(a), found, sum_)
    np.testing.assert_array_equal(found.get(), 2 * a)
    assert float(sum_.get()[0]) == a.sum()


@pytest.mark.gpu
def test_an_exception_on_a_gpu() -> None:
    cupy = importlib.import_module("cupy")

    def fail(*_: object) -> None:
        raise KeyError("mine")

    B = te.extern((n,), [A], lambda ins, outs: tir.call_packed(fail, ins[0], outs[0]), name="B")
    module = tecomp.build(te.create_schedule(B.op), [A, B], target="cuda")
    with pytest.raises(KeyError, match="mine"):
        module(cupy.zeros(4, "float32"), cupy.zeros(4, "float32"))
