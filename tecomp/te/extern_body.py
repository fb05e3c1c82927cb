"""What the body of an opaque operation may be: a statement that writes its results and reads its inputs."""

from __future__ import annotations

from typing import Any

from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir.foreign import addressed
from ..ir.node import Expr
from ..ir.stmt import Alloc, Evaluate, Stmt, Store
from ..ir.visit import rewrite, walk
from ..location import caller
from .buffer import DeclaredBuffer
from .statement_ranges import check_elements
from .statement_scope import check_names

Buffers = list[DeclaredBuffer]


def statement(asked: str, made: Any, ins: Buffers, outs: Buffers) -> Stmt:
    """Return what the function of a te.extern made as a statement that is known to be possible."""
    body = _reading(_made(asked, made), ins)
    _check_memory(asked, body, ins, outs)
    check_names(asked, body)
    check_elements(asked, body)
    return body


def _made(asked: str, made: Any) -> Stmt:
    if isinstance(made, Stmt):
        return made
    if isinstance(made, Expr):
        return Evaluate(made, loc=caller())
    because = "it returned None" if made is None else f"it returned a {type(made).__name__}"
    raise UserTypeError(f"{asked}: the body", because=because, legal="ib.get(), tir.call_packed(...), a statement")


def _reading(body: Stmt, ins: Buffers) -> Stmt:
    """Let whoever gets the address of an input read there, and no more."""

    def address(node: E.Address) -> Expr:
        is_input = any(node.buffer is buffer for buffer in ins)
        return E.Address(node.buffer, node.indices, node.offset, "r") if is_input and node.mode == "rw" else node

    return rewrite(body, {E.Address: address})


def _check_memory(asked: str, body: Stmt, ins: Buffers, outs: Buffers) -> None:
    """Raise UserError unless a body writes every result, no input, and uses no memory but these and its own."""
    nodes = list(walk(body))
    read = next((node.tensor for node in nodes if isinstance(node, E.TensorRead)), None)
    if read is not None:
        because = "there its memory is a buffer"
        raise UserError(f"{asked}: the body reads '{read.name}'", because=because, legal="the buffers that it is given")
    written = {node.buffer for node in nodes if isinstance(node, Store)} | addressed(body, "w")
    for buffer in ins:
        if buffer in written:
            raise UserError(
                f"{asked}: the body writes '{buffer.name}'", because="it is an input", legal="writing results"
            )
    for buffer in outs:
        if buffer not in written:
            legal = 'a store to it, or a call that gets its access_ptr("w")'
            raise UserError(f"{asked}: nothing writes '{buffer.name}'", because="it is a result", legal=legal)
    known = {*ins, *outs, *(node.buffer for node in nodes if isinstance(node, Alloc))}
    used = (node.buffer for node in nodes if isinstance(node, (E.Load, E.Address, Store)))
    strange = next((buffer for buffer in used if buffer not in known), None)
    if strange is not None:
        because = "it is none of its tensors, and not allocated in it"
        legal = "the buffers that it is given, ib.allocate"
        raise UserError(f"{asked}: the body uses '{strange.name}'", because=because, legal=legal)
