"""Vector statements: moved together where aligned, lane by lane elsewhere, never a lane too many."""

from __future__ import annotations

import pytest

import tecomp
from tecomp import te
from tecomp.codegen.cuda_vector import access, alignment
from tecomp.dtype import DType
from tecomp.errors import InternalError
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.stmt import Buffer
from tests.codegen.cuda_programs import cuda
from tests.goldens import Golden

I = E.Var("i", DType("int32"), make.const(0), make.const(100))


@pytest.mark.parametrize(
    ("dtype", "align", "base", "lanes", "bytes_at_a_time"),
    [
        ("float32", 16, I * 4, 4, 16),
        ("float32", 16, I * 4, 8, 16),
        ("float32", 16, I * 4 + 2, 4, 8),
        ("float32", 16, I * 2, 4, 8),
        ("float32", 16, I, 4, 4),
        ("float32", 4, I * 4, 4, 4),
        ("float32", 8, I * 4, 4, 8),
        ("float32", 16, I * 3, 3, 4),
        ("float32", 16, I * 6, 6, 8),
        ("float32", 64, make.const(0), 2, 8),
        ("float64", 16, I * 2, 2, 16),
        ("int8", 16, I * 16, 16, 16),
        ("int8", 16, I * 4, 4, 4),
        ("bool", 2, I * 4, 4, 2),
        ("float16", 16, I * 8, 8, 16),
        ("float16", 16, I * 4, 4, 8),
    ],
)
def test_alignment(dtype: str, align: int, base: E.Expr, lanes: int, bytes_at_a_time: int) -> None:
    buffer = Buffer("A", (make.const(512),), DType(dtype), align=align)
    assert alignment(buffer, base, lanes) == bytes_at_a_time


def test_what_never_moves_together() -> None:
    shape = (make.const(64),)
    aligned, local = (
        Buffer("A", shape, DType("float32"), align=16),
        Buffer("L", shape, DType("float32"), "local", align=16),
    )
    contiguous = E.Ramp(I * 4, make.const(1), 4)
    assert access(aligned, (contiguous,)) is not None
    assert access(local, (contiguous,)) is None
    assert access(aligned, (E.Ramp(I * 4, make.const(2), 4),)) is None
    assert access(aligned, (E.Ramp(I * 4, I, 4),)) is None
    assert access(aligned, (contiguous + E.Broadcast(I, 4),)) is None
    assert access(aligned, (I,)) is None
    shared = Buffer("S", shape, DType("float32"), "shared")
    assert access(shared, (contiguous,)) is not None


PROGRAMS = {
    "copy": "C[ramp(bx*4, 1, 4)] = A[ramp(bx*4, 1, 4)]",
    "add": "C[ramp(bx*4, 1, 4)] = A[ramp(bx*4, 1, 4)] + B[ramp(bx*4, 1, 4)] * 2.0",
    "eight_lanes": "C[ramp(bx*8, 1, 8)] = A[ramp(bx*8, 1, 8)] + A[ramp(bx*8 + 1, 1, 8)]",
    "half_aligned": "C[ramp(bx*4, 1, 4)] = A[ramp(bx*4 + 2, 1, 4)]",
    "three_lanes": "C[ramp(bx*3, 1, 3)] = A[ramp(bx*3, 1, 3)] + 1.0",
    "strided": "C[ramp(bx, n, 4)] = A[ramp(bx*4, 1, 4)]",
    "gather": "C[ramp(bx*4, 1, 4)] = A[indexx4(J[ramp(bx*4, 1, 4)])]",
    "fill": "C[ramp(bx*4, 1, 4)] = broadcast(0.0, 4)",
    "indices": "C[ramp(bx*4, 1, 4)] = f32x4(ramp(bx*4, 1, 4))",
    "tail": "C.where(ramp(bx*4, 1, 4) < broadcast(n, 4))[ramp(bx*4, 1, 4)] = "
    "A.where(ramp(bx*4, 1, 4) < broadcast(n, 4))[ramp(bx*4, 1, 4)] + 1.0",
    "whole_mask": "C.where(broadcast(bx < n, 4))[ramp(bx*4, 1, 4)] = A.where(broadcast(bx < n, 4))[ramp(bx*4, 1, 4)]",
    "lazy": "C[ramp(bx*4, 1, 4)] = A[ramp(bx*4, 1, 4)] if B[ramp(bx*4, 1, 4)] < 0.0 else B[ramp(bx*4, 1, 4)]",
    "shift_by_one": "C[ramp(bx*4 + 1, 1, 4)] = C[ramp(bx*4, 1, 4)]",
    "shift_by_one_masked": "C.where(ramp(bx, 1, 3) < 5)[ramp(bx*3 + 1, 1, 3)] = C[ramp(bx*3, 1, 3)]",
    "in_place": "C[ramp(bx*3, 1, 3)] = C[ramp(bx*3, 1, 3)] * 2.0",
}


def program(statement: str) -> str:
    aligned = ", ".join(f"{name}: buffer(f32[n], align=16)" for name in "AB")
    return f"""
def f({aligned}, J: buffer(i32[n], align=16), C: out[buffer(f32[n], align=16)]) -> device:
    with launch(blockIdx_x=n) as bx:
        {statement}
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_statement(name: str, golden: Golden) -> None:
    source = cuda(program(PROGRAMS[name])).source
    golden(source[source.index('extern "C"') :])


def test_vector_values_have_names() -> None:
    source = cuda(program("v = A[ramp(bx*4, 1, 4)] + 1.0\n        C[ramp(bx*4, 1, 4)] = v * v")).source
    assert "Vec<float, 4> v;" in source
    assert "v[lane] = A_v[lane] + 1.0f;" in source
    assert "C_v[lane] = v[lane] * v[lane];" in source


def test_the_arrays_of_a_build_are_taken_to_be_aligned() -> None:
    a = te.placeholder((1024,), name="A")
    b = te.compute((1024,), lambda i: a[i] * 2, name="B")
    schedule = te.create_schedule(b.op)
    threads, lanes = schedule[b].split(b.op.axis[0], factor=4)
    schedule[b].bind(threads, te.thread_axis("threadIdx.x"))
    schedule[b].vectorize(lanes)
    module = tecomp.build(schedule, [a, b], target="cuda -arch=sm_90a")
    assert "const Vec<float, 4> A_v = vec<4>(A + " in module.source
    assert [param["align"] for param in module.signature["params"]] == [16, 16]


def test_a_mask_that_reads_what_is_stored_to_is_no_vector_statement() -> None:
    mask = "C[ramp(bx*4, 1, 4)] < 0.0"
    with pytest.raises(InternalError, match="whose mask or index reads what it stores to"):
        cuda(program(f"C.where({mask})[ramp(bx*4 + 1, 1, 4)] = A[ramp(bx*4, 1, 4)]"))


def test_vectors_in_registers(golden: Golden) -> None:
    source = cuda("""
        def f(A: buffer(f32[n, 16], align=16), B: out[buffer(f32[n, 16], align=16)]) -> device:
            with launch(threadIdx_x=4) as i:
                total: f32x4
                rows = alloc(f32x4[2], 'local')
                total = broadcast(0.0, 4)
                for t in range(n):
                    rows[0] = A[t, ramp(i*4, 1, 4)]
                    rows[1] = A[t, ramp(i*4 + 1, 1, 4)]
                    total = total + rows[0] * rows[1]
                    B[t, ramp(i*4, 1, 4)] = total
                    B[t, ramp(i*4 + 1, 1, 4)] = rows[t % 2]
    """).source
    golden(source[source.index('extern "C"') :])
