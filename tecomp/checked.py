"""Calling a function whose accesses are checked: the place it notes becomes an error that names it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tecomp_runtime.errors import AccessError

from .ir.func import Func
from .passes.check_accesses import MOST_DIMENSIONS, sites

_ARRAYS: Final = {"llvm": "numpy", "cuda": "cupy"}
"""Whose array holds the note, by the kind of the target."""


class Checked:
    """A callable of the function's arguments; AccessError where an element outside of its buffer was asked for.

    That element was not read or written, and what else the function wrote is incomplete.
    """

    def __init__(self, entry: Callable[..., None], func: Func, kind: str) -> None:
        self._entry, self._name, self._kind, self._sites = entry, func.name, kind, sites(func)

    def __call__(self, *args: Any) -> None:
        """Run, then look at the note."""
        faults = importlib.import_module(_ARRAYS[self._kind]).zeros(1 + MOST_DIMENSIONS, "int64")
        self._entry(*args, faults)
        noted = faults if isinstance(faults, np.ndarray) else faults.get()
        if noted[0]:
            raise self._error(noted)

    def _error(self, noted: Any) -> AccessError:
        site = self._sites[int(noted[0]) - 1]
        shape = ", ".join(map(repr, site.buffer.shape))
        at = ", ".join(str(int(index)) for index in noted[1 : 1 + len(site.buffer.shape)])
        line = "" if site.loc is None else f" ({': '.join(filter(None, (str(site.loc), site.loc.source())))})"
        return AccessError(
            f"{self._name}: '{site.buffer.name}' is {site.verb} at [{at}]",
            f"its shape is [{shape}]{line}",
            "indices inside, or te.if_then_else around the read",
        )
