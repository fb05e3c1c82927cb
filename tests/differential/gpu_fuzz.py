"""Random programs under random schedules on a GPU, as many as wanted: `make gpu-fuzz SEEDS=0:4000`.

    python -m tests.differential.gpu_fuzz 0:4000 --jobs 8 --racecheck 40

Each seed is run between guard words and compared with NumPy. Of some seeds, spread over all, the kernels run once more
under compute-sanitizer's racecheck, and of as many others under its memcheck; both must have nothing to say. A seed
that fails is looked into with `pytest "tests/differential/test_random_cuda.py::test_gpu[SEED]"`.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import tecomp

from .gpu_memory import GuardedAllocations
from .gpu_schedules import random_gpu_schedule
from .running import check, legal_case

TOOLS = ("racecheck", "memcheck")
MINUTES = 10
"""How long the seeds of one sanitizer run may take together."""


def run(seed: int) -> str:
    """Return what is wrong with a seed; nothing when it is right."""
    cupy = importlib.import_module("cupy")
    try:
        legal = legal_case(seed, random_gpu_schedule, lambda s, args: tecomp.build(s, args, target="cuda"))

        def call(*arrays: Any) -> None:
            with GuardedAllocations(cupy) as temporaries:
                legal.lowered(*arrays)
            temporaries.check(legal.note)

        check(legal.note, legal.program, call, cupy, gaps=seed % 5 == 0)
    except Exception as failure:  # noqa: BLE001 (whatever it is, it is this seed's result)
        return f"seed {seed}: {type(failure).__name__}: {failure}"
    return ""


def main() -> int:
    """Run the seeds, then the samples; return 1 where any fails."""
    parser = argparse.ArgumentParser(description="random programs under random schedules on a GPU")
    parser.add_argument("seeds", help="first:end")
    parser.add_argument("--jobs", type=int, default=4, help="processes that build and run")
    parser.add_argument(
        "--racecheck", type=int, default=0, metavar="N", help="seeds for each tool of compute-sanitizer"
    )
    given = parser.parse_args()
    first, end = map(int, given.seeds.split(":"))
    start = time.perf_counter()
    failures = _all(range(first, end), given.jobs)
    print(f"{end - first} seeds in {time.perf_counter() - start:.0f} s, {len(failures)} failed")
    for number, tool in enumerate(TOOLS):
        sample = range(first + number, end, max((end - first) // max(given.racecheck, 1), 1))[: given.racecheck]
        failures += _sanitized(tool, sample) if sample else []
    print("\n\n".join(failures))
    return 1 if failures else 0


def _all(seeds: Sequence[int], jobs: int) -> list[str]:
    if jobs == 1:
        return [wrong for wrong in map(run, seeds) if wrong]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        return [wrong for wrong in pool.map(run, seeds, chunksize=8) if wrong]


def _sanitized(tool: str, seeds: range) -> list[str]:
    """Run seeds in one process under a tool of compute-sanitizer; return what it reports."""
    program = shutil.which("compute-sanitizer")
    if program is None:
        return [f"{tool}: compute-sanitizer is not installed"]
    code = f"from tests.differential.gpu_fuzz import _all; assert not _all({list(seeds)}, 1)"
    command = [program, "--tool", tool, "--error-exitcode", "3", sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=MINUTES * 60, check=False)
    print(f"{tool}: {len(seeds)} seeds, {'nothing found' if result.returncode == 0 else 'FAILED'}")
    return (
        []
        if result.returncode == 0
        else [f"{tool} of seeds {list(seeds)}:\n{result.stdout[-4000:]}{result.stderr[-2000:]}"]
    )


if __name__ == "__main__":
    sys.exit(main())
