"""The running sum of columns as a TE scan on an NVIDIA GPU: right, in one launch, and how fast.

    python benchmarks/gpu_scan.py

One built function serves every size. Each size is checked first: an output full of NaN with guard words around it,
against NumPy's float32 sums (equal bit for bit: both add in the same order) and its float64 sums. Launches are counted
in a captured CUDA graph. Then tecomp, torch.cumsum (where PyTorch is installed) and a device copy take turns; L2 is
flushed before each run; the table shows medians by CUDA events, and TB/s of one read and one write of the matrix.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tecomp
from tecomp import te

cupy: Any = importlib.import_module("cupy")

TIMED = ((10, 1024), (1024, 1 << 18), (16384, 16384))
CHECKED = (*TIMED, (10, 1), (10, 255), (10, 257), (10, 1_000_003))
GUARD = 64
"""Floats before and after the output that must keep their value."""
POISON = np.float32(-12345.0)
FLUSH_BYTES = 1 << 30
"""Far more than any L2, so that it also gives the host time to enqueue what is measured."""

Run = Callable[[], Any]


def column_sums() -> tuple[Any, list[Any]]:
    """Return the schedule and the arguments: 256 threads a block, one column a thread."""
    m, n = te.var("m"), te.var("n")
    x = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n))
    init = te.compute((1, n), lambda _, i: x[0, i])
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i])
    scan = te.scan(init, update, state, inputs=[x])
    s = te.create_schedule(scan.op)
    block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    for stage in (init, update):
        outer, inner = s[stage].split(stage.op.axis[1], factor=256)
        s[stage].bind(outer, block)
        s[stage].bind(inner, thread)
    return s, [x, scan]


class Case:
    """A matrix on the device, and an output with guard words around it."""

    def __init__(self, m: int, n: int) -> None:
        self.m, self.n = m, n
        self.host = np.random.default_rng(m + n).random((m, n), dtype=np.float32)
        self.x = cupy.asarray(self.host)
        self.padded = cupy.empty(m * n + 2 * GUARD, dtype=cupy.float32)
        self.y = self.padded[GUARD : GUARD + m * n].reshape(m, n)

    def poison(self) -> None:
        """Fill the output with NaN and the guards with a value of their own."""
        self.padded.fill(POISON)
        self.y.fill(np.nan)

    def faults(self) -> list[str]:
        """Return what is wrong with the output, column block by column block."""
        found: list[str] = []
        guards = cupy.asnumpy(cupy.concatenate([self.padded[:GUARD], self.padded[-GUARD:]]))
        if not (guards == POISON).all():
            found.append("wrote outside the output")
        got = cupy.asnumpy(self.y)
        for part in self.blocks():
            want = np.cumsum(self.host[:, part], axis=0, dtype=np.float32)
            exact = np.cumsum(self.host[:, part], axis=0, dtype=np.float64)
            if not np.array_equal(got[:, part], want):
                found.append(f"columns {part.start}..: not NumPy's float32 sums")
            if not np.allclose(got[:, part], exact, rtol=self.m * 2.0**-24, atol=0):
                found.append(f"columns {part.start}..: error beyond rounding")
        return found

    def blocks(self, width: int = 1 << 12) -> Iterator[slice]:
        """Yield slices of columns small enough to sum in float64 at once."""
        for start in range(0, self.n, width):
            yield slice(start, min(start + width, self.n))


def launches(run: Run) -> str:
    """Return how many kernels (and other steps) a call enqueues, counted in a captured graph."""
    run()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        try:
            run()
        finally:
            graph = stream.end_capture()
    driver = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_size_t()
    driver.cuGraphGetNodes(ctypes.c_void_p(graph.graph), None, ctypes.byref(count))
    nodes = (ctypes.c_void_p * count.value)()
    driver.cuGraphGetNodes(ctypes.c_void_p(graph.graph), nodes, ctypes.byref(count))
    kinds = [ctypes.c_int() for _ in nodes]
    for node, kind in zip(nodes, kinds, strict=True):
        driver.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind))
    kernels = sum(kind.value == 0 for kind in kinds)
    others = len(kinds) - kernels
    return f"{kernels} kernel{'s' * (kernels != 1)}" + (f" and {others} other steps" if others else "")


def medians(candidates: dict[str, Run], repeats: int) -> dict[str, float]:
    """Return the median milliseconds of each candidate; they take turns, each with a cold L2."""
    flush = cupy.empty(FLUSH_BYTES // 4, dtype=cupy.float32)
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for repeat in range(repeats + 2):
        for name, run in candidates.items():
            flush.fill(repeat)
            start.record()
            run()
            stop.record()
            stop.synchronize()
            times[name].append(cupy.cuda.get_elapsed_time(start, stop))
    return {name: statistics.median(samples[2:]) for name, samples in times.items()}


def candidates(case: Case, scan: Callable[..., Any]) -> dict[str, Run]:
    """Return what takes turns: the built scan, a copy of as many bytes, and torch.cumsum where there is PyTorch."""
    chosen: dict[str, Run] = {
        "tecomp": lambda: scan(case.x, case.y),
        "copy": lambda: cupy.copyto(case.y, case.x),
    }
    if importlib.util.find_spec("torch"):
        torch = importlib.import_module("torch")
        x, y = torch.from_dlpack(case.x), torch.from_dlpack(case.y)
        chosen["torch.cumsum"] = lambda: torch.cumsum(x, 0, out=y)
    return chosen


def check(scan: Callable[..., Any]) -> bool:
    """Check every size; return whether all are right."""
    right = True
    for m, n in CHECKED:
        case = Case(m, n)
        case.poison()
        scan(case.x, case.y)
        faults = case.faults()
        right = right and not faults
        steps = launches(lambda case=case: scan(case.x, case.y))
        print(f"({m:5}, {n:7})  {'; '.join(faults[:3]) or 'equal to NumPy':40} {steps}", flush=True)
    return right


def time(scan: Callable[..., Any], repeats: int) -> None:
    print(f"\n{'(m, n)':17} {'':14} {'ms':>9} {'TB/s':>6}")
    for m, n in TIMED:
        case = Case(m, n)
        for name, ms in medians(candidates(case, scan), repeats).items():
            print(f"({m:5}, {n:7})  {name:14} {ms:9.4f} {8 * m * n / ms / 1e9:6.2f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--source", action="store_true", help="print the generated CUDA first")
    chosen = parser.parse_args()
    schedule, parameters = column_sums()
    scan = tecomp.build(schedule, parameters, target="cuda", name="myscan")
    if chosen.source:
        print(scan.source)
    device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    print(f"{device}; scan over m rows of n columns")
    right = check(scan)
    time(scan, chosen.repeats)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
