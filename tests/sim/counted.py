"""Kernels whose requests a person can count: tests assert the numbers, `tests.sim.counters` asks a GPU for them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import tecomp
from tecomp.ir import parse
from tests.tensor_cores import matmul

BLOCKS, THREADS = 16, 256
SIZE = BLOCKS * THREADS
SM_80 = "cuda -arch=sm_80"


class Counted(NamedTuple):
    """One kernel: how it is built, and the arrays that it is called with."""

    name: str
    program: Callable[[], Any]
    arrays: Sequence[tuple[tuple[int, ...], str]]

    def build(self, target: str = SM_80) -> Any:
        """Return the module for a target."""
        made = self.program()
        given = made if isinstance(made, tuple) else (made,)
        return tecomp.build(*given, target=target, name=self.name)

    def given(self) -> list[np.ndarray]:
        """Return its arguments."""
        return [np.ones(shape, dtype) for shape, dtype in self.arrays]


_SHORT = {"float32": "f32", "float16": "f16", "float64": "f64"}


def kernel(name: str, text: str, *arrays: tuple[Any, str]) -> Counted:
    """Return a kernel that is written out; T is the type of its first array."""
    shaped = [(shape if isinstance(shape, tuple) else (shape,), dtype) for shape, dtype in arrays]
    typed = textwrap.dedent(text).replace("T[", f"{_SHORT[shaped[0][1]]}[")
    return Counted(name, lambda: parse(typed), shaped)


def flat(
    name: str, read: str, size: int = SIZE, dtype: str = "float32", threads: int = THREADS, where: str = ""
) -> Counted:
    """Return B[i] = what is read, for thread i; of those for which `where` holds."""
    guard = f"if {where}:" if where else "for once in range(1):"
    text = f"""
        def {name}(A: T[{size}], B: out[T[{SIZE}]]) -> device:
            with launch(blockIdx_x={BLOCKS}, threadIdx_x={threads}) as (b, t):
                {guard}
                    B[b * {threads} + t] = {read}
    """
    return kernel(name, text, (size, dtype), (SIZE, dtype))


def vectors(name: str, lanes: int, dtype: str = "float32", place: str = "i") -> Counted:
    """Return a copy of so many elements a thread, from its own place or another."""
    count = SIZE * lanes
    read = place.replace("i", f"(b * {THREADS} + t)")
    text = f"""
        def {name}(A: buffer(T[{count}], align=16), B: out[buffer(T[{count}], align=16)]) -> device:
            with launch(blockIdx_x={BLOCKS}, threadIdx_x={THREADS}) as (b, t):
                B[ramp((b * {THREADS} + t) * {lanes}, 1, {lanes})] = A[ramp({read} * {lanes}, 1, {lanes})]
    """
    return kernel(name, text, (count, dtype), (count, dtype))


def column(name: str, step: int, dtype: str = "float32") -> Counted:
    """Return threads that write to shared memory `step` elements apart, and read what another one wrote."""
    text = f"""
        def {name}(A: T[{SIZE}], B: out[T[{SIZE}]]) -> device:
            with launch(blockIdx_x={BLOCKS}, threadIdx_x={THREADS}) as (b, t):
                S = alloc(T[{THREADS * step}], 'shared')
                S[t * {step}] = A[b * {THREADS} + t]
                barrier_block()
                B[b * {THREADS} + t] = S[({THREADS - 1} - t) * {step}]
    """
    return kernel(name, text, (SIZE, dtype), (SIZE, dtype))


def shared_vectors(name: str, lanes: int, read: str) -> Counted:
    """Return threads that write vectors to shared memory, and read that of thread `read`."""
    count = SIZE * lanes
    text = f"""
        def {name}(A: buffer(f32[{count}], align=16), B: out[buffer(f32[{count}], align=16)]) -> device:
            with launch(blockIdx_x={BLOCKS}, threadIdx_x={THREADS}) as (b, t):
                S = alloc(f32[{THREADS * lanes}], 'shared')
                S[ramp(t * {lanes}, 1, {lanes})] = A[ramp((b * {THREADS} + t) * {lanes}, 1, {lanes})]
                barrier_block()
                B[ramp((b * {THREADS} + t) * {lanes}, 1, {lanes})] = S[ramp(({read}) * {lanes}, 1, {lanes})]
    """
    return kernel(name, text, (count, "float32"), (count, "float32"))


def transpose(name: str, pad: int | None, dtype: str = "float32") -> Counted:
    """Return the transpose of 128 x 128 by tiles in shared memory, or directly where `pad` is None."""
    tile = f"""
                S = alloc(T[32, {32 + (pad or 0)}], 'shared')
                for k in range(4):
                    S[ty + k * 8, tx] = A[by * 32 + ty + k * 8, bx * 32 + tx]
                barrier_block()
                for k in range(4):
                    B[bx * 32 + ty + k * 8, by * 32 + tx] = S[tx, ty + k * 8]
    """
    direct = """
                for k in range(4):
                    B[bx * 32 + tx, by * 32 + ty + k * 8] = A[by * 32 + ty + k * 8, bx * 32 + tx]
    """
    text = (
        f"""
        def {name}(A: T[128, 128], B: out[T[128, 128]]) -> device:
            with launch(blockIdx_x=4, blockIdx_y=4, threadIdx_x=32, threadIdx_y=8) as (bx, by, tx, ty):
    """.rstrip()
        + (direct if pad is None else tile)
    )
    return kernel(name, text, ((128, 128), dtype), ((128, 128), dtype))


def row_sums(name: str, half: int = THREADS // 2) -> Counted:
    """Return the sums of rows, each by a tree of its block in shared memory."""
    steps: list[str] = []
    while half:
        steps += [f"if t < {half}:", f"    S[t] = S[t] + S[t + {half}]", "barrier_block()"]
        half //= 2
    tree = textwrap.indent("\n".join(steps), " " * 16)
    text = f"""
        def {name}(A: f32[{BLOCKS}, {THREADS}], B: out[f32[{BLOCKS}, {THREADS}]]) -> device:
            with launch(blockIdx_x={BLOCKS}, threadIdx_x={THREADS}) as (b, t):
                S = alloc(f32[{THREADS}], 'shared')
                S[t] = A[b, t]
                barrier_block()
{tree}
                B[b, t] = S[0]
    """
    return kernel(name, text, ((BLOCKS, THREADS), "float32"), ((BLOCKS, THREADS), "float32"))


def halo(name: str) -> Counted:
    """Return sums of three neighbours, which a block shares."""
    text = f"""
        def {name}(A: f32[{SIZE + 2}], B: out[f32[{SIZE}]]) -> device:
            with launch(blockIdx_x={BLOCKS}, threadIdx_x={THREADS}) as (b, t):
                S = alloc(f32[{THREADS + 2}], 'shared')
                S[t] = A[b * {THREADS} + t]
                if t < 2:
                    S[{THREADS} + t] = A[b * {THREADS} + {THREADS} + t]
                barrier_block()
                B[b * {THREADS} + t] = S[t] + S[t + 1] + S[t + 2]
    """
    return kernel(name, text, (SIZE + 2, "float32"), (SIZE, "float32"))


def squares(name: str) -> Counted:
    """Return a copy by blocks of 16 x 16 threads: a warp is two rows of them."""
    text = f"""
        def {name}(A: f32[64, 64], B: out[f32[64, 64]]) -> device:
            with launch(blockIdx_x=4, blockIdx_y=4, threadIdx_x=16, threadIdx_y=16) as (bx, by, tx, ty):
                B[by * 16 + ty, bx * 16 + tx] = A[by * 16 + ty, bx * 16 + tx]
    """
    return kernel(name, text, ((64, 64), "float32"), ((64, 64), "float32"))


def gemm(name: str, **form: Any) -> Counted:
    """Return a matrix product on tensor cores."""
    arrays = [((64, 64), "float16"), ((64, 64), "float16"), ((64, 64), "float32")]
    return Counted(name, lambda: matmul(64, 64, 64, **form), arrays)


_I = f"b * {THREADS} + t"
KERNELS: dict[str, Counted] = {
    one.name: one
    for one in (
        flat("copy", f"A[{_I}]"),
        *(flat(f"stride{step}", f"A[({_I}) * {step}]", SIZE * step) for step in (2, 8, 32)),
        flat("off_by_one", f"A[{_I} + 1]", SIZE + 1),
        flat("one_for_all", "A[b]"),
        flat("odd_lanes", f"A[{_I}]", where="t % 2 == 1"),
        flat("partial_warp", "A[b * 40 + t]", threads=40),
        flat("halves", f"A[{_I}]", dtype="float16"),
        flat("doubles", f"A[{_I}]", dtype="float64"),
        squares("squares"),
        vectors("vector2", 2),
        vectors("vector4", 4),
        vectors("vector8_halves", 8, "float16"),
        vectors("vector4_for_all", 4, place="b"),
        vectors("vector4_apart", 4, place=f"(i * 8 % {SIZE} + i // {SIZE // 8})"),
        transpose("transpose_direct", None),
        transpose("transpose", 0),
        transpose("transpose_padded", 1),
        transpose("transpose_halves", 0, "float16"),
        *(column(f"column{step}", step) for step in (1, 2, 4, 8, 32, 33)),
        column("column1_doubles", 1, "float64"),
        column("column2_halves", 2, "float16"),
        shared_vectors("shared2", 2, f"{THREADS - 1} - t"),
        shared_vectors("shared4", 4, f"{THREADS - 1} - t"),
        shared_vectors("shared2_pairs", 2, f"({THREADS - 1} - t) // 2"),
        shared_vectors("shared4_pairs", 4, f"({THREADS - 1} - t) // 2"),
        shared_vectors("shared4_for_all", 4, "t // 32"),
        shared_vectors("shared4_apart", 4, f"t * 8 % {THREADS} + t * 8 // {THREADS}"),
        row_sums("row_sums"),
        halo("halo"),
        gemm("gemm"),
        gemm("gemm_padded", pad=8),
        gemm("gemm_vectors", vector=4),
    )
}
