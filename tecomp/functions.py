"""Names for Python functions that programs call: known to what is built here, and to what is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tecomp_runtime import packed

from .errors import UserError, UserTypeError
from .ir.foreign import FUNCTIONS, UNNAMED


def register_func(name: str | Callable[..., Any], f: Callable[..., Any] | None = None, override: bool = False) -> Any:
    """Give a Python function the name under which programs call it; a decorator where `f` is left out.

    Of a function alone its own name serves.

    @tecomp.register_func("my.sort")
    def sort(x, out): out[:] = numpy.sort(x)
    """
    if callable(name) and f is None:
        return register_func(name.__name__, name)
    if not isinstance(name, str) or not name or name.startswith(UNNAMED):
        because = f"a name is a text that does not begin with {UNNAMED}"
        raise UserTypeError(f"register_func({name!r})", because, legal='"my.sort"')

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise UserTypeError(
                f"register_func({name!r}) of {function!r}",
                because=f"it is a {type(function).__name__}",
                legal="a function",
            )
        if name in FUNCTIONS and FUNCTIONS[name] is not function and not override:
            raise UserError(
                f"register_func({name!r})",
                because="another function has this name",
                legal="another name, or override=True",
            )
        FUNCTIONS[name] = function
        packed.FUNCTIONS[name] = function
        return function

    return enter if f is None else enter(f)
