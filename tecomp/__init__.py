"""tecomp: a tensor expression compiler. `te` says what to compute; `lower` and `build` make programs of it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import te as te

if TYPE_CHECKING:
    from .driver import build as build
    from .driver import lower as lower

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the compiler when it is first asked for: declaring and scheduling need none of it."""
    if name in ("build", "lower"):
        value = getattr(importlib.import_module(".driver", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "build", "lower"])
