"""What every test can rely on: the fixtures `golden` and `refused`, the `gpu` marker, one hypothesis profile."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tecomp.errors import TecompError
from tecomp.ir.alpha import difference
from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes.manager import run_pipeline

pytest_plugins = ["tests.goldens", "tests.refusals", "tests.beside"]

settings.register_profile(
    "tecomp", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tecomp")

Refused = Callable[..., AbstractContextManager[None]]
READ_BACK: set[str] = set()
"""The programs that were read back in this process, as texts."""


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


@pytest.fixture
def refused() -> Refused:
    """Return `refused(kind, message)`: its body must raise exactly that; the line of the call is written as LINE."""

    @contextmanager
    def check(kind: type[TecompError], message: str) -> Iterator[None]:
        with pytest.raises(TecompError) as caught:
            yield
        got = re.sub(r"(--> \w+\.py):\d+", r"\1:LINE", str(caught.value))
        assert got == dedent(message).strip()
        assert type(caught.value) is kind

    return check


@pytest.fixture(autouse=True)
def every_program_is_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What any test lowers or builds prints as text that is read back as the same program, each text once."""

    def checked(func: Func, *rest: Any) -> Func:
        result = run_pipeline(func, *rest)
        printed = text(result)
        if printed not in READ_BACK:
            assert difference(result, parse(printed)) == ""
            READ_BACK.add(printed)
        return result

    for place in ("tecomp.driver.run_pipeline", "tecomp.module.run_pipeline"):
        monkeypatch.setattr(place, checked)
