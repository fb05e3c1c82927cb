"""A kernel around each matrix instruction: registers and shared memory from arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tecomp.instructions.ldmatrix import MATRIX_MOVES, MatrixMove
from tecomp.instructions.matrix_values import numpy_type
from tecomp.instructions.mma import MMA, Mma
from tecomp.instructions.registers import REGISTER_TEXTS
from tecomp.instructions.sync import SHARED_ADDRESS
from tecomp.instructions.warpgroup import WARPGROUP
from tecomp.instructions.wgmma import DESCRIPTOR, WGMMA, Wgmma

THREADS = 128
SHARED_BYTES = 49152
"""Of a kernel with a multiplication of a warpgroup."""
B_AT = 16384
"""Where b begins."""
MOVED_BYTES = 16384
"""Of shared memory in a kernel that moves matrices."""
HELPERS = "\n".join([SHARED_ADDRESS, *REGISTER_TEXTS.values()])
WARPGROUP_HELPERS = "\n".join(
    [DESCRIPTOR, *(WARPGROUP[f"wgmma_{name}"].prelude for name in ("fence", "commit", "wait"))]
)
WHOLE = {"float32": "float", "float64": "double", "int32": "int"}
BITS = {1: "unsigned char", 2: "unsigned short"}


class Layout(NamedTuple):
    """How a factor lies in shared memory, and where in its tile it begins."""

    swizzle: int
    leading: int
    stride: int
    major: int
    start: int = 0


LAYOUTS = (
    Layout(128, 16, 1024, 0),
    Layout(128, 16, 1024, 0, 32),
    Layout(128, 0, 1024, 0, 64),
    Layout(128, 16, 1024, 0, 96),
    Layout(64, 16, 512, 0),
    Layout(64, 16, 512, 0, 32),
    Layout(32, 16, 256, 0),
    Layout(0, 128, 256, 0),
    Layout(0, 4096, 128, 0),
    Layout(128, 2048, 1024, 1),
    Layout(128, 4096, 1024, 1, 2048),
    Layout(64, 1024, 512, 1),
    Layout(64, 512, 4096, 1),
    Layout(32, 512, 256, 1),
    Layout(0, 128, 256, 1),
    Layout(0, 4096, 128, 1),
)


class Case(NamedTuple):
    """A multiplication of a warpgroup with the layouts of its factors."""

    row: Wgmma
    a: Layout
    b: Layout

    @property
    def kernel(self) -> str:
        numbers = (*self.a, *self.b)
        return f"k_{self.row.cuda_name}_{'_'.join(map(str, numbers))}"


def every_case() -> Iterator[Case]:
    """Every multiplication once, with one pair of layouts after another; one of them with all of these."""
    for at, row in enumerate(WGMMA.values()):
        fitting = [layout for layout in LAYOUTS if layout.major in row.types.majors]
        yield Case(row, fitting[at % len(fitting)], fitting[at * 7 // 3 % len(fitting)])
    row = WGMMA["wgmma_m64n72k16", "float32", "bfloat16", "bfloat16"]
    yield from (Case(row, a, LAYOUTS[at - 5]) for at, a in enumerate(LAYOUTS))


def some_cases() -> Iterator[Case]:
    """Every pair of types with d narrow and wide, and every layout."""
    for at, row in enumerate(row for row in WGMMA.values() if row.n in (8, 24, 256)):
        fitting = [layout for layout in LAYOUTS if layout.major in row.types.majors]
        yield Case(row, fitting[at % len(fitting)], fitting[(at + 3) % len(fitting)])


def c_type(dtype: str) -> str:
    return WHOLE.get(dtype) or BITS[numpy_type(dtype).itemsize]


def mma_kernel(row: Mma) -> str:
    counts = {name: places.rows.shape[1] for name, places in row.places.items()}
    types = {"d": c_type(row.result), "a": c_type(row.a), "b": c_type(row.b), "c": c_type(row.result)}
    arrays = "\n".join(f"  {types[name]} {name}[{counts[name]}];" for name in "dabc")
    loads = "\n".join(_each(counts[name], f"{name}[i] = g{name}[threadIdx.x * {counts[name]} + i]") for name in "abc")
    return f"""{row.prelude}
extern "C" __global__ void k_{row.cuda_name}({types["d"]}* gd, {", ".join(f"const {types[x]}* g{x}" for x in "abc")}) {{
{arrays}
{loads}
  {row.cuda.format(*"dabc")};
{_each(counts["d"], f"gd[threadIdx.x * {counts['d']} + i] = d[i]")}
}}"""


def move_kernel(row: MatrixMove) -> str:
    count = row.places().rows.shape[1]
    call = row.cuda.format(*(("f", "row") if row.is_load else ("row", "f")))
    return f"""{row.prelude}
extern "C" __global__ void k_{row.cuda_name}(unsigned short* registers, unsigned int* memory, const int* at) {{
  __shared__ __align__(16) unsigned int s[{MOVED_BYTES // 4}];
  for (int i = threadIdx.x; i < {MOVED_BYTES // 4}; i += {THREADS}) s[i] = memory[i];
  __syncthreads();
  unsigned short f[{count}];
{_each(count, f"f[i] = registers[threadIdx.x * {count} + i]")}
  const void* row = (const char*)s + at[threadIdx.x];
  {call.replace("row", "(void*)row") if not row.is_load else call};
{_each(count, f"registers[threadIdx.x * {count} + i] = f[i]")}
  __syncthreads();
  for (int i = threadIdx.x; i < {MOVED_BYTES // 4}; i += {THREADS}) memory[i] = s[i];
}}"""


def wgmma_kernel(case: Case) -> str:
    row, count = case.row, case.row.n // 2
    kind, held, of_a = c_type(row.types.result), row.a_places.rows.shape[1], c_type(row.types.a)
    a_lines = (
        f"  {of_a} a[{held}];\n{_each(held, f'a[i] = ga[threadIdx.x * {held} + i]')}" if row.a_in_registers else ""
    )
    layouts = case.b[:4] if row.a_in_registers else (*case.a[:4], *case.b[:4])
    call = row.cuda.format("d", "a" if row.a_in_registers else "s + a_at", "s + b_at", *layouts, "scale_d")
    return f"""
extern "C" __global__ void __launch_bounds__({THREADS})
{case.kernel}({kind}* gd, const {of_a}* ga, const unsigned int* memory, int a_at, int b_at, int scale_d) {{
  __shared__ __align__(1024) unsigned char s[{SHARED_BYTES}];
  for (int i = threadIdx.x; i < {SHARED_BYTES // 4}; i += {THREADS}) ((unsigned int*)s)[i] = memory[i];
  {kind} d[{count}];
{_each(count, f"d[i] = gd[threadIdx.x * {count} + i]")}
{a_lines}
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  wgmma_fence();
  {call};
  wgmma_commit();
  wgmma_wait<0>();
{_each(count, f"gd[threadIdx.x * {count} + i] = d[i]")}
}}"""


def _each(count: int, text: str) -> str:
    return f"#pragma unroll\n  for (int i = 0; i < {count}; ++i) {text};"


def warp_source(arch: int) -> str:
    """Return the kernels of all instructions of a warp that the architecture has."""
    multiplications = [mma_kernel(row) for row in MMA.values() if row.since <= arch]
    moves = [move_kernel(row) for row in MATRIX_MOVES.values() if row.since <= arch]
    return "\n".join([HELPERS, *multiplications, *moves])


def wgmma_source(cases: list[Case]) -> str:
    """Return the kernels of these multiplications of a warpgroup."""
    preludes = {case.row.cuda_name: case.row.prelude for case in cases}
    return "\n".join([WARPGROUP_HELPERS, *preludes.values(), *map(wgmma_kernel, cases)])


def numbers(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Return numbers of a type: all of an integer type, of a float around 0."""
    kind = numpy_type(dtype)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, shape, kind, endpoint=True)
    return rng.standard_normal(shape).astype(kind)
