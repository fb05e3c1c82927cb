"""What a schedule makes of each stage, and what may still be done to it: the text of `s.explain()`."""

from .report import Explanation, explain

__all__ = ["Explanation", "explain"]
