"""Tags: the user's notes on operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, Self, TypeVar

from ..errors import UserError

P = ParamSpec("P")
R = TypeVar("R")


class TagScope:
    """A `with` block or a decorator: each operation made inside carries the tag."""

    current: TagScope | None = None

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def __enter__(self) -> Self:
        """Open the block; UserError inside another."""
        if TagScope.current is not None:
            raise UserError(
                f"tag_scope({self.tag!r})",
                because=f"it stands inside tag_scope({TagScope.current.tag!r})",
                legal="one scope at a time",
            )
        TagScope.current = self
        return self

    def __exit__(self, *_: object) -> None:
        TagScope.current = None

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function so that whatever it makes is tagged."""

        @wraps(function)
        def tagged(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return tagged


def tag_scope(tag: str) -> TagScope:
    """Return a scope in which operations are tagged, for `with` or as a decorator."""
    return TagScope(tag)


def tag_of(tag: str) -> str:
    """Return the tag of an operation made here: the one given, or the scope's; UserError when both are."""
    scope = TagScope.current
    if scope is None:
        return tag
    if tag:
        raise UserError(f"tag={tag!r}", because=f"it stands inside tag_scope({scope.tag!r})", legal="one of the two")
    return scope.tag
