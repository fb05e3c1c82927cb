"""Conditions and choices."""

from __future__ import annotations

from typing import Any

from ..errors import UserError
from ..ir import make
from ..ir.node import Expr


def all(*args: Any) -> Expr:
    """Return whether every condition holds; the later ones are evaluated only where the earlier do."""
    return make.logical_and(*_some("all", args))


def any(*args: Any) -> Expr:
    """Return whether a condition holds; the later ones are evaluated only where the earlier do not."""
    return make.logical_or(*_some("any", args))


def _some(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    if args:
        return args
    raise UserError(
        f"te.{name} of nothing", because="it takes one condition or more", legal=f"te.{name}(i >= 1, i < n)"
    )


def if_then_else(cond: Any, t: Any, f: Any) -> Expr:
    """Return `t` where `cond` holds, else `f`; the other side is never evaluated, so it may protect a read."""
    return make.if_then_else(cond, t, f)


def Select(condition: Any, true_value: Any, false_value: Any) -> Expr:  # noqa: N802
    """Return one of two values. Both are evaluated where neither can fail: no branch is needed then."""
    return make.select(condition, true_value, false_value)


def likely(cond: Any) -> Expr:
    """Return the condition: which guards usually hold is found out, not told."""
    return make.convert(cond)
