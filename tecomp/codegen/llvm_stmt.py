"""Statements: loops as blocks, memory on the stack or the heap, stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..errors import InternalError, UnsupportedError
from ..ir import expr as E
from ..ir.make import TRUE
from ..ir.stmt import Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store
from ..ir.visit import walk
from . import llvm_memory
from .llvm_code import Code
from .llvm_expr import value
from .llvm_parallel import parallel
from .llvm_types import MEMORY, Value, lanes_of, value_type

STACK_BUFFER: Final = 16 * 1024
"""The largest buffer that is put on the stack, in bytes."""
STACK_TOTAL: Final = 128 * 1024
"""What all stack buffers of a function may take together, in bytes: threads have small stacks."""
HEAP_ALIGN: Final = 64
"""Allocated memory starts at multiples of this, a cache line and the widest vector."""


def statement(code: Code, stmt: Stmt) -> None:
    """Emit `stmt`. A chain of Lets and Allocs is followed in a loop: programs of many stages nest them deeply."""
    depth = len(code.heap)
    while isinstance(stmt, (Let, Alloc)):
        if isinstance(stmt, Let):
            with code.scope():
                code.values[stmt.var] = value(code, stmt.value)
        else:
            _allocate(code, stmt.buffer)
        stmt = stmt.body
    _STATEMENTS[type(stmt)](code, stmt)
    while len(code.heap) > depth:
        _free(code, code.heap.pop())


def _sequence(code: Code, stmt: Seq) -> None:
    for part in stmt.stmts:
        statement(code, part)


def _store(code: Code, stmt: Store) -> None:
    with code.scope():
        mask = None if stmt.mask is TRUE else value(code, stmt.mask)
        if mask is not None and lanes_of(mask.type) == 1:
            _where(code, mask, lambda: _write(code, stmt, None))
        else:
            _write(code, stmt, mask)


def _write(code: Code, stmt: Store, mask: Value | None) -> None:
    with code.scope():
        written = value(code, stmt.value)
        llvm_memory.store(code, stmt, value(code, llvm_memory.stored_at(stmt)), written, mask)


def _where(code: Code, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
    """Run `then` in a block that is entered where `condition` holds, `otherwise` in another."""
    labels = code.label("then"), code.label("else") if otherwise else "", code.label("end")
    code.branch(condition, labels[0], labels[1] or labels[2])
    code.start(labels[0])
    then()
    code.jump(labels[2])
    if otherwise:
        code.start(labels[1])
        otherwise()
        code.jump(labels[2])
    code.start(labels[2])


def _branch(code: Code, stmt: If) -> None:
    with code.scope():
        condition = value(code, stmt.condition)
    no = stmt.otherwise
    _where(code, condition, lambda: statement(code, stmt.then), None if no is None else lambda: statement(code, no))


def _evaluate(code: Code, stmt: Evaluate) -> None:
    call = stmt.value
    with code.scope():
        if isinstance(call, E.Call) and call.name == "prefetch":
            llvm_memory.prefetch(code, call, lambda node: value(code, node))
        else:
            value(code, call)


def _loop(code: Code, stmt: For) -> None:
    if stmt.kind in (LoopKind.THREAD, LoopKind.VECTORIZED):
        raise _unlowered(stmt)
    with code.scope():
        low, extent = value(code, stmt.min), value(code, stmt.extent)
    if stmt.kind is LoopKind.PARALLEL and not code.parallel:
        parallel(code, stmt, low, extent, statement)
        return
    high = extent if low.name == "0" else code.op(low.type, f"add nsw {low}, {extent.name}", f"{stmt.var.name}.stop")
    count(code, stmt.var, low, high, lambda: statement(code, stmt.body), _hints(code, stmt))


def _unlowered(stmt: For) -> UnsupportedError | InternalError:
    name = stmt.var.name
    if stmt.kind is LoopKind.THREAD:
        return UnsupportedError(
            f"loop {name!r} on llvm", because=f"it is bound to {stmt.thread}, which a CPU does not have", legal="parallel"
        )
    return InternalError(f"the vectorized loop {name!r} reached code generation", because="vectorize did not run")


def count(code: Code, var: E.Var, low: Value, high: Value, body: Callable[[], None], hints: str = "") -> None:
    """Emit `body` for var = low, low + 1, ... below high."""
    head, inside, end = (code.label(f"{var.name}.{part}") for part in ("loop", "body", "end"))
    before = code.block
    code.jump(head)
    code.start(head)
    following = code.names.fresh(f"{var.name}.next")
    latch = code.label(f"{var.name}.step")
    text = f"phi {low.type} [ {low.name}, %{before} ], [ %{following}, %{latch} ]"
    code.values[var] = counter = code.op(low.type, text, var.name)
    code.branch(code.op("i1", f"icmp slt {counter}, {high.name}", f"{var.name}.more"), inside, end)
    code.start(inside)
    body()
    code.jump(latch)
    code.start(latch)
    code.do(f"%{following} = add nsw {counter}, 1")
    code.jump(head, hints)
    code.start(end)


def _hints(code: Code, stmt: For) -> str:
    if stmt.kind is not LoopKind.UNROLLED:
        return ""
    full = code.module.metadata('!{!"llvm.loop.unroll.full"}')
    return code.module.metadata(f"distinct !{{self, {full}}}")


def _launch(code: Code, stmt: Launch) -> None:
    raise UnsupportedError("a kernel launch on llvm", because="the program is one for a GPU", legal='target "cuda"')


def _allocate(code: Code, buffer: Buffer) -> None:
    """Small buffers of constant size stand on the stack, and become registers where they can; others on the heap."""
    element = MEMORY[buffer.dtype.element]
    size = _constant_size(buffer)
    code.module.aligned[buffer] = HEAP_ALIGN
    if size is not None and size * buffer.dtype.bytes <= min(STACK_BUFFER, STACK_TOTAL - code.stack_bytes):
        code.stack_bytes += size * buffer.dtype.bytes
        count = size * buffer.dtype.lanes
        type = element if count == 1 else f"[{count} x {element}]"
        code.pointers[buffer] = code.alloca(type, buffer.name, HEAP_ALIGN)
        return
    with code.scope():
        elements = _elements(code, buffer)
    code.pointers[buffer] = pointer = _heap(code, elements, buffer)
    code.heap.append(pointer)


def _constant_size(buffer: Buffer) -> int | None:
    """Return the elements of a buffer that has a constant size, its gaps included."""
    if not all(isinstance(extent, E.Const) for extent in (*buffer.shape, *(buffer.strides or ()))):
        return None
    shape = [_number(extent) for extent in buffer.shape]
    total = 1
    if buffer.strides is None:
        for extent in shape:
            total *= extent
        return total
    return sum((extent - 1) * _number(stride) for extent, stride in zip(shape, buffer.strides, strict=True)) + 1


def _number(node: E.Expr) -> int:
    assert isinstance(node, E.Const)
    return int(node.value)


def _elements(code: Code, buffer: Buffer) -> Value:
    """Emit how many elements a buffer has, as i64."""
    total = Value("i64", "1")
    for extent, stride in zip(buffer.shape, buffer.strides or buffer.shape, strict=True):
        length = _wide(code, value(code, extent))
        if buffer.strides is None:
            total = length if total.name == "1" else code.op("i64", f"mul {total}, {length.name}")
            continue
        last = code.op("i64", f"sub {length}, 1")
        reach = code.op("i64", f"mul {last}, {_wide(code, value(code, stride)).name}")
        total = code.op("i64", f"add {total}, {reach.name}")
    return total


def _wide(code: Code, size: Value) -> Value:
    return size if size.type == "i64" else code.op("i64", f"sext {size} to i64")


def _heap(code: Code, elements: Value, buffer: Buffer) -> Value:
    """Emit an allocation; where there is no memory the function frees what it has and returns 1."""
    code.fails = True
    size = code.op("i64", f"mul {elements}, {buffer.dtype.bytes}", f"{buffer.name}.bytes")
    padded = code.op("i64", f"add {size}, {2 * HEAP_ALIGN - 1}")  # one line more, so that an empty buffer has an address
    whole = code.op("i64", f"and {padded}, {-HEAP_ALIGN}")
    align = Value("i64", str(HEAP_ALIGN))
    pointer = code.call("aligned_alloc", "noalias ptr", align, whole, name=buffer.name)
    pointer = Value("ptr", pointer.name)
    missing = code.op("i1", f"icmp eq {pointer}, null", "missing")
    _where(code, missing, lambda: leave(code))
    return pointer


def leave(code: Code) -> None:
    """Emit the end of a function that could not have the memory it needs."""
    for pointer in reversed(code.heap):
        _free(code, pointer)
    code.do("ret i32 1")
    code.start(code.label("unreachable"))  # what follows a return needs a block


def _free(code: Code, pointer: Value) -> None:
    code.call("free", "void", pointer)


_STATEMENTS: Final[dict[type[Any], Callable[[Code, Any], None]]] = {
    Seq: _sequence,
    Store: _store,
    If: _branch,
    For: _loop,
    Evaluate: _evaluate,
    Launch: _launch,
}
