"""What every test can rely on: the `golden` fixture, the `gpu` marker, one deterministic hypothesis profile."""

from __future__ import annotations

import importlib
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.goldens", "tests.refusals"]

settings.register_profile(
    "tecomp", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tecomp")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and (missing := missing_for_gpu()):
        pytest.skip(missing)


@cache
def missing_for_gpu() -> str:
    """Say what this machine lacks to run a CUDA kernel; empty when nothing."""
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        return f"CuPy cannot be imported (install the extra cuda13 or cuda12): {error}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CUDA cannot start: {error}"
    return "" if count else "no NVIDIA GPU is visible"
