"""Arguments: what a hybrid function is given, by its caller in Python or by another hybrid function."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import UserTypeError
from ...ir import expr as E
from ...ir.node import Expr
from ...ir.stmt import Buffer
from ...ir.visit import walk
from ..tensor import Tensor
from .constants import constant_of
from .memory import Memory, Role
from .names import MISSING
from .scripted import Scripted

if TYPE_CHECKING:
    from .parser import Parser


def call_scripted(parser: Parser, node: ast.Call, function: Scripted) -> tuple[Memory, ...]:
    """Write down what a hybrid function does of these arguments; return its results, memory of the caller."""
    source = function.source
    if source in parser.written.functions:
        raise parser.refuse(
            node, f"the call of {source.name}", f"'{source.name}' is being read: it would call itself forever", "a loop"
        )
    args = [parser.value(arg) for arg in node.args]
    keywords = {keyword.arg: parser.value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
    try:
        bound = function.signature.bind(*args, **keywords)
    except TypeError as error:
        raise parser.refuse(node, ast.unparse(node), str(error), f"{source.name}{function.signature}") from None
    bound.apply_defaults()
    given = {name: _passed(parser, node, value) for name, value in bound.arguments.items()}
    return parser.inside(function, given)


def _passed(parser: Parser, node: ast.Call, value: Any) -> Any:
    """Return a value as the called function sees it: memory it may only read, which was written."""
    if isinstance(value, tuple):
        return tuple(_passed(parser, node, part) for part in value)
    if not isinstance(value, Memory):
        return value
    if value.ndim == 0:
        return parser.held(value.name, parser.as_number(node, value), node)
    if value.buffer not in parser.written.stored:
        raise parser.refuse(
            node, ast.unparse(node), f"'{value.name}' is never written before", f"a store to '{value.name}'"
        )
    return Memory(value.buffer, Role.ARGUMENT)


class Given:
    """The arguments of one call from Python: the tensors among them and the buffers that stand for them."""

    def __init__(
        self, name: str, signature: inspect.Signature, args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.tensors: dict[Tensor, Buffer] = {}
        bound = arguments_of(name, signature, args, keywords)
        self.values = {parameter: self._value(parameter, value) for parameter, value in bound.arguments.items()}

    def _value(self, parameter: str, value: Any) -> Any:
        if isinstance(value, Tensor):
            if value not in self.tensors:
                self.tensors[value] = Buffer(parameter, value.shape, value.dtype, loc=value.op.loc)
            return Memory(self.tensors[value], Role.ARGUMENT)
        if isinstance(value, (tuple, list)):
            return tuple(self._value(parameter, part) for part in value)
        known = constant_of(value)
        if known is not MISSING:
            return known
        if isinstance(value, Expr) and not any(isinstance(node, (E.TensorRead, E.Reduce)) for node in walk(value)):
            return value
        raise UserTypeError(
            f"te.hybrid '{self.name}': argument '{parameter}' is {value!r}",
            because=f"it is a {type(value).__name__}",
            legal="tensors, lists of tensors, te.var, numbers; or NumPy arrays alone",
        )


def arguments_of(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Return the arguments by parameter, defaults among them; UserTypeError unless they are the function's."""
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise UserTypeError(f"te.hybrid '{name}'", because=str(error), legal=f"{name}{signature}") from None
    bound.apply_defaults()
    return bound


def anywhere(kinds: type | tuple[type, ...], values: Any) -> bool:
    """Return whether a value of one of `kinds` is among the arguments, or in a list of them."""
    if isinstance(values, (tuple, list)):
        return any(anywhere(kinds, value) for value in values)
    return isinstance(values, kinds)
