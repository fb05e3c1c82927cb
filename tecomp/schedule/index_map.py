"""The function that a user gives to transform_layout, as expressions: at which indices an element lies.

lambda i, j: [i // 4, j, te.AXIS_SEPARATOR, i % 4]    ->    i // 4, j | i % 4
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..dtype import INT32
from ..errors import UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..te.separator import AXIS_SEPARATOR, AxisSeparator

Mapping: TypeAlias = "Callable[..., Sequence[Any]] | IndexMap"


class IndexMap:
    """A function of the indices of an element: `indices` over `parameters`, in `groups` of neighbours."""

    __slots__ = ("groups", "indices", "parameters")

    def __init__(
        self, parameters: tuple[E.Var, ...], indices: tuple[Expr, ...], groups: tuple[int, ...] | None
    ) -> None:
        self.parameters, self.indices = parameters, indices
        self.groups = groups
        """How many indices stand in each part between separators; None where there is no separator."""

    def parts(self) -> list[Expr | AxisSeparator]:
        """Return the list that the function gives."""
        found: list[Expr | AxisSeparator] = []
        left = iter(self.indices)
        for number, count in enumerate(self.groups or (len(self.indices),)):
            found += [AXIS_SEPARATOR] * (number > 0) + [next(left) for _ in range(count)]
        return found


def index_map(asked: str, mapping: Any, names: Sequence[str]) -> IndexMap:
    """Return what `mapping` computes for an element; `names` are those of the dimensions, for parameters like *axes."""
    if isinstance(mapping, IndexMap):
        return mapping
    if not callable(mapping):
        because = f"it is of type {type(mapping).__name__}"
        raise UserTypeError(asked, because, "a function of an element's indices: lambda i, j: [i // 4, j, i % 4]")
    parameters = tuple(E.Var(name, INT32, make.const(0), None) for name in _parameters(asked, mapping, names))
    given: Any = mapping(*parameters)
    if not isinstance(given, (list, tuple)) or not given:
        raise UserTypeError(asked, f"it gives {given!r}", "a list of indices, one or more")
    groups, indices = [0], list[Expr]()
    for part in given:
        if isinstance(part, AxisSeparator):
            groups.append(0)
            continue
        indices.append(_index(asked, part))
        groups[-1] += 1
    if 0 in groups:
        because = "two separators, or one at an end, enclose no index"
        raise UserTypeError(asked, because, "te.AXIS_SEPARATOR between indices")
    return IndexMap(parameters, tuple(indices), tuple(groups) if len(groups) > 1 else None)


def _parameters(asked: str, mapping: Callable[..., Any], names: Sequence[str]) -> list[str]:
    """Return a name for each index that the function takes."""
    given = list(inspect.signature(mapping).parameters.values())
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in given):
        return list(names)
    if len(given) != len(names):
        because = f"it takes {len(given)} indices, and an element has {len(names)}"
        raise UserTypeError(asked, because, f"a function of {', '.join(names) or 'nothing'}")
    return [parameter.name for parameter in given]


def _index(asked: str, part: Any) -> Expr:
    value = make.convert(part)
    if value.dtype.is_integer and value.dtype.lanes == 1:
        return value
    raise UserTypeError(asked, f"it gives {part!r}, which is {value.dtype}", "integers made of the indices")
