"""What a Python function that a program calls gets of memory: NumPy's array, with the methods of TVM's besides.

@tecomp.register_func("add_one")
def add_one(x, y): tecomp.nd.array(x.numpy() + 1).copyto(y)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Array, array, cpu


class HostArray(np.ndarray):
    """An array over the memory of a program."""

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy, which outlives the call."""
        return np.array(self)

    asnumpy = numpy

    def copyfrom(self, values: Any) -> HostArray:
        """Take the values of an array of the same shape, converted to this element type; return self."""
        Array(self, cpu()).copyfrom(values)
        return self

    def copyto(self, target: Any) -> Any:
        """Copy the values into another array of the shape, or into a new one on a device; return that."""
        return array(self).copyto(target)
