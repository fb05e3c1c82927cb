"""The operation whose results are written by statements that the user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.expr import Var
from ..ir.stmt import Buffer, For, Let, Stmt
from ..ir.visit import walk
from ..location import Location
from .tensor import Operation, Tensor


class ExternOp(Operation):
    """Tensors written as a whole by `body`, a statement over one buffer for each input and each result.

    It has no axes: what the body does is known to itself. It reads its inputs whole and runs once.
    """

    __slots__ = ("body", "input_placeholders", "inputs", "output_placeholders")

    def __init__(
        self,
        name: str,
        tag: str,
        attrs: Mapping[str, Any] | None,
        loc: Location | None,
        inputs: Sequence[Tensor],
        input_placeholders: Sequence[Buffer],
        output_placeholders: Sequence[Buffer],
        body: Stmt,
    ) -> None:
        super().__init__(name, tag, attrs, loc, [(buffer.shape, buffer.dtype) for buffer in output_placeholders])
        self.inputs = tuple(inputs)
        self.input_placeholders, self.output_placeholders = tuple(input_placeholders), tuple(output_placeholders)
        self.body = body

    @property
    def variables(self) -> list[Var]:
        """The variables that the body names besides its own: sizes and scalar arguments."""
        return named_variables(self.body)

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors it reads, each once."""
        return tuple(dict.fromkeys(self.inputs))


def named_variables(body: Stmt) -> list[Var]:
    """Return the variables that a statement names and does not itself define."""
    nodes = list(walk(body))
    own = {node.var for node in nodes if isinstance(node, (For, Let))}
    ends = [end for node in nodes if isinstance(node, For) for end in (node.min, node.extent)]
    named = dict.fromkeys(node for part in (body, *ends) for node in walk(part) if isinstance(node, Var))
    return [var for var in named if var not in own]
