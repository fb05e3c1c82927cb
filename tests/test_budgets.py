"""What importing costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECONDS = 0.3

MEASURE = """
import time
start = time.process_time()
import tecomp
print(time.process_time() - start)
"""
"""Processor time: what else the machine does is not in it."""

OPTIONAL = ("cupy", "matplotlib", "optuna", "torch", "jax", "pytest", "hypothesis", "z3")


def run(code: str, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    result = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=60, env=environment | variables
    )
    return result.stdout


def test_import_is_quick(tmp_path: Path) -> None:
    """As after an installation: compiled once, then loaded."""
    times: list[float] = []
    while len(times) < 10 and min(times, default=1.0) > SECONDS:
        times.append(float(run(MEASURE, PYTHONPYCACHEPREFIX=str(tmp_path))))
    assert min(times) < SECONDS, f"import tecomp took {min(times):.3f} s at best of {len(times)}"


def test_import_loads_nothing_optional() -> None:
    loaded = run(f"import sys, tecomp; print(*sorted(set({OPTIONAL}) & set(sys.modules)))").split()
    assert not loaded, f"import tecomp loads {loaded}"
