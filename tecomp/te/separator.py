"""The mark between the dimensions of memory in the list that `s[T].transform_layout` takes."""

from __future__ import annotations

from typing import Final


class AxisSeparator:
    """Parts the indices before it from those behind it: each part is one dimension of the memory."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "te.AXIS_SEPARATOR"


AXIS_SEPARATOR: Final = AxisSeparator()
