"""Running a program before and after a pass on the same random arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tecomp.errors import ScheduleError, UserError
from tecomp.ir import expr as E
from tecomp.ir.evaluate import evaluate
from tecomp.ir.func import Func
from tecomp.ir.interpret import interpret
from tecomp.ir.stmt import Buffer
from tecomp.ir.verify import verify
from tecomp.target import Target

CPU, GPU = Target("llvm"), Target("cuda", arch="sm_80")
Pass = Callable[[Func, Target], Func]


def arguments(func: Func, sizes: Mapping[str, int]) -> list[Any]:
    """Return arrays for the buffers of `func`, integers even in floats so that sums are exact, and its scalars."""
    rng = np.random.default_rng(0)
    by_var = {var: sizes[var.name] for var in (*func.sizes(), *(p for p in func.params if isinstance(p, E.Var)))}
    made: list[Any] = []
    for param in func.params:
        if isinstance(param, E.Var):
            made.append(sizes[param.name])
            continue
        shape = tuple(int(evaluate(extent, by_var)) for extent in param.shape)
        made.append(rng.integers(0, 100, shape).astype(param.dtype.numpy))
    return made


def results(func: Func, sizes: Mapping[str, int]) -> list[np.ndarray]:
    """Return all arrays after a run."""
    made = arguments(func, sizes)
    interpret(func, *made)
    return [array for array, param in zip(made, func.params, strict=True) if isinstance(param, Buffer)]


def same_results(before: Func, after: Func, **sizes: int) -> None:
    """Assert that both programs leave the same in every array."""
    verify(after)
    for x, y in zip(results(before, sizes), results(after, sizes), strict=True):
        np.testing.assert_array_equal(x, y)


def through(func: Func, *passes: Any, target: Target = GPU) -> Func:
    """Return a program after these passes."""
    for one in passes:
        func = one.run(func, target)
    return func


def refusal(run: Callable[[str], Any], source: str, kind: type[UserError] = ScheduleError) -> str:
    """Return what the error says with which a program is refused: what was asked, why not, what is legal."""
    with pytest.raises(kind) as caught:
        run(source)
    error = caught.value
    reasons = {"because": error.because, "legal": error.legal}
    return "\n".join([error.asked, *(f"  {word}: {reason}" for word, reason in reasons.items() if reason)])
