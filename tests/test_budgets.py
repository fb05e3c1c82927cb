"""What importing costs."""

from __future__ import annotations

import subprocess
import sys

SECONDS = 0.3

MEASURE = """
import time
start = time.perf_counter()
import tecomp
print(time.perf_counter() - start)
"""

OPTIONAL = ("cupy", "optuna", "torch", "jax", "pytest", "hypothesis", "z3")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout


def test_import_is_quick() -> None:
    times: list[float] = []
    while len(times) < 10 and min(times, default=1.0) > SECONDS:
        times.append(float(run(MEASURE)))
    assert min(times) < SECONDS, f"import tecomp took {min(times):.3f} s at best of {len(times)}"


def test_import_loads_nothing_optional() -> None:
    loaded = run(f"import sys, tecomp; print(*sorted(set({OPTIONAL}) & set(sys.modules)))").split()
    assert not loaded, f"import tecomp loads {loaded}"
