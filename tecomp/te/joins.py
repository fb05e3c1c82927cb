"""Whether the order in which a reducer's partial results are joined matters: a schedule may choose any."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..dtype import DType
from ..errors import UserError
from ..ir.evaluate import UNDEFINED, ExecutionError, evaluate
from ..ir.expr import Combiner

_SAMPLES: Final = ((3, 1, 2), (2, 5, 4), (5, 3, 7))
"""Three partial results for each value that is folded; no two alike, so that no choice between equals is asked for."""
_TOLERANCE: Final = 1e-2
"""What rounding may change."""


def parameters_of(function: Callable[..., Any]) -> int | None:
    """Return how many arguments a function takes; None where that is left open."""
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(kinds) if all(kind in plain for kind in kinds) else None


def check_joins(name: str, combiner: Combiner) -> None:
    """Raise UserError for a reducer that joins some numbers differently in another order.

    It is tried on a few numbers, which finds differences and proves nothing.
    """
    dtypes = [var.dtype for var in combiner.lhs]
    if any(dtype.is_bool or dtype.lanes > 1 for dtype in dtypes):
        return
    parts = [
        tuple(_number(row[at % 3], dtype) for at, dtype in enumerate(dtypes)) for row in zip(*_SAMPLES, strict=True)
    ]
    for x, y in itertools.combinations(parts, 2):
        _compare(name, "swapped", (x, y), _joined(combiner, x, y), _joined(combiner, y, x))
    x, y, z = parts
    left, right = _joined(combiner, x, y), _joined(combiner, y, z)
    if left is not None and right is not None:
        _compare(name, "grouped otherwise", (x, y, z), _joined(combiner, left, z), _joined(combiner, x, right))


def _number(value: int, dtype: DType) -> Any:
    return float(value) if dtype.is_float else value


def _joined(combiner: Combiner, x: Sequence[Any], y: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the join of two partial results; None where it has no value."""
    known = dict(zip((*combiner.lhs, *combiner.rhs), (*x, *y), strict=True))
    try:
        return tuple(evaluate(part, known) for part in combiner.result)
    except (ExecutionError, *UNDEFINED):
        return None


def _compare(name: str, how: str, given: Sequence[Any], one: Any, other: Any) -> None:
    if one is None or other is None or all(map(_alike, one, other)):
        return
    values = ", ".join(_text(part) for part in given)
    raise UserError(
        f"reducer '{name}'",
        because=f"of {values} it makes {_text(one)}, and {how} {_text(other)}: a schedule may fold in any order",
        legal="a commutative and associative operation, such as lambda x, y: x + y",
    )


def _alike(a: Any, b: Any) -> bool:
    return math.isclose(a, b, rel_tol=_TOLERANCE) or math.isnan(a) or math.isnan(b)


def _text(part: Sequence[Any]) -> str:
    return f"{part[0]:g}" if len(part) == 1 else f"({', '.join(f'{value:g}' for value in part)})"
