"""Instructions of GPUs by name: what a call becomes, what it refuses, and whole bodies that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UnsupportedError, UserError, UserTypeError
from tecomp.ir.instruction import INSTRUCTIONS
from tecomp.tir.instructions import INSTRUCTION_FUNCTIONS
from tests.codegen.cuda_programs import compiles
from tests.goldens import Golden
from tests.tir.refusals import check_refusal

A = tir.decl_buffer((64,), name="A")
C = tir.decl_buffer((4,), "int32", name="C")
S = tir.decl_buffer((64,), name="S", scope="shared")
bar = tir.decl_buffer((2,), "uint64", name="bar", scope="shared")
i = te.var("i")
ib = tir.ir_builder.create()
a, c, s, b = (ib.buffer_ptr(buffer) for buffer in (A, C, S, bar))

CALLS: dict[str, Callable[[], Any]] = {
    "barrier_warp(i32(-1))": lambda: tir.barrier_warp(-1),
    "barrier_warp(i32(-2))": lambda: tir.barrier_warp(0xFFFFFFFE),
    "barrier_named(i32(1), i32(64))": lambda: tir.barrier_named(1, threads=64),
    "vote_all(i < 3, i32(-1))": lambda: tir.vote_all(i < 3, -1),
    "fetch_add(address(C[i], 'rwu', i32(0)), i32(1))": lambda: tir.fetch_add(c[i], 1),
    "fetch_add(address(A[i], 'rwu', i32(0)), f32(1.0))": lambda: tir.fetch_add(a[i], 1),
    "cp_async(address(S[i], 'w', i32(0)), address(A[i], 'r', i32(0)), i32(16))": lambda: tir.cp_async(s[i], a[i], 16),
    "cp_async(address(S, 'w', i32(0)), address(A, 'r', i32(0)), i32(4))": lambda: tir.cp_async(S, A.access_ptr("r"), 4),
    "mbarrier_wait(address(bar[i32(1)], 'rw', i32(0)), i)": lambda: tir.mbarrier_wait(b[1], i),
    "prefetch(A[i])": lambda: tir.prefetch(a[i]),
    "barrier_block()": lambda: tir.call_intrin("handle", "tir.barrier_block"),
}


@pytest.mark.parametrize("text", CALLS)
def test_a_call(text: str) -> None:
    assert repr(CALLS[text]()) == text


TVM: dict[str, Callable[[], Any]] = {
    "cp_async(address(S, 'w', i), address(A, 'r', i32(4)), i32(16))": lambda: tir.ptx_cp_async(
        "float32", S.data, i, A, 4, 16
    ),
    "cp_async_commit()": tir.ptx_commit_group,
    "cp_async_wait(i32(1))": lambda: tir.call_intrin("", "tir.ptx_wait_group", 1),
    "mbarrier_init(address(bar[i32(0)], 'w', i32(0)), i32(128))": lambda: tir.ptx_init_barrier_thread_count(b[0], 128),
    "mbarrier_arrive(address(bar[i32(0)], 'rw', i32(0)))": lambda: tir.ptx_arrive_barrier(b[0]),
    "mbarrier_arrive_expect_tx(address(bar[i32(0)], 'rw', i32(0)), i)": lambda: tir.ptx_arrive_barrier_expect_tx(
        b[0], i
    ),
    "mbarrier_wait(address(bar[i32(0)], 'rw', i32(0)), i32(0))": lambda: tir.ptx_wait_barrier(b[0]),
    "bulk_load(address(S, 'w', i32(0)), address(A, 'r', i), i32(64), address(bar[i32(0)], 'rw', i32(0)))": lambda: (
        tir.call_intrin("float32", "tir.ptx_cp_async_bulk", S, 0, A, i, 64, b[0])
    ),
    "shuffle(i, i32(3), i32(-1))": lambda: tir.tvm_warp_shuffle(-1, i, 3, 32, 32),
    "shuffle_up(i, i32(3), i32(-1))": lambda: tir.tvm_warp_shuffle_up(0xFFFFFFFF, i, 3, 32, 32),
    "shuffle_down(i, i32(3), i32(-1))": lambda: tir.tvm_warp_shuffle_down(-1, i, 3, 32, 32),
    "barrier_warp(i32(-1))": lambda: tir.call_intrin("int32", "tir.tvm_storage_sync", "warp"),
}


@pytest.mark.parametrize("text", TVM)
def test_a_call_by_the_name_that_tvm_has(text: str) -> None:
    assert repr(TVM[text]()) == text


def test_every_instruction_has_its_function() -> None:
    assert INSTRUCTION_FUNCTIONS.keys() == INSTRUCTIONS.keys()
    assert all(getattr(tir, name) is function for name, function in INSTRUCTION_FUNCTIONS.items())
    assert all(name in tir.__all__ for name in INSTRUCTIONS if not name.startswith(("wgmma_m64", "wgmma_rs_")))


REFUSALS: list[tuple[Callable[[], Any], type[UserError], str, str, str]] = [
    (
        lambda: tir.cp_async(s[0], a[0]),
        UserTypeError,
        "tir.cp_async of 2 operands",
        "it takes dst, src, bytes",
        "tir.cp_async(dst, src, bytes)",
    ),
    (
        lambda: tir.cp_async(s[0], a[0], 12),
        UserError,
        "tir.cp_async: bytes 12",
        "bytes is 12, and must be 4 or 8 or 16",
        "4 or 8 or 16, a constant",
    ),
    (
        lambda: tir.cp_async(a[0], a[0], 16),
        UserError,
        "tir.cp_async: dst A[i32(0)]",
        "dst lies in global memory, and must in shared",
        "S[i], or S.access_ptr('w'), of a buffer in shared memory",
    ),
    (
        lambda: tir.mbarrier_arrive(s[0]),
        UserError,
        "tir.mbarrier_arrive: barrier S[i32(0)]",
        "barrier is the address of float32, and must be of uint64",
        "S[i], or S.access_ptr('rw'), of a buffer of uint64 in shared memory",
    ),
    (
        lambda: tir.mbarrier_arrive(3),
        UserError,
        "tir.mbarrier_arrive: barrier 3",
        "barrier is no expression",
        "S[i], or S.access_ptr('rw'), of a buffer of uint64 in shared memory",
    ),
    (
        lambda: tir.fetch_add(c[0], te.const(1.0)),
        UserError,
        "tir.fetch_add: value f32(1.0)",
        "'C' holds int32, the value is float32",
        "a scalar of int32 or uint32 or uint64 or float32",
    ),
    (
        lambda: tir.vote_any(i, -1),
        UserError,
        "tir.vote_any: p i",
        "p is int32, and must be one bool",
        "a scalar bool",
    ),
    (
        lambda: tir.prefetch(i),
        UserError,
        "tir.prefetch: element i",
        "element is i, which is no element of a buffer",
        "B[i]",
    ),
    (
        lambda: tir.barrier_named(i, 32),
        UserError,
        "tir.barrier_named: id i",
        "id is i, which is no constant integer",
        "1 to 15, a constant",
    ),
    (
        lambda: tir.tvm_warp_shuffle_up(-1, i, 1, 16, 32),
        UserError,
        "tir.tvm_warp_shuffle_up of width 16 in warps of 32",
        "lanes exchange in whole warps, which have 32",
        "width=32, warp_size=32",
    ),
    (
        lambda: tir.ptx_cp_async("float16", S, 0, A, 0, 16),
        UserError,
        "tir.ptx_cp_async of float16",
        "'S' holds float32, and offsets count elements",
        "float32",
    ),
    (
        lambda: tir.ptx_wait_barrier(0),
        UserError,
        "tir.ptx_wait_barrier: barrier 0",
        "a barrier is an element of shared memory, and has no number of its own",
        'bar[0], where bar = ib.allocate("uint64", (n,), name="bar", scope="shared")',
    ),
]


@pytest.mark.parametrize(("call", "kind", "asked", "because", "legal"), REFUSALS, ids=[row[2] for row in REFUSALS])
def test_refusals(call: Callable[[], Any], kind: type[UserError], asked: str, because: str, legal: str) -> None:
    check_refusal(__file__, call, kind, asked, because, legal)


def staged(ins: Any, outs: Any) -> Any:
    """Return a body: 128 threads copy 512 floats to shared memory while they wait, and turn them round."""
    ib = tir.ir_builder.create()
    x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    tx = te.thread_axis("threadIdx.x")
    ib.scope_attr(tx, "thread_extent", 128)
    held = ib.allocate("float32", (512,), name="held", scope="shared")
    ib.emit(tir.cp_async(held[tx * 4], x[tx * 4], 16))
    ib.emit(tir.cp_async_commit())
    ib.emit(tir.cp_async_wait(0))
    ib.emit(tir.barrier_block())
    with ib.for_range(0, 4, name="k", kind="unroll") as k:
        y[tx * 4 + k] = held[511 - tx * 4 - k]
    return ib.get()


def test_a_body_of_instructions_becomes_a_kernel(golden: Golden) -> None:
    x = te.placeholder((512,), name="X")
    y = te.extern((512,), [x], staged, name="Y")
    module = tecomp.build(te.create_schedule(y.op), [x, y], target="cuda -arch=sm_80")
    compiles(module.imported_modules[0].get_source())
    golden(module.imported_modules[0].get_source())


def test_an_older_gpu_is_refused_at_the_line_of_the_call() -> None:
    x = te.placeholder((512,), name="X")
    y = te.extern((512,), [x], staged, name="Y")
    with pytest.raises(UnsupportedError) as caught:
        tecomp.build(te.create_schedule(y.op), [x, y], target="cuda -arch=sm_75")
    assert (caught.value.asked, caught.value.because) == (
        "cp_async on sm_75",
        "GPUs have it from sm_80 on, and the target is sm_75",
    )
    assert caught.value.location is not None
    assert "ib.emit(tir.cp_async(held" in caught.value.location.source()


def test_a_cpu_has_none_of_them() -> None:
    def body(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        ib.emit(tir.fence_device())
        ib.buffer_ptr(outs[0])[0] = 1.0
        return ib.get()

    y = te.extern((1,), [], body, dtype="float32", name="Y")
    with pytest.raises(UnsupportedError) as caught:
        tecomp.build(te.create_schedule(y.op), [y], target="llvm")
    assert (caught.value.asked, caught.value.legal) == ("fence_device on llvm", 'target "cuda"')
