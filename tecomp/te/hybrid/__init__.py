"""te.hybrid: operations written as loops, in a subset of Python."""

from .operation import HybridOp
from .script import HybridFunction, script

__all__ = ["HybridFunction", "HybridOp", "script"]
