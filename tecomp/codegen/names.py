"""Names in LLVM IR and in signatures: the user's own, made legal, and no two things share one."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from typing import Final

PYTHON_RESERVED: Final = frozenset({*keyword.kwlist, *keyword.softkwlist, "min", "max"})
"""What no parameter or size of a signature is called: its extents are Python expressions over these names."""

_NOT_PYTHON: Final = re.compile(r"[^A-Za-z0-9_]")
_NOT_LLVM: Final = re.compile(r"[^A-Za-z0-9_.$]")


class Names:
    """Hands out the names of one scope, each once: "A", then "A_1" for another A; "lambda" becomes lambda_.

    With `dots`, names are LLVM's and A.shared stays as it is; without, they are Python's and it becomes A_shared.
    """

    def __init__(self, reserved: Iterable[str] = (), dots: bool = False) -> None:
        self._reserved = frozenset(reserved)
        self._used: dict[str, int] = {}
        self._illegal = _NOT_LLVM if dots else _NOT_PYTHON

    def fresh(self, wanted: str) -> str:
        """Return `wanted`, or the nearest legal name that was not handed out before."""
        stem = self._illegal.sub("_", wanted) or "v"
        if stem[0].isdigit():
            stem = f"_{stem}"
        name = stem = f"{stem}_" if stem in self._reserved else stem
        while name in self._used:
            self._used[stem] += 1
            name = f"{stem}_{self._used[stem]}"
        self._used[name] = 0
        return name
