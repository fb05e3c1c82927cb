"""Parallel loops: the body becomes a function, which an OpenMP runtime runs on its threads.

    for i in parallel(n): body   ->   te.f.i:       body for i = begin ... end - 1, its buffers on its own stack
                                      te.f.i.team:  reads what the body captures, finds its thread's share, calls te.f.i
                                      GOMP_parallel(te.f.i.team, captured, threads, 0)

Shares are contiguous and differ by one iteration at most. A parallel loop inside another runs serially.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.expr import Address, Load, Var
from ..ir.foreign import layout_vars
from ..ir.stmt import Buffer, For, Stmt, Store
from ..ir.visit import walk
from .llvm_code import Code
from .llvm_control import count, leave, where
from .llvm_types import Value

Statement = Callable[[Code, Stmt], None]
Captured = dict[Var | Buffer, Value]


def parallel(code: Code, stmt: For, low: Value, extent: Value, statement: Statement) -> None:
    """Emit a parallel loop over low, low + 1, ... of `extent`."""
    captured = _captured(code, stmt)
    symbol = code.module.symbols.fresh(f"{code.symbol}.{stmt.var.name}")
    fails = _body(code, symbol, stmt, captured, low.type, statement)
    record = [Value("i32", "0"), low, extent, *captured.values()]
    _team(code, symbol, record, fails)
    positive = code.op("i1", f"icmp sgt {extent}, 0", "some")
    where(code, positive, lambda: _start(code, symbol, record, fails))


def _captured(code: Code, stmt: For) -> Captured:
    """Return the variables and buffers that the body uses and that are defined outside it, with their values."""
    found: Captured = {}
    for node in walk(stmt.body):
        named = [node] if isinstance(node, Var) else layout_vars(node) if isinstance(node, Address) else ()
        found.update((var, code.values[var]) for var in named if var in code.values)
        if isinstance(node, (Address, Load, Store)) and node.buffer in code.pointers:
            found[node.buffer] = code.pointers[node.buffer]
    return found


def _body(code: Code, symbol: str, stmt: For, captured: Captured, type: str, statement: Statement) -> bool:
    """Define the function that runs a share of the iterations; return whether it may fail for want of memory."""
    inner = Code(code.module, symbol, parallel=True)
    parameters: list[str] = []
    for thing, outer in captured.items():
        value = Value(outer.type, f"%{inner.names.fresh(thing.name)}")
        if isinstance(thing, Buffer):
            inner.pointers[thing] = value
        else:
            inner.values[thing] = value
        parameters.append(f"{value.type}{' noalias' if value.type == 'ptr' else ''} {value.name}")
    begin, end = (Value(type, f"%{inner.names.fresh(name)}") for name in ("begin", "end"))
    count(inner, stmt.var, begin, end, lambda: statement(inner, stmt.body))
    inner.do("ret i32 0")
    inner.define(f"internal i32 @{symbol}({', '.join([*parameters, str(begin), str(end)])}) nounwind")
    return inner.fails


def _team(code: Code, symbol: str, record: list[Value], fails: bool) -> None:
    """Define what each thread of the team runs."""
    inner = Code(code.module, f"{symbol}.team")
    memory = Value("ptr", f"%{inner.names.fresh('captured')}")
    fields = [_field(inner, memory, record, place) for place in range(len(record))]
    status, *places = fields
    low, extent, *arguments = (
        inner.op(value.type, f"load {value.type}, {place}", _bare(value))
        for value, place in zip(record[1:], places, strict=True)
    )
    thread, threads = (
        _as(inner, inner.call(f"omp_get_{what}", "i32", name=what), low.type) for what in ("thread_num", "num_threads")
    )
    begin, end = _share(inner, low, extent, thread, threads)
    result = inner.op("i32", f"call i32 @{symbol}({', '.join(map(str, [*arguments, begin, end]))})", "failed")
    if fails:
        bad = inner.op("i1", f"icmp ne {result}, 0")
        where(inner, bad, lambda: inner.do(f"store atomic {result}, {status} monotonic, align 4"))
    inner.do("ret void")
    inner.define(f"internal void @{symbol}.team({memory}) nounwind")


def _share(code: Code, low: Value, extent: Value, thread: Value, threads: Value) -> tuple[Value, Value]:
    """Return where a thread's iterations begin and end: the first `extent % threads` of them have one more."""
    type = low.type
    each = code.op(type, f"sdiv {extent}, {threads.name}", "each")
    rest = code.op(type, f"srem {extent}, {threads.name}", "rest")
    before = code.call(f"llvm.smin.{type}", type, thread, rest, attributes="")
    start = code.op(type, f"add {code.op(type, f'mul {each}, {thread.name}')}, {before.name}")
    begin = code.op(type, f"add {low}, {start.name}", "begin")
    more = code.op("i1", f"icmp slt {thread}, {rest.name}")
    length = code.op(type, f"add {each}, {_as(code, more, type).name}")
    return begin, code.op(type, f"add {begin}, {length.name}", "end")


def _start(code: Code, symbol: str, record: list[Value], fails: bool) -> None:
    """Write the captured values to memory and run the team, with no more threads than iterations."""
    memory = code.alloca(_record_type(record), "captured")
    for place, value in enumerate(record):
        code.do(f"store {value}, {_field(code, memory, record, place)}")
    extent = record[2]
    most = _as(code, code.call("omp_get_max_threads", "i32", name="most"), extent.type)
    threads = code.call(f"llvm.umin.{extent.type}", extent.type, most, extent, name="threads", attributes="")
    flags = Value("i32", "0")
    code.call("GOMP_parallel", "void", Value("ptr", f"@{symbol}.team"), memory, _as(code, threads, "i32"), flags)
    if fails:
        status = code.op("i32", f"load i32, {_field(code, memory, record, 0)}", "failed")
        where(code, code.op("i1", f"icmp ne {status}, 0"), lambda: leave(code, status.name))


def _record_type(record: list[Value]) -> str:
    return "{ " + ", ".join(value.type for value in record) + " }"


def _field(code: Code, memory: Value, record: list[Value], place: int) -> Value:
    name = f"{_bare(record[place])}.at" if place else "status"
    return code.op("ptr", f"getelementptr inbounds {_record_type(record)}, {memory}, i32 0, i32 {place}", name)


def _bare(value: Value) -> str:
    """Return the name of a value without its sigil; constants have none."""
    return value.name[1:] if value.name.startswith("%") else "bound"


def _as(code: Code, number: Value, type: str) -> Value:
    """Return a small non-negative integer in another integer type."""
    widths = int(number.type[1:]), int(type[1:])
    if widths[0] == widths[1]:
        return number
    return code.op(type, f"{'zext' if widths[0] < widths[1] else 'trunc'} {number} to {type}")
