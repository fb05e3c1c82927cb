"""te.hybrid: operations written as loops, in a subset of Python."""

from ...absent import absent as _absent
from .operation import HybridOp
from .script import HybridFunction, script

__all__ = ["HybridFunction", "HybridOp", "script"]


def __getattr__(name: str) -> object:
    raise _absent(__name__, name)
