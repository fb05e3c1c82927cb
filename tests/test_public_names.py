"""The names of the package, whichever is asked for first."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tecomp

FIRST = [
    *(f"from tecomp import {name}" for name in ("build", "lower", "te", "nd")),
    *(f"import tecomp.{name}" for name in ("driver", "module", "lowering.func")),
]


@pytest.mark.parametrize("first", FIRST)
def test_lower_is_the_function_whatever_was_loaded_before(first: str) -> None:
    """No package inside has the name of a function of the face: Python would put it in the function's place."""
    program = f"{first}; import tecomp; print(tecomp.lower.__module__, tecomp.build.__module__)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split() == ["tecomp.driver", "tecomp.driver"]


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tecomp' has no attribute 'lowr'$"):
        tecomp.lowr
