"""How many Python calls an action takes: how a cost grows, told without a clock."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any


def calls(action: Callable[[], Any]) -> int:
    """Count the Python calls that `action` makes, none of them by what earlier tests left to collect."""
    count = 0
    gc.collect()
    gc.disable()

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count
