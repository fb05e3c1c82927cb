"""What Python knows when a hybrid function is read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...dtype import DType
from ...ir import make
from .names import MISSING

KINDS: Final = (bool, int, float, str, type(None), DType, tuple)
"""What a name may stand for that Python knows when the function is read."""


def constant_of(value: Any) -> Any:
    """Return a Python or NumPy constant, a type as a dtype, a list as a tuple; MISSING for what is none."""
    if isinstance(value, np.generic):
        return value.item() if isinstance(value, (bool, int, float, np.bool_)) else make.convert(value)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return DType(value)
    if isinstance(value, (tuple, list)):
        parts = tuple(map(constant_of, value))
        return MISSING if any(part is MISSING for part in parts) else parts
    return value if isinstance(value, KINDS) else MISSING
