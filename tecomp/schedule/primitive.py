"""What a scheduling primitive is: a function from a stage and arguments to the stage's next record and a result.

    @primitive
    def unroll(stage: StageView, axis: IterVar) -> Change[None]:
        return stage.state.with_mark(...), None

It looks, decides, and returns a new record or raises; it changes nothing. The method that `primitive` makes of it puts
the record in place and writes the call into the history, so a refusal leaves the schedule as it was.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Concatenate, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from ..location import caller
from .plan import Applied
from .stage import StageState
from .view import StageView

P = ParamSpec("P")
R = TypeVar("R")
Change: TypeAlias = tuple[StageState | tuple[StageState, ...], R]
"""The record of the stage (with those of others, where they change too), and what the call returns."""


class Primitive(NamedTuple):
    """A row of the table: the name users call, the parameters after the stage."""

    name: str
    parameters: Mapping[str, inspect.Parameter]


PRIMITIVES: Final[dict[str, Primitive]] = {}
"""Every primitive by its name."""


def primitive(change: Callable[Concatenate[StageView, P], Change[R]]) -> Callable[Concatenate[StageView, P], R]:
    """Enter `change` in the table and return the method that applies it.

    Where its name begins with an underscore, users call another function, which makes the arguments to be written down.
    """
    signature = inspect.signature(change)
    name = change.__name__.lstrip("_")
    PRIMITIVES[name] = Primitive(name, dict(list(signature.parameters.items())[1:]))

    @wraps(change)
    def apply(stage: StageView, /, *args: P.args, **kwargs: P.kwargs) -> R:
        changed, result = change(stage, *args, **kwargs)
        states = changed if isinstance(changed, tuple) else (changed,)
        given = dict(signature.bind(stage, *args, **kwargs).arguments)
        given.pop(next(iter(signature.parameters)))
        stage.plan.commit(states, Applied(name, stage.name, given, caller(), stage.origin, result))
        return result

    return apply
