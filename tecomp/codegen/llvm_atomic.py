"""Indivisible updates, as LLVM: one instruction where there is one, else compare and exchange until it is done."""

from __future__ import annotations

from typing import Final

from ..ir import expr as E
from ..ir.atomic import ATOMICS
from .llvm_code import Code
from .llvm_convert import from_memory, to_memory
from .llvm_memory import Steps
from .llvm_types import MEMORY, Value

_INSTRUCTIONS: Final = {
    ("atomic_add", "int"): "add",
    ("atomic_add", "uint"): "add",
    ("atomic_min", "int"): "min",
    ("atomic_max", "int"): "max",
    ("atomic_min", "uint"): "umin",
    ("atomic_max", "uint"): "umax",
}
"""What `atomicrmw` does as the language means it; its own min and max of floats drop NaN."""


def atomic_call(code: Code, node: E.Call) -> Steps:
    """Emit the update of one element; it has no order with other memory, only with other updates of that element."""
    address, operand = node.args
    pointer, more = (yield address), (yield operand)
    instruction = _INSTRUCTIONS.get((node.name, operand.dtype.kind))
    if node.name == "atomic_add" and operand.dtype in ("float32", "float64"):
        instruction = "fadd"
    if instruction is not None:
        return code.op(more.type, f"atomicrmw {instruction} {pointer}, {more} monotonic", "before")
    return (yield from _exchanged(code, node, pointer, more))


def _exchanged(code: Code, node: E.Call, pointer: Value, more: Value) -> Steps:
    dtype = node.dtype
    word, memory = f"i{dtype.bits}", MEMORY[dtype]
    first = code.op(word, f"load atomic {word}, {pointer} monotonic, align {dtype.bytes}", "seen")
    before, again, end = code.block, code.label("update"), code.label("updated")
    code.jump(again)
    code.start(again)
    following = Value(word, f"%{code.names.fresh('now')}")
    seen = code.op(word, f"phi {word} [ {first.name}, %{before} ], [ {following.name}, %{again} ]", "seen")
    raw = seen if memory == word else code.op(memory, f"bitcast {seen} to {memory}")
    so_far, other = E.Var("so_far", dtype), E.Var("more", dtype)
    code.values[so_far], code.values[other] = from_memory(code, raw, dtype), more
    joined = yield ATOMICS[node.name](so_far, other)
    new = to_memory(code, joined, dtype)
    bits = new if new.type == word else code.op(word, f"bitcast {new} to {word}")
    pair = code.op(f"{{ {word}, i1 }}", f"cmpxchg {pointer}, {seen}, {bits} monotonic monotonic", "swap")
    code.do(f"{following.name} = extractvalue {pair}, 0")
    code.branch(code.op("i1", f"extractvalue {pair}, 1", "done"), end, again)
    code.start(end)
    return more
