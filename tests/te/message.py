"""What a refusal says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tecomp.errors import UserError

HERE = Path(__file__).parent


def message(call: Callable[[], Any]) -> str:
    """Return the whole message of the UserError that `call` raises, less its location, which must be in the tests."""
    with pytest.raises(UserError) as caught:
        call()
    location = caught.value.location
    assert location is not None and Path(location.file).parent == HERE
    shown = [f"  --> {location}", f"   |     {location.source()}", "   |     ^"]
    lines = str(caught.value).splitlines()
    assert lines[1:4] == shown
    return "\n".join([lines[0], *lines[4:]])


def text(*lines: str) -> str:
    """Return a message: what was asked, then why not and what is legal."""
    heads = ("", "  because: ", "  legal: ")
    return "\n".join(head + line for head, line in zip(heads, lines, strict=False))
