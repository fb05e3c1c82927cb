"""Cases of the corpus under a tool of compute-sanitizer, in processes of their own.

    python -m tests.sim.sanitizer NAME...

is such a process: it runs these cases on a GPU, each array in memory of exactly its size, and tells what went wrong.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import tecomp
from tecomp.ir import parse

from .corpus import CORPUS, Case

SECONDS = 140
"""How long one process may take."""
FINDS = {"racecheck": "race", "memcheck": "bounds", "initcheck": "uninitialised"}
_OPTIONS = {"racecheck": ["--racecheck-report", "all"], "memcheck": ["--padding", "4096"], "initcheck": []}
"""Padding: what lies behind an array is nobody's, however far behind."""
_EXITCODE = 99
_REPORTS = {
    "racecheck": r"RACECHECK SUMMARY: [1-9]",
    "memcheck": r"Invalid __\w+__ (read|write|atomic)",
    "initcheck": r"Uninitialized __\w+__ memory read",
}


def reported(tool: str, cases: Sequence[Case]) -> tuple[str, str]:
    """Return the kind of fault that a tool reports in one process with `cases`, or none, or `failed`; and its text."""
    program = shutil.which("compute-sanitizer")
    if program is None:
        return "failed", "compute-sanitizer is not installed"
    command = [program, "--tool", tool, "--error-exitcode", str(_EXITCODE), "--print-limit", "5", *_OPTIONS[tool]]
    command += [sys.executable, "-m", "tests.sim.sanitizer", *(case.name for case in cases)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "failed", f"longer than {SECONDS} s"
    said = result.stdout + result.stderr
    if re.search(_REPORTS[tool], said):
        return FINDS[tool], said
    return "failed" if result.returncode else "", said


def arguments(case: Case) -> list[Any]:
    """Return what a case is called with: the same each time."""
    return case.arrays(np.random.default_rng(len(case.name)))


def right(case: Case, called: Sequence[Any]) -> bool:
    """Return whether a call left in the last array of `called` what it should; nothing is known of a faulty case."""
    if case.expected is None:
        return True
    last = [value for value in called if isinstance(value, np.ndarray)][-1]
    return np.array_equal(last, case.expected(*arguments(case)))


def run(case: Case) -> None:
    """Run a case on a GPU; AssertionError where a right one gives a wrong result."""
    cupy = importlib.import_module("cupy")
    module = tecomp.build(parse(case.text), target="cuda")
    given = [cupy.asarray(value) if isinstance(value, np.ndarray) else value for value in arguments(case)]
    module(*given)
    cupy.cuda.runtime.deviceSynchronize()
    found = [cupy.asnumpy(value) if isinstance(value, cupy.ndarray) else value for value in given]
    assert right(case, found), f"{case.name} gives a wrong result"


def main(names: Sequence[str]) -> int:
    """Run the cases; return 1 where one fails."""
    importlib.import_module("cupy").cuda.set_allocator(None)
    chosen = {case.name: case for case in CORPUS}
    for name in names:
        sys.stdout.write(f"case {name}\n")
        sys.stdout.flush()
        run(chosen[name])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
