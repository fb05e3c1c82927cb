"""A Python function as part of the language: its source, its parameters, what it captured."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import CellType
from typing import Any, Final

from ...errors import UserTypeError
from .source import Source

_EMPTY: Final = object()


class Scripted:
    """A function that hybrid functions may call: what it does is written down where it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.source = function, Source(function)
        self.signature = inspect.signature(function)
        _check_parameters(self)

    def captured(self) -> Mapping[str, Any]:
        """Return what the names from outside the function mean now."""
        code, cells = self.function.__code__, self.function.__closure__ or ()
        closed = {name: _content(cell) for name, cell in zip(code.co_freevars, cells, strict=True)}
        return {**self.function.__globals__, **{name: value for name, value in closed.items() if value is not _EMPTY}}


def _content(cell: CellType) -> Any:
    """Return what a closure holds; a name that is not assigned yet has nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _check_parameters(function: Scripted) -> None:
    for parameter in function.signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UserTypeError(
                f"te.hybrid.script of '{function.source.name}'",
                because=f"'{parameter}' takes any number of arguments",
                legal="a parameter for each; one may be given a list of tensors",
                location=function.source.at(function.source.tree),
            )
