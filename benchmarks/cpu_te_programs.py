"""Time nine TE programs: to lower, to build, to run; with --peer beside TVM's TE, the same schedules, side by side.

    python benchmarks/cpu_te_programs.py
    python benchmarks/cpu_te_programs.py --peer ~/tvm/bin/python --peer-target "llvm -mtriple=... -mcpu=znver4"
    python benchmarks/cpu_te_programs.py gemm softmax

The peer is an interpreter that has TVM with TE, such as CPython 3.10 with the public wheel hhb-tvm 3.2.3. Each program
runs in a process of its own, the two systems by turns, `--rounds` times; the table shows the median of the rounds'
medians in milliseconds, and how many times the peer's that is. Python's share of a call is in it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from programs import PROGRAMS, Program

TIMES = ("lower", "build", "run")
Row = dict[str, Any]


def median_ms(action: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the median time of an action in milliseconds, and its last result."""
    times: list[float] = []
    result = None
    for _ in range(repeats):
        start = time.perf_counter()
        result = action()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times), result


def measure(system: str, name: str, target: str) -> Row:
    """Build and run one program with tecomp or tvm in this process."""
    compiler = importlib.import_module(system)
    program: Program = PROGRAMS[name](importlib.import_module(f"{system}.te"))
    lower, _ = median_ms(lambda: compiler.lower(program.schedule, program.arguments), 7)
    build, function = median_ms(lambda: compiler.build(program.schedule, program.arguments, target=target), 5)
    wrap = compiler.nd.array if system == "tvm" else np.asarray
    arrays = [wrap(array) for array in (*program.inputs, np.full(program.expected.shape, np.nan, np.float32))]
    function(*arrays)
    result = arrays[-1].numpy() if system == "tvm" else arrays[-1]
    error = np.linalg.norm(result.astype("d") - program.expected) / np.linalg.norm(program.expected)
    run, _ = median_ms(lambda: function(*arrays), 30)
    return {"lower": lower, "build": build, "run": run, "error": float(error), "work": rate(program, run)}


def rate(program: Program, ms: float) -> str:
    """Return what a run of so many milliseconds achieves: of its arithmetic where that counts, else of its traffic."""
    if program.flops:
        return f"{program.flops / ms / 1e6:.1f} Gflop/s"
    return f"{program.bytes / ms / 1e6:.1f} GB/s"


def in_process(python: str, system: str, name: str, target: str) -> Row:
    """Measure in a fresh process of `python`."""
    command = [python, __file__, "--child", system, "--peer-target", target, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def joined(rounds: list[Row]) -> Row:
    """Return the median over rounds of each time; the first failure if there was one."""
    failed = [row for row in rounds if "failed" in row]
    if failed:
        return failed[0]
    medians = {key: statistics.median(row[key] for row in rounds) for key in TIMES}
    middle = min(rounds, key=lambda row: abs(row["run"] - medians["run"]))
    return {**middle, **medians, "error": max(row["error"] for row in rounds)}


def line(name: str, ours: Row, peer: Row | None) -> str:
    """Return a row of the table."""
    if "failed" in ours:
        return f"{name:15} failed: {ours['failed']}"
    cells = [f"{name:15}"]
    for key in TIMES:
        cells.append(f"{ours[key]:9.3f}")
        if peer is not None:
            both = "failed" not in peer
            cells.append(f"{peer[key]:9.3f} {ours[key] / peer[key]:6.2f}x" if both else f"{'failed':>9} {'':7}")
    return " ".join([*cells, f"{ours['error']:8.1e}", f"  {ours['work']}"])


def heading(peer: bool) -> str:
    columns = [f"{key:>9}" + (f" {'peer':>9} {'ratio':>7}" if peer else "") for key in TIMES]
    return " ".join([f"{'ms':15}", *columns, f"{'error':>8}"])


def default_peer_target() -> str:
    """Return TVM's target for this machine: its CPU's name as LLVM knows it."""
    llvm = importlib.import_module("llvmlite.binding")
    return f"llvm -mtriple={platform.machine()}-pc-linux-gnu -mcpu={llvm.get_host_cpu_name()}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help=f"of: {', '.join(PROGRAMS)}; all when none is named")
    parser.add_argument("--peer", help="the Python that has TVM")
    parser.add_argument("--peer-target", help="TVM's target string (default: this CPU by LLVM's name)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", choices=("tecomp", "tvm"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    unknown = set(chosen.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    return chosen


def main() -> None:
    chosen = arguments()
    if chosen.child:
        print(json.dumps(measure(chosen.child, chosen.programs[0], chosen.peer_target)))
        return
    target = chosen.peer_target or default_peer_target()
    print(heading(bool(chosen.peer)), flush=True)
    for name in chosen.programs or PROGRAMS:
        ours: list[Row] = []
        theirs: list[Row] = []
        for _ in range(chosen.rounds):
            ours.append(in_process(sys.executable, "tecomp", name, "llvm"))
            if chosen.peer:
                theirs.append(in_process(str(Path(chosen.peer).expanduser()), "tvm", name, target))
        print(line(name, joined(ours), joined(theirs) if theirs else None), flush=True)


if __name__ == "__main__":
    main()
