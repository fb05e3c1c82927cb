"""The simulator's counts beside those of Nsight Compute. It needs a GPU, and `ncu` on PATH with leave to read counters.

    python -m tests.sim.counters [NAME...]          the kernels of `counted`, or those of these names
    python -m tests.sim.counters --read FILE        the same of a csv that ncu wrote before

All run once, in one process under ncu, built for the GPU that is there. Returns 1 where sectors or wavefronts differ by
more than 2 %.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .counted import KERNELS

SECONDS = 110
"""How long ncu may take, which runs each kernel several times."""
MOST = 0.02
"""How far sectors and wavefronts may differ."""
_LINE = "{:20} {:22} {:>12} {:>12} {:>9}  {}\n"
_RUNS = "--run"


class Counter(NamedTuple):
    """A counter of ncu, and what the simulator counts of the same."""

    name: str
    metric: str
    simulated: Callable[[Any], int]
    counts: bool
    """Whether a difference is a failure."""


_L1 = "l1tex__"
COUNTERS = (
    Counter("load sectors", f"{_L1}t_sectors_pipe_lsu_mem_global_op_ld.sum", lambda k: k.global_load.sectors, True),
    Counter("store sectors", f"{_L1}t_sectors_pipe_lsu_mem_global_op_st.sum", lambda k: k.global_store.sectors, True),
    Counter("load requests", f"{_L1}t_requests_pipe_lsu_mem_global_op_ld.sum", lambda k: k.global_load.requests, False),
    Counter(
        "store requests", f"{_L1}t_requests_pipe_lsu_mem_global_op_st.sum", lambda k: k.global_store.requests, False
    ),
    Counter(
        "shared load waves",
        f"{_L1}data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        lambda k: k.shared_load.wavefronts,
        True,
    ),
    Counter(
        "shared store waves",
        f"{_L1}data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        lambda k: k.shared_store.wavefronts,
        True,
    ),
    Counter(
        "shared load conflicts",
        f"{_L1}data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        lambda k: k.shared_load.conflicts,
        False,
    ),
    Counter(
        "shared store conflicts",
        f"{_L1}data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        lambda k: k.shared_store.conflicts,
        False,
    ),
    Counter("shared load insts", "smsp__inst_executed_op_shared_ld.sum", lambda k: k.shared_load.requests, False),
)


class Failed(Exception):
    """ncu did not give what it was asked for; the text is its own."""


def run(names: Sequence[str]) -> int:
    """Run kernels on the GPU, one after the other."""
    cupy = importlib.import_module("cupy")
    for name in names:
        one = KERNELS[name]
        given = [cupy.asarray(array) for array in one.given()]
        one.build(target())(*given)
        cupy.cuda.runtime.deviceSynchronize()
    return 0


def target() -> str:
    """Return the target of the GPU that is there."""
    found = importlib.import_module("cupy").cuda.Device().compute_capability
    return f"cuda -arch=sm_{found}{'a' if found == '90' else ''}"


def measured(names: Sequence[str]) -> str:
    """Return the csv that ncu writes of one process that runs these kernels; Failed with what it says instead."""
    program = shutil.which("ncu")
    if program is None:
        raise Failed("ncu is not on PATH")
    command = [program, "--csv", "--page", "raw", "--metrics", ",".join(one.metric for one in COUNTERS)]
    command += ["--target-processes", "all", sys.executable, "-m", "tests.sim.counters", _RUNS, *names]
    environment = {"TMPDIR": os.environ.get("TMPDIR", "/tmp"), **os.environ}
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"ncu took longer than {SECONDS} s\n{_text(late.stdout)}{_text(late.stderr)}") from None
    if '"Kernel Name"' not in result.stdout or result.returncode:
        raise Failed(f"ncu ended with {result.returncode}\n{result.stdout[-6000:]}\n{result.stderr[-6000:]}")
    return result.stdout


def _text(said: bytes | str | None) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""


def read(text: str) -> list[dict[str, str]]:
    """Return the rows of ncu's csv, without what stands before it and the row of units."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    start = next((at for at, line in enumerate(lines) if '"Kernel Name"' in line), None)
    if start is None:
        raise Failed(f"no csv of ncu:\n{text[-6000:]}")
    rows = csv.DictReader(io.StringIO("\n".join(lines[start:])))
    return [row for row in rows if (row.get("ID") or "").strip().isdigit()]


def number(text: str | None) -> float:
    """Return a number as ncu writes it: 1,234 or 1.234,5 or 1234.5; NaN for one that is not there."""
    plain = (text or "").strip().replace("\u202f", "").replace("\u00a0", "").replace(" ", "").replace("'", "")
    if plain.count(",") == 1 and plain.count(".") > 0 and plain.index(",") > plain.rindex("."):
        plain = plain.replace(".", "").replace(",", ".")
    try:
        return float(plain.replace(",", ""))
    except ValueError:
        return float("nan")


def simulated(name: str) -> Any:
    """Return the counts of the simulator."""
    from tecomp.sim import profile

    one = KERNELS[name]
    (kernel,) = profile(one.build("cuda-sim"), *one.given(), show=False).kernels.values()
    return kernel


def compare(names: Sequence[str], rows: Sequence[dict[str, str]]) -> int:
    """Print all counters of all kernels; return how many differ that may not."""
    sys.stdout.write(_LINE.format("kernel", "counter", "simulator", "ncu", "percent", ""))
    wrong = 0
    found = [(row, row["Kernel Name"].partition("(")[0]) for row in rows]
    for name in names:
        kernel = simulated(name)
        row = next((row for row, called in found if called == kernel.name), None)
        if row is None:
            called = ", ".join(sorted({called for _, called in found}))
            sys.stdout.write(f"{name}: ncu has no kernel {kernel.name}, only {called}\n")
            wrong += 1
            continue
        for counter in COUNTERS:
            own, other = counter.simulated(kernel), number(row.get(counter.metric))
            if own == 0 and other == 0:
                continue
            off = (own - other) / other if other else float("inf") if own else 0.0
            bad = not abs(off) <= MOST
            wrong += bad and counter.counts
            note = "" if not bad else "DIFFERS" if counter.counts else "differs"
            shown = "-" if np.isnan(other) else f"{other:.0f}"
            sys.stdout.write(_LINE.format(name, counter.name, own, shown, f"{100 * off:+.1f}", note))
    return wrong


def main(words: Sequence[str]) -> int:
    """Compare; return 1 where sectors or wavefronts differ."""
    parser = argparse.ArgumentParser(description="the simulator's counts beside Nsight Compute's")
    parser.add_argument("names", nargs="*", help="kernels; all where none is named")
    parser.add_argument("--read", type=Path, metavar="FILE", help="a csv of ncu; nothing runs on a GPU")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the csv of ncu there")
    parser.add_argument(_RUNS, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    names = given.names or list(KERNELS)
    if given.run:
        return run(names)
    start = time.perf_counter()
    try:
        text = given.read.read_text() if given.read else measured(names)
        if given.keep:
            given.keep.write_text(text)
        rows = read(text)
    except Failed as failure:
        sys.stdout.write(f"{failure}\n")
        return 1
    wrong = compare(names, rows)
    took = time.perf_counter() - start
    sys.stdout.write(f"{len(names)} kernels, {wrong} sectors or wavefronts differ by over {MOST:.0%}, {took:.0f} s\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
