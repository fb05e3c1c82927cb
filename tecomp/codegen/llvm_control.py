"""Control flow: a condition, a counted loop, an early end."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.expr import Var
from .llvm_code import Code
from .llvm_types import Value

Body = Callable[[], None]
Hints = Callable[[bool], str]
"""Whether the loop is an innermost one -> its metadata."""


def where(code: Code, condition: Value, then: Body, otherwise: Body | None = None) -> None:
    """Emit `then` in a block that is entered where `condition` holds, `otherwise` in another."""
    yes, no, end = code.label("then"), code.label("else") if otherwise else "", code.label("end")
    code.branch(condition, yes, no or end)
    code.start(yes)
    then()
    code.jump(end)
    if otherwise:
        code.start(no)
        otherwise()
        code.jump(end)
    code.start(end)


def leave(code: Code, status: str = "1") -> None:
    """End the function early with a status: 1, memory could not be had; another, which function outside failed."""
    code.fails = True
    for pointer in reversed(code.heap):
        code.call("free", "void", pointer)
    code.do(f"ret i32 {status}")
    code.start(code.label("after"))  # text follows a return only in a new block


def count(code: Code, var: Var, low: Value, high: Value, body: Body, hints: Hints | None = None) -> None:
    """Emit `body` for var = low, low + 1, ... below high; `hints` gives loop metadata.

    The test stands at the end, after one before the first iteration: LLVM would bring any loop into that form, at a
    cost that grows with the square of the number of loops.
    """
    inside, step, end = (code.label(f"{var.name}.{part}") for part in ("loop", "step", "end"))
    following = Value(low.type, f"%{code.names.fresh(f'{var.name}.next')}")
    before = code.block
    if _certain(low, high):
        code.jump(inside)
    else:
        code.branch(code.op("i1", f"icmp slt {low}, {high.name}", f"{var.name}.any"), inside, end)
    code.start(inside)
    code.loops += 1
    opened = code.loops
    text = f"phi {low.type} [ {low.name}, %{before} ], [ {following.name}, %{step} ]"
    code.values[var] = counter = code.op(low.type, text, var.name)
    body()
    code.jump(step)
    code.start(step)
    code.do(f"{following.name} = add nsw {counter}, 1")
    code.branch(
        code.op("i1", f"icmp slt {following}, {high.name}", f"{var.name}.more"),
        inside,
        end,
        hints(code.loops == opened) if hints else "",
    )
    code.start(end)


def _certain(low: Value, high: Value) -> bool:
    """Return whether the loop is known to run at all."""
    return is_number(low) and is_number(high) and int(low.name) < int(high.name)


def is_number(value: Value) -> bool:
    """Return whether a scalar integer is a constant."""
    return value.name.lstrip("-").isdecimal()
