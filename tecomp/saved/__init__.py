"""A schedule with its computation as text: Python that reads as the TE program it is, and is parsed, never executed.

    n = te.var('n', 'int32')
    A = te.placeholder((n,), 'float32', name='A')
    B = te.compute((n,), lambda i: A[i] * 2.0, name='B')
    s = te.create_schedule([B.op])

    B = s.stages[1].op

    i_outer, i_inner = s[B].split(B.axis[0], factor=8)

`load(save(s))` is a schedule of equal text. Formulas are in the notation of printed programs, so that nothing of them
is folded or promoted anew: `i64(3)` is a typed number. The lines of the user's program are not kept; `pickle` keeps
them.
"""

from __future__ import annotations

from .read import load
from .write import save

__all__ = ["load", "save"]
