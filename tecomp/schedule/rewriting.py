"""Primitives of a whole schedule: they make new stages, and define others anew.

    @rewriting
    def cache_read(plan: Plan, tensor: Tensor, scope: str, readers: ...) -> Rewrite[Tensor]:
        return Rewrite((new stage, changed stage, ...), the new tensor)

As `primitive` does for a stage's, `rewriting` makes a method of a function that looks and decides, and changes nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from ..location import caller
from .plan import Applied, Plan
from .primitive import PRIMITIVES, Primitive
from .stage import StageState

P = ParamSpec("P")
R = TypeVar("R")


class Rewrite(NamedTuple, Generic[R]):
    """What a primitive decided: the records of new and of changed stages, new ones first, and what it returns."""

    states: tuple[StageState, ...]
    result: R


def rewriting(change: Callable[Concatenate[Plan, P], Rewrite[R]]) -> Callable[Concatenate[Plan, P], R]:
    """Enter `change` in the table of primitives and return the method of a schedule that applies it."""
    signature = inspect.signature(change)
    name = change.__name__
    PRIMITIVES[name] = Primitive(name, dict(list(signature.parameters.items())[1:]))

    @wraps(change)
    def apply(plan: Plan, /, *args: P.args, **kwargs: P.kwargs) -> R:
        rewrite = change(plan, *args, **kwargs)
        given = dict(signature.bind(plan, *args, **kwargs).arguments)
        given.pop(next(iter(signature.parameters)))
        main = rewrite.states[0]
        made = tuple(state.definition for state in rewrite.states)
        plan.commit(rewrite.states, Applied(name, main.op.name, given, caller(), main.op, rewrite.result, made))
        return rewrite.result

    return apply
