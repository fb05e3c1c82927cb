"""Where in the user's program a call stands."""

from __future__ import annotations

import importlib.util
import linecache
import os
import sys
from types import FrameType
from typing import NamedTuple

_RUNTIME = importlib.util.find_spec("tecomp_runtime")
_PLACES = [os.path.dirname(os.path.abspath(__file__)), *((_RUNTIME and _RUNTIME.submodule_search_locations) or ())]
_INSIDE = ("<frozen importlib", "<host part of ", "<simulated expression>", *(place + os.sep for place in _PLACES))
"""How the files of the compiler begin, of its runtime, of what imports them, of what they make."""


class Location(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int
    column: int = 0
    """How many characters of the line stand before what is meant; 0 for the line as a whole."""

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    def source(self) -> str:
        """Return the text of the line, or an empty string where no file holds it."""
        return linecache.getline(self.file, self.line).strip()

    def before(self) -> str:
        """Return blanks as wide as what stands in `source()` before the column."""
        text = linecache.getline(self.file, self.line)
        indent = len(text) - len(text.lstrip())
        return "".join(char if char == "\t" else " " for char in text[indent : self.column])


def caller() -> Location | None:
    """Return the line of the innermost frame outside of these packages: the user's call."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return None if frame is None else Location(frame.f_code.co_filename, frame.f_lineno)
