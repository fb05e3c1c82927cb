"""On a GPU: each matrix instruction on random registers and shared memory does what NumPy says.

pytest -m gpu tests/instructions/gpu_matrix.py
"""

from __future__ import annotations

import importlib
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tecomp.codegen.nvrtc import compile_cuda
from tecomp.instructions.ldmatrix import MATRIX_MOVES, MatrixMove
from tecomp.instructions.matrix_values import numpy_type
from tecomp.instructions.mma import MMA, Mma
from tecomp.instructions.wgmma_layout import operand_addresses
from tests.instructions.matrix_kernels import (
    B_AT,
    HELPERS,
    MOVED_BYTES,
    SHARED_BYTES,
    THREADS,
    Case,
    Layout,
    every_case,
    numbers,
    warp_source,
    wgmma_source,
)

pytestmark = pytest.mark.gpu

NEAR = {"float16": 2**-10, "float32": 2**-19, "float64": 2**-50, "int32": 0}
"""How far a sum may be off, as a part of the sum of its terms' absolute values."""
NEAR_OF_EIGHT_BITS = 2**-10
WARPS = THREADS // 32


class Kernels:
    """The kernels, compiled and loaded, by name."""

    def __init__(self, folder: Any) -> None:
        self.cupy = importlib.import_module("cupy")
        self.arch = int(self.cupy.cuda.Device().compute_capability)
        self.cases = list(every_case()) if self.arch == 90 else []
        workers = os.cpu_count() or 1
        parts = [part for at in range(4 * workers) if (part := self.cases[at :: 4 * workers])]
        sources = [warp_source(self.arch), *(HELPERS + wgmma_source(part) for part in parts)]
        with ThreadPoolExecutor(workers) as pool:
            compiled = list(pool.map(lambda source: compile_cuda(source, self.name_of_arch).cubin, sources))
        self.modules = []
        for at, cubin in enumerate(compiled):
            path = folder / f"{at}.cubin"
            path.write_bytes(cubin)
            self.modules.append(self.cupy.RawModule(path=str(path)))
        self.module_of = {case.kernel: at + 1 for at, part in enumerate(parts) for case in part}

    @property
    def name_of_arch(self) -> str:
        return "sm_90a" if self.arch == 90 else f"sm_{self.arch}"

    def run(self, name: str, *args: Any) -> list[np.ndarray]:
        """Run a kernel on copies of arrays and on numbers; return the arrays after it."""
        function = self.modules[self.module_of.get(name, 0)].get_function(name)
        given = [self.cupy.asarray(bits(arg)) if isinstance(arg, np.ndarray) else np.int32(arg) for arg in args]
        function((1,), (THREADS,), tuple(given))
        arrays = [(at, arg) for at, arg in enumerate(args) if isinstance(arg, np.ndarray)]
        return [given[at].get().view(arg.dtype) for at, arg in arrays]


def bits(array: np.ndarray) -> np.ndarray:
    """Return an array as unsigned integers: CuPy does not know every type."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def check(found: np.ndarray, expected: np.ndarray, terms: np.ndarray, near: float) -> None:
    off = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    worst = float((off / np.maximum(terms.astype(np.float64), 1e-30)).max()) if near else float(off.max())
    assert worst <= near, f"off by {worst} of the terms"


def near_of(result: str, a: str) -> float:
    return NEAR_OF_EIGHT_BITS if a.startswith("float8") else NEAR[result]


def memory_of(row_types: tuple[str, str], rng: np.random.Generator) -> np.ndarray:
    """Return the bytes of shared memory with numbers of a's type, and from B_AT on of b's."""
    sizes = (B_AT, SHARED_BYTES - B_AT)
    parts = [
        numbers(rng, dtype, size // numpy_type(dtype).itemsize).view(np.uint8)
        for dtype, size in zip(row_types, sizes, strict=True)
    ]
    return np.concatenate(parts)


def factor_in(memory: np.ndarray, dtype: str, start: int, rows: int, k: int, layout: Layout) -> np.ndarray:
    """Return the factor that an instruction finds in shared memory, (1, rows, k)."""
    kind = numpy_type(dtype)
    starts = np.array([start + layout.start])
    return memory.view(kind)[operand_addresses(starts, rows, k, *layout[:4], kind.itemsize) // kind.itemsize]


def compare_mma(kernels: Kernels, row: Mma) -> None:
    rng = np.random.default_rng(0)
    counts = {name: places.rows.shape[1] for name, places in row.places.items()}
    types = {"d": row.result, "a": row.a, "b": row.b, "c": row.result}
    d, a, b, c = (numbers(rng, types[name], WARPS, 32, counts[name]) for name in "dabc")
    found = kernels.run(f"k_{row.cuda_name}", d, a, b, c)[0]
    near = near_of(row.result, row.a)
    terms = row.compute(np.abs(a), np.abs(b), np.abs(c)) if near else c
    check(found, row.compute(a, b, c), terms, near)


def compare_move(kernels: Kernels, row: MatrixMove) -> None:
    rng = np.random.default_rng(0)
    memory = rng.integers(0, 1 << 16, (MOVED_BYTES // 16, 8), np.uint16)
    registers = rng.integers(0, 1 << 16, (WARPS, 32, 2 * row.matrices), np.uint16)
    at = rng.permutation(len(memory))[:THREADS].reshape(WARPS, 32).astype(np.int32)
    named = at[:, : row.addressing_lanes]
    got, left, _ = kernels.run(f"k_{row.cuda_name}", registers, memory, at * 16)
    if row.is_load:
        assert np.array_equal(got, row.gather(memory[named]))
    else:
        memory[named] = row.scatter(registers)
    assert np.array_equal(left, memory)


def compare_wgmma(kernels: Kernels, case: Case) -> None:
    rng, row, types = np.random.default_rng(0), case.row, case.row.types
    memory = memory_of((types.a, types.b), rng)
    d = numbers(rng, types.result, 1, THREADS, row.n // 2)
    held = numbers(rng, types.a, 1, THREADS, row.a_places.rows.shape[1])
    a = held if row.a_in_registers else factor_in(memory, types.a, 0, 64, types.k, case.a)
    b = factor_in(memory, types.b, B_AT, row.n, types.k, case.b)
    near = near_of(types.result, types.a)
    for scale_d in (0, 1):
        starts = (case.a.start, B_AT + case.b.start)
        found = kernels.run(case.kernel, d, held, memory, *starts, scale_d)[0]
        terms = row.compute(np.abs(a), np.abs(b), np.abs(d), scale_d) if near else d
        check(found, row.compute(a, b, d, scale_d), terms, near)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    return Kernels(tmp_path_factory.mktemp("cubin"))


@pytest.mark.parametrize("row", MMA.values(), ids=lambda row: row.cuda_name)
def test_mma(kernels: Kernels, row: Mma) -> None:
    if row.since > kernels.arch:
        pytest.skip(f"from sm_{row.since} on")
    compare_mma(kernels, row)


@pytest.mark.parametrize("row", MATRIX_MOVES.values(), ids=lambda row: row.name)
def test_moves(kernels: Kernels, row: MatrixMove) -> None:
    if row.since > kernels.arch:
        pytest.skip(f"from sm_{row.since} on")
    compare_move(kernels, row)


def test_wgmma(kernels: Kernels) -> None:
    """Every multiplication, with every layout of its factors among them; all that differ are named."""
    if not kernels.cases:
        pytest.skip("only on sm_90")
    wrong = {}
    for case in kernels.cases:
        try:
            compare_wgmma(kernels, case)
        except AssertionError as error:
            wrong[case.kernel] = str(error).splitlines()[0]
    assert not wrong, f"{len(wrong)} of {len(kernels.cases)}: {wrong}"
