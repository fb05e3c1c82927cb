"""What a program for tensor cores is refused for: by its schedule, by the kernel it becomes, by the instructions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen.cuda import printed
from tecomp.errors import ScheduleError, TecompError, UnsupportedError
from tecomp.ir import interpret, parse
from tecomp.ir.evaluate import ExecutionError
from tecomp.target import Target
from tecomp.tir.tensor_intrin import cuda
from tests.codegen.cuda_programs import flat
from tests.codegen.test_cuda_limits import message
from tests.tensor_cores import matmul

A = te.placeholder((32, 32), "float16", name="A")
C = te.compute((32, 32), lambda i, j: A[i, j] * 2.0, name="C")


def element_by_element() -> Any:
    s = te.create_schedule(C.op)
    fragment = s.cache_read(A, "wmma.matrix_a", [C])
    s[fragment].compute_at(s[C], C.op.axis[0])
    return s, [A, C]


def read_by_elements() -> Any:
    s = te.create_schedule(C.op)
    fragment = s.cache_read(A, "wmma.matrix_a", [C])
    _, _, inner, _ = s[fragment].tile(*s[fragment].op.axis, 16, 16)
    s[fragment].tensorize(inner, cuda.wmma_load("wmma.matrix_a", source="global"))
    return s, [A, C]


def a_part_tile() -> Any:
    return matmul(40, 32, 32)


def start_values() -> Any:
    P, Q, I = (
        te.placeholder((16, 16), kind, name=name)
        for name, kind in (("P", "float16"), ("Q", "float16"), ("I", "float32"))
    )
    k = te.reduce_axis((0, 16), name="k")
    R = te.compute(
        (16, 16),
        lambda i, j: te.sum(P[i, k].astype("float32") * Q[k, j].astype("float32"), axis=k, init=I[i, j]),
        name="R",
    )
    s = te.create_schedule(R.op)
    PF, QF = s.cache_read(P, "wmma.matrix_a", [R]), s.cache_read(Q, "wmma.matrix_b", [R])
    RF = s.cache_write(R, "wmma.accumulator")
    for X, intrin in (
        (PF, cuda.wmma_load("wmma.matrix_a", source="global")),
        (QF, cuda.wmma_load("wmma.matrix_b", source="global")),
    ):
        s[X].tensorize(s[X].op.axis[0], intrin)
    ko, ki = s[RF].split(s[RF].op.reduce_axis[0], factor=16)
    s[RF].reorder(ko, *s[RF].op.axis, ki)
    s[RF].tensorize(s[RF].op.axis[0], cuda.wmma_mma())
    s[R].tensorize(s[R].op.axis[0], cuda.wmma_store())
    return s, [P, Q, I, R]


def copied(scope: str = "global") -> Any:
    """A copy of A through fragments of an accumulator, by warps along threadIdx.y."""
    P = te.placeholder((32, 32), "float32", name="P")
    R = te.compute((32, 32), lambda i, j: P[i, j], name="R")
    s = te.create_schedule(R.op)
    PF = s.cache_read(P, "wmma.accumulator", [R])
    io, jo, ii, _ = s[R].tile(*R.op.axis, 16, 16)
    s[R].bind(io, te.thread_axis("blockIdx.x"))
    load = loaded_accumulator(scope)
    _, _, inner, _ = s[PF].tile(*s[PF].op.axis, 16, 16)
    s[PF].tensorize(inner, load)
    s[R].tensorize(ii, cuda.wmma_store())
    return s, P, R, PF, io, jo


def loaded_accumulator(scope: str = "global") -> Any:
    from_memory = te.placeholder((16, 16), "float32", name="X")
    matrix = te.compute((16, 16), lambda i, j: from_memory[i, j], name="Y")
    binds = {
        from_memory: tecomp.tir.decl_buffer((16, 16), "float32", "X", strides=[te.var("s"), 1], scope=scope),
        matrix: tecomp.tir.decl_buffer((16, 16), "float32", "Y", scope="wmma.accumulator", offset_factor=256),
    }

    def emit(ins: Any, outs: Any) -> Any:
        to = outs[0]
        return tecomp.tir.tvm_load_matrix_sync(
            to.data, 16, 16, 16, to.elem_offset // 256, ins[0].access_ptr("r"), ins[0].strides[0], "row_major"
        )

    return te.decl_tensor_intrin(matrix.op, emit, "load_accumulator", binds=binds)


def lanes_bound() -> Any:
    s, P, R, PF, _, jo = copied()
    s[PF].compute_at(s[R], jo)
    s[R].bind(jo, te.thread_axis("threadIdx.x"))
    return s, [P, R]


def shared_among_warps() -> Any:
    s, P, R, PF, io, jo = copied()
    s[PF].compute_at(s[R], io)
    s[PF].bind(s[PF].leaf_iter_vars[1], te.thread_axis("threadIdx.y"))
    s[R].bind(jo, te.thread_axis("threadIdx.y"))
    return s, [P, R]


def threads_that_are_no_warps() -> Any:
    s, P, R, PF, _, jo = copied("shared")
    PS = s.cache_read(P, "shared", [PF])
    s[PF].compute_at(s[R], jo)
    s[PS].compute_at(s[R], jo)
    s[PS].bind(s[PS].split(s[PS].fuse(*s[PS].op.axis), factor=48)[1], te.thread_axis("threadIdx.x"))
    return s, [P, R]


REFUSALS = [
    element_by_element, read_by_elements, a_part_tile, start_values, lanes_bound, shared_among_warps,
    threads_that_are_no_warps,
]  # fmt: skip


@pytest.mark.parametrize("make", REFUSALS, ids=lambda make: make.__name__)
def test_a_schedule(make: Callable[[], Any], golden: Any) -> None:
    s, args = make()
    with pytest.raises(ScheduleError) as caught:
        tecomp.lower(s, args, target="cuda -arch=sm_80")
    golden(re.sub(r"(--> \w+\.py):\d+", r"\1:LINE", str(caught.value)))


def test_a_kernel_gets_a_warp_where_no_loop_asks_for_one() -> None:
    s, P, R, PF, _, jo = copied()
    s[PF].compute_at(s[R], jo)
    program = tecomp.lower(s, [P, R], target="cuda -arch=sm_80")
    assert "with launch(blockIdx_x=2, threadIdx_x=32):" in repr(program)
    p = np.arange(1024, dtype="float32").reshape(32, 32)
    r = np.zeros_like(p)
    interpret(program, p, r)
    np.testing.assert_array_equal(r, p)


def test_the_first_warp_stores_where_there_are_more_along_x() -> None:
    s, P, R, PF, _, jo = copied("shared")
    PS = s.cache_read(P, "shared", [PF])
    s[PF].compute_at(s[R], jo)
    s[PS].compute_at(s[R], jo)
    s[PS].bind(s[PS].split(s[PS].fuse(*s[PS].op.axis), factor=64)[1], te.thread_axis("threadIdx.x"))
    program = tecomp.lower(s, [P, R], target="cuda -arch=sm_80")
    assert "if threadIdx_x < 32:" in repr(program)
    p = np.arange(1024, dtype="float32").reshape(32, 32)
    r = np.zeros_like(p)
    interpret(program, p, r)
    np.testing.assert_array_equal(r, p)


FRAGMENTS = """
def f(A: buffer(f16[64, 64], align=32), C: out[buffer(f32[64, 64], align=32)]) -> device:
    with launch(threadIdx_x=32):
        a = alloc(f16[1, 1, 16, 16], 'wmma.matrix_a')
        b = alloc({b}[1, 1, 16, 16], 'wmma.matrix_b')
        c = alloc({c}[1, 1, 16, 16], 'wmma.accumulator')
        {body}
"""


def refusal(body: str, arch: str = "sm_80", b: str = "f16", c: str = "f32") -> TecompError:
    target = Target.of(f"cuda -arch={arch}")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(FRAGMENTS.format(body=body, b=b, c=c), target), target)
    return caught.value


LOAD = "wmma_load_{}_m16n16k16(address({}, 'w'), 0, address(A{}, 'r'), {})"
MULTIPLY = "wmma_mma_m16n16k16(address(c, 'w'), 0, address(a, 'r'), 0, address(b, 'r'), 0, address(c, 'r'), 0)"


@pytest.mark.parametrize(
    ("body", "more", "said"),
    [
        (
            LOAD.format("row", "a", "", 64) + "\n        " + LOAD.format("col", "a", "", 64),
            {},
            "'a' is loaded by rows and by columns\n"
            "  because: the instruction that multiplies it names one layout for all its matrices\n"
            "  legal: a stage for each",
        ),
        (
            MULTIPLY,
            {"b": "i8"},
            "matrices of float16 and int8 multiplied in float32\n"
            "  because: no matrix instruction multiplies those types\n"
            "  legal: float16 in float32, float16 in float16, bfloat16 in float32, int8 in int32, uint8 in int32",
        ),
        (
            MULTIPLY.replace("address(a", "address(b"),
            {"b": "bf16", "arch": "sm_75"},
            "matrices of bfloat16 and bfloat16 multiplied in float32\n"
            "  because: sm_75 does not, from sm_80 on GPUs do\n"
            "  legal: float16 in float32, float16 in float16, int8 in int32, uint8 in int32",
        ),
        (
            "wmma_fill_m16n16k16(address(b, 'w'), 0, f64(0.0))",
            {"b": "f64"},
            "'b' of float64 in wmma.matrix_b memory\n"
            "  because: no matrix instruction has such an operand\n"
            "  legal: bfloat16, float16, int8, uint8",
        ),
        (
            "wmma_fill_m16n16k16(address(c, 'w'), 0, i8(0))",
            {"c": "i8"},
            "'c' of int8 in wmma.accumulator memory\n"
            "  because: no matrix instruction has such an operand\n"
            "  legal: float16, float32, int32",
        ),
        (
            "wmma_store_row_m16n16k16(address(a, 'r'), 0, address(C, 'w'), 64)",
            {},
            "'a' in wmma.matrix_a memory is stored\n"
            "  because: a matrix instruction stores results only, which are in wmma.accumulator\n"
            "  legal: a copy of what it was loaded from",
        ),
        (
            LOAD.format("row", "a", "[0, 8]", 64),
            {},
            "a matrix of f16 in 'A'\n"
            "  because: a matrix begins at element 8 of it, and must at a multiple of 16\n"
            "  legal: tiles that begin there",
        ),
        (
            LOAD.format("row", "a", "", 20),
            {},
            "a matrix of f16 in 'A'\n"
            "  because: its rows are 20 elements apart, which must be a multiple of 8\n"
            "  legal: storage_align, or a shape whose last extent is such a multiple",
        ),
    ],
)
def test_an_instruction(body: str, more: dict[str, str], said: str) -> None:
    assert message(refusal(body, **more)) == said


def test_memory_that_is_not_aligned() -> None:
    text = FRAGMENTS.replace("buffer(f16[64, 64], align=32)", "f16[64, 64]")
    with pytest.raises(UnsupportedError) as caught:
        printed(
            flat(text.format(body=LOAD.format("row", "a", "", 64), b="f16", c="f32")), Target.of("cuda -arch=sm_80")
        )
    assert message(caught.value) == (
        "a matrix of f16 in 'A'\n"
        "  because: its address is a multiple of 2 bytes, and a matrix must begin at a multiple of 32\n"
        "  legal: data_alignment=32 in decl_buffer"
    )


WARPS = """
def f(C: out[f32[16, 16]]) -> device:
    with launch(threadIdx_x={threads}):
        c = alloc(f32[1, 1, 16, 16], 'wmma.accumulator')
        {guard}wmma_fill_m16n16k16(address(c, 'w'), 0, f32(0.0))
"""


@pytest.mark.parametrize(
    ("threads", "guard", "said"),
    [
        (16, "", "a warp of 16 threads comes to what 32 do together"),
        (32, "if threadIdx_x < 16: ", "thread (threadIdx.x=0) waits for thread (threadIdx.x=16), which does not come"),
    ],
)
def test_a_warp_that_does_not_come_whole(threads: int, guard: str, said: str) -> None:
    text = WARPS.format(threads=threads, guard=guard and guard + "\n            ").lstrip()
    with pytest.raises(ExecutionError) as caught:
        interpret(parse(text), np.zeros((16, 16), "float32"))
    assert said in str(caught.value)
