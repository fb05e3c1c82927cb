"""How fast the simulator is: six programs for CUDA on NumPy arrays, checked and timed. It needs no GPU.

    python -m benchmarks.simulator [--rounds N] [PROGRAM...]

Each result is compared with NumPy's first. The table has the median processor time of a call, with every check and
without (`sanitize=False`), and how many statements of threads it ran in a second with them: one that 4096 threads take
in step counts 4096 times, also for those that a condition holds back.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple
from unittest import mock

import numpy as np

import tecomp
from tecomp import te
from tecomp.ir import parse
from tecomp.sim import launch, simulate
from tecomp.sim.run import Run
from tests.tensor_cores import matmul

TARGET = "cuda-sim -arch=sm_90a"
WARP = 32
Array = np.ndarray


class Case(NamedTuple):
    """A program that is built, what it is called with, and what its last array should then hold."""

    module: tecomp.module.Module
    arrays: list[Array]
    expected: Array


def uniform(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(7).random(shape, dtype=np.float32).astype(dtype)


def built(schedule, arguments, inputs: list[Array], expected: Array) -> Case:
    module = tecomp.build(schedule, arguments, target=TARGET)
    return Case(module, [*inputs, np.zeros_like(expected)], expected)


def axes(*tags: str) -> list:
    return [te.thread_axis(tag) for tag in tags]


def copy(size: int = 1 << 20) -> Case:
    """B[i] = A[i], blocks of 256 threads."""
    A = te.placeholder((size,), name="A")
    B = te.compute((size,), lambda i: A[i], name="B")
    s = te.create_schedule(B.op)
    for part, axis in zip(s[B].split(B.op.axis[0], factor=256), axes("blockIdx.x", "threadIdx.x"), strict=True):
        s[B].bind(part, axis)
    a = uniform(size)
    return built(s, [A, B], [a], a)


def row_sums(rows: int = 1024, columns: int = 1024) -> Case:
    """The sum of each row by a block of 256 threads: shuffles, and shared memory between warps."""
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), name="k")
    B = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    block, thread = axes("blockIdx.x", "threadIdx.x")
    s[B].bind(B.op.axis[0], block)
    s[B].bind(s[B].split(k, factor=256)[1], thread)
    a = uniform(rows, columns)
    return built(s, [A, B], [a], a.sum(axis=1))


def softmax(rows: int = 1024, columns: int = 1024) -> Case:
    """A row a block of 256 threads, which reduce it twice; the exponentials stay in shared memory."""
    X = te.placeholder((rows, columns), name="X")
    k, l = te.reduce_axis((0, columns), name="k"), te.reduce_axis((0, columns), name="l")
    top = te.compute((rows,), lambda i: te.max(X[i, k], axis=k), name="top")
    power = te.compute((rows, columns), lambda i, j: te.exp(X[i, j] - top[i]), name="power")
    total = te.compute((rows,), lambda i: te.sum(power[i, l], axis=l), name="total")
    Y = te.compute((rows, columns), lambda i, j: power[i, j] / total[i], name="Y")
    s = te.create_schedule(Y.op)
    block, thread = axes("blockIdx.x", "threadIdx.x")
    row, column = Y.op.axis
    s[Y].bind(row, block)
    s[Y].bind(s[Y].split(column, factor=256)[1], thread)
    for stage in (total, power, top):
        s[stage].compute_at(s[Y], row)
        s[stage].set_scope("shared")
    s[power].bind(s[power].split(power.op.axis[1], factor=256)[1], thread)
    for stage in (total, top):
        s[stage].bind(s[stage].split(s[stage].op.reduce_axis[0], factor=256)[1], thread)
    x = uniform(rows, columns)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return built(s, [X, Y], [x], powers / powers.sum(axis=1, keepdims=True))


def scan(steps: int = 256, columns: int = 4096) -> Case:
    """Running sums of columns, a column a thread."""
    X, state = te.placeholder((steps, columns), name="X"), te.placeholder((steps, columns), name="state")
    init = te.compute((1, columns), lambda _, i: X[0, i], name="init")
    update = te.compute((steps, columns), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    result = te.scan(init, update, state, inputs=[X])
    s = te.create_schedule(result.op)
    own = axes("blockIdx.x", "threadIdx.x")
    for stage in (init, update):
        for part, axis in zip(s[stage].split(stage.op.axis[1], factor=256), own, strict=True):
            s[stage].bind(part, axis)
    x = uniform(steps, columns)
    return built(s, [X, result], [x], np.cumsum(x, axis=0))


def gemm(size: int = 256) -> Case:
    """A float16 matrix product by tiles of tensor cores, staged in shared memory."""
    s, arguments = matmul(size, size, size, block=(64, 64, 32), warp=(32, 32), vector=8)
    a, b = uniform(size, size, dtype="float16"), uniform(size, size, dtype="float16")[::-1].copy()
    return built(s, arguments, [a, b], a.astype(np.float32) @ b.astype(np.float32))


def ring(blocks: int = 8, tiles: int = 32) -> Case:
    """A thread that loads tiles of 128 floats ahead, 128 threads that add them up, two barriers in memory a stage."""
    text = f"""
def ring(A: f32[{blocks}, {tiles}, 128], B: out[f32[{blocks}, 128]]) -> device:
    with launch(blockIdx_x={blocks}, threadIdx_x=160) as (b, t):
        S = alloc(f32[4, 128], 'shared', align=128)
        full = alloc(u64[4], 'shared')
        empty = alloc(u64[4], 'shared')
        total: f32
        if t == 0:
            for k in range(4):
                mbarrier_init(address(full[k], 'w'), 1)
                mbarrier_init(address(empty[k], 'w'), 128)
            fence_mbarrier_init()
        barrier_block()
        if 128 <= t:
            if t == 128:
                for k in range({tiles}):
                    mbarrier_wait(address(empty[k % 4], 'rw'), (k // 4 + 1) % 2)
                    mbarrier_arrive_expect_tx(address(full[k % 4], 'rw'), 512)
                    bulk_load(address(S[k % 4, 0], 'w'), address(A[b, k, 0], 'r'), 512, address(full[k % 4], 'rw'))
        else:
            total = 0.0
            for k in range({tiles}):
                mbarrier_wait(address(full[k % 4], 'rw'), k // 4 % 2)
                total = total + S[k % 4, t]
                mbarrier_arrive(address(empty[k % 4], 'rw'))
            B[b, t] = total
"""
    a = uniform(blocks, tiles, 128)
    expected = a.sum(axis=1)
    return Case(tecomp.build(parse(text), target=TARGET), [a, np.zeros_like(expected)], expected)


PROGRAMS: dict[str, Callable[[], Case]] = {
    "gemm": gemm,
    "softmax": softmax,
    "copy": copy,
    "row_sums": row_sums,
    "scan": scan,
    "ring": ring,
}


def statements(case: Case) -> int:
    """Return how many statements of threads a call runs."""
    total = 0

    class Counted(Run):
        def step(self, stmt) -> None:
            nonlocal total
            total += WARP if self.apart else self.blocks * self.lanes
            super().step(stmt)

    with mock.patch.object(launch, "Run", Counted):
        simulate(case.module, *case.arrays)
    return total


def seconds(case: Case, rounds: int, sanitize: bool) -> float:
    """Return the median processor time of a call."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        simulate(case.module, *case.arrays, sanitize=sanitize)
        found.append(time.process_time() - start)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of: {', '.join(PROGRAMS)}; all by default")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    unknown = set(given.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    print(f"{'program':10} {'checked s':>10} {'unchecked s':>12} {'statements of threads':>22} {'a second':>10}")
    for name in given.programs or PROGRAMS:
        case = PROGRAMS[name]()
        count = statements(case)
        np.testing.assert_allclose(case.arrays[-1], case.expected, rtol=1e-4)
        checked, unchecked = (seconds(case, given.rounds, sanitize) for sanitize in (True, False))
        print(f"{name:10} {checked:10.3f} {unchecked:12.3f} {count:22,} {count / checked / 1e6:8.1f} M", flush=True)


if __name__ == "__main__":
    main()
