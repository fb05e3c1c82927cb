"""`cpu` and `cuda` make a schedule ready to run: a test that takes one runs once in each of its places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tecomp.errors import TecompError
from tests.cases.places import ON_CUDA, Program

HERE = Path(__file__).parent
Ready = Callable[[Any, list[Any]], Program]
Refused = Callable[[str], AbstractContextManager[None]]


@pytest.fixture(params=["llvm", "interpreter"])
def cpu(request: pytest.FixtureRequest) -> Ready:
    """Return `cpu(schedule, args)`: a Program on the CPU."""
    return partial(Program, request.param)


@pytest.fixture(params=ON_CUDA)
def cuda(request: pytest.FixtureRequest) -> Ready:
    """Return `cuda(schedule, args)`: a Program as CUDA."""
    return partial(Program, request.param)


@pytest.fixture
def refused() -> Refused:
    """Return `refused(message)`: its body must raise exactly that; the lines that show where are checked apart."""

    @contextmanager
    def check(message: str) -> Iterator[None]:
        with pytest.raises(TecompError) as caught:
            yield
        location = caught.value.location
        assert location is not None and Path(location.file).parent == HERE, location
        lines = str(caught.value).splitlines()
        assert lines[1:4] == [f"  --> {location}", f"   |     {location.source()}", "   |     ^"]
        assert "\n".join([lines[0], *lines[4:]]) == dedent(message).strip()

    return check
