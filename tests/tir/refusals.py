"""What is refused, and where the user is told that it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tecomp.errors import UserError


def check_refusal(
    file: str, call: Callable[[], Any], kind: type[UserError], asked: str, because: str, legal: str
) -> None:
    """Check that a call is refused in these words, at a line of `file`."""
    with pytest.raises(kind) as caught:
        call()
    assert (caught.value.asked, caught.value.because, caught.value.legal) == (asked, because, legal)
    assert caught.value.location is not None
    assert caught.value.location.file == file
