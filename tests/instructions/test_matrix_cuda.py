"""The functions of matrix instructions in CUDA: NVRTC takes each without a word, and arrays stay in registers."""

from __future__ import annotations

import importlib
import re

import pytest

from tecomp.codegen.nvrtc import compile_cuda
from tecomp.instructions.ldmatrix import MATRIX_MOVES
from tecomp.instructions.mma import MMA
from tecomp.instructions.registers import function, places
from tecomp.instructions.wgmma import WGMMA
from tests.instructions.matrix_kernels import HELPERS, some_cases, warp_source, wgmma_source

INSTRUCTION = re.compile(r"\b(?:mma|ldmatrix|stmatrix|wgmma)\.(?:sync|mma_async)\S*")


def ptx_of(source: str, arch: str) -> str:
    nvrtc = importlib.import_module("cupy_backends.cuda.libs.nvrtc")
    program = nvrtc.createProgram(source, "kernel.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"-arch={arch}", "--std=c++17"))
        text = nvrtc.getPTX(program)
        return text.decode() if isinstance(text, bytes) else text
    finally:
        nvrtc.destroyProgram(program)


def complaints(log: str) -> list[str]:
    """Return the lines of a log that warn, that say matrix instructions wait for each other, or that tell of memory."""
    quiet = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
    return [
        line
        for line in log.splitlines()
        if re.search(r"warning|error|C75\d\d", line) or ("stack frame" in line and quiet not in line)
    ]


@pytest.mark.parametrize(("arch", "number"), [("sm_80", 80), ("sm_89", 89), ("sm_90a", 90)])
def test_instructions_of_a_warp(arch, number) -> None:
    source = warp_source(number)
    assert complaints(compile_cuda(source, arch).log) == []
    found = INSTRUCTION.findall(ptx_of(source, arch.replace("sm", "compute")))
    expected = [row for row in (*MMA.values(), *MATRIX_MOVES.values()) if row.since <= number]
    assert sorted(found) == sorted(INSTRUCTION.findall("".join(row.prelude for row in expected)))
    assert len(found) == len(set(found)) == len(expected)


def test_multiplications_of_a_warpgroup() -> None:
    cases = list(some_cases())
    source = HELPERS + wgmma_source(cases)
    assert complaints(compile_cuda(source, "sm_90a").log) == []
    found = INSTRUCTION.findall(ptx_of(source, "compute_90a"))
    matrix = [text for text in found if "mma_async" in text]
    assert sorted(matrix) == sorted(INSTRUCTION.findall(case.row.prelude)[0] for case in cases)


def test_one_instruction_each() -> None:
    for row in (*MMA.values(), *MATRIX_MOVES.values(), *WGMMA.values()):
        assert len(INSTRUCTION.findall(row.prelude)) == row.prelude.count("asm volatile") == 1
        assert f" {row.cuda_name}(" in row.prelude and row.cuda.startswith(row.cuda_name)


def test_sums_stay_in_registers_over_a_loop() -> None:
    """Halves too, though the loop has them as halves and the instruction as pairs."""
    row = WGMMA["wgmma_m64n128k16", "float16", "float16", "float16"]
    source = f"""{HELPERS}
{wgmma_source([])}
{row.prelude}
extern "C" __global__ void __launch_bounds__(128) k(unsigned short* out, int steps) {{
  __shared__ __align__(1024) unsigned char s[49152];
  unsigned short d[64];
  for (int k = 0; k < steps; ++k) {{
    __syncthreads();
    wgmma_fence();
    {row.cuda.format("d", "s", "s + 16384", 128, 16, 1024, 0, 128, 16, 1024, 0, "k > 0")};
    wgmma_commit();
    wgmma_wait<0>();
  }}
#pragma unroll
  for (int i = 0; i < 64; ++i) out[threadIdx.x * 64 + i] = d[i];
}}"""
    assert complaints(compile_cuda(source, "sm_90a").log) == []


def test_the_text_of_a_statement() -> None:
    assert places(2, 18).splitlines() == [
        "{%2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17,",
        "%18, %19}",
    ]
    assert function("f(int* x)", "one\ntwo;", ['"=r"(x[0])'], [], ["int y;"], ["x[0] += y;"], "memory") == (
        "__device__ __forceinline__ void f(int* x) {\n"
        "  int y;\n"
        '  asm volatile("one"\n'
        '      "two;"\n'
        '    : "=r"(x[0])\n'
        '    : : "memory");\n'
        "  x[0] += y;\n"
        "}"
    )
