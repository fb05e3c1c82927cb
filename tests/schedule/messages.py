"""What a table of attempts is told, whole: one golden text for each primitive."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import pytest

from tecomp.errors import TecompError

from .test_text import made_again


def messages(
    attempts: Mapping[str, Callable[[SimpleNamespace], object]], program: Callable[[], SimpleNamespace]
) -> str:
    """Return the message of each attempt, below its name; fail where one is not refused.

    Each is made on a program of its own, whose schedule `s` is afterwards what its text says: no half of a change is
    left. The lines of the test file that are shown have LINE for their number.
    """
    told: list[str] = []
    for name, attempt in attempts.items():
        made = program()
        with pytest.raises(TecompError) as caught:
            attempt(made)
            pytest.fail(f"{name} was not refused")
        message = re.sub(r"(--> \w+\.py):\d+", r"\1:LINE", str(caught.value))
        assert made_again(made.s) == made.s.text(), name
        told.append(f"# {name}\n{type(caught.value).__name__}: {message}\n")
    return "\n".join(told)
