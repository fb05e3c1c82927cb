"""LLVM IR as text under construction: a module, its functions, their blocks and instructions."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ..ir.expr import Var
from ..ir.node import Expr
from ..ir.stmt import Buffer
from .llvm_types import Value, constant, lanes_of, suffix, vector
from .names import Names


class Module:
    """A module: the functions defined so far, and what they declare."""

    def __init__(self, vector_functions: frozenset[str], native_half: bool) -> None:
        self.vector_functions, self.native_half = vector_functions, native_half
        self.symbols = Names(dots=True)
        self.functions: list[str] = []
        self.reads_memory: dict[Expr, bool] = {}
        self.aligned: dict[Buffer, int] = {}
        """What the addresses of allocated buffers are multiples of, where that is more than the buffer says."""
        self.packed: list[dict[str, Any]] = []
        """The calls of Python functions: the symbol of each, whom it calls, with what."""
        self.tiles: set[str] = set()
        """The intrinsics about the tiles of AMX that are called."""
        self.intrinsics: dict[str, str] = {}
        """The user's intrinsics, each with a module that calls it alone."""
        self._overloads: dict[str, list[tuple[str, ...]]] = {}
        self._declarations: dict[str, str] = {}
        self._kept: dict[str, None] = {}
        self._metadata: list[str] = []

    def declare(self, symbol: str, result: str, args: tuple[str, ...], attributes: str = "nounwind") -> None:
        """Declare an external function; once, however often it is asked for."""
        self._declarations[symbol] = f"declare {result} @{symbol}({', '.join(args)}) {attributes}".rstrip()

    def use_packed(self, function: str, args: list[dict[str, Any]]) -> str:
        """Return the symbol of one more call of a Python function."""
        symbol = f"te.packed.{len(self.packed)}"
        self.packed.append({"symbol": symbol, "function": function, "args": args})
        return symbol

    def use_intrinsic(self, name: str, result: str, args: list[Value]) -> str:
        """Declare an intrinsic that the user names, note how to ask LLVM about it, and return its symbol.

        LLVM adds the types to a name that has none; where one name is used for several, each gets another name here.
        """
        types = tuple(arg.type for arg in args)
        signatures = self._overloads.setdefault(name, [])
        if (result, *types) not in signatures:
            signatures.append((result, *types))
        number = signatures.index((result, *types))
        symbol = f"{name}.{number}" if number else name
        self.declare(symbol, result, types, "")
        passed = [Value(arg.type, f"%a{n}" if arg.name.startswith("%") else arg.name) for n, arg in enumerate(args)]
        parameters = ", ".join(str(arg) for arg in passed if arg.name.startswith("%"))
        call = f"  %r = call {result} @{symbol}({', '.join(map(str, passed))})\n  ret {result} %r"
        body = f"define {result} @probe({parameters}) {{\n{call}\n}}"
        self.intrinsics[symbol] = f"{self._declarations[symbol]}\n\n{body}\n"
        return symbol

    def declares(self, symbol: str) -> bool:
        """Return whether a function outside is called so far."""
        return symbol in self._declarations

    def external(self, symbol: str) -> None:
        """Declare a variable that is elsewhere."""
        self._declarations[symbol] = f"@{symbol} = external global i8"

    def keep(self, symbol: str) -> None:
        """Keep a declaration that only the optimiser would use: the vector form of a scalar function."""
        self._kept[symbol] = None

    def metadata(self, text: str) -> str:
        """Return the number of a new metadata node; a ``self`` in its text stands for that number."""
        number = f"!{len(self._metadata)}"
        self._metadata.append(f"{number} = {text.replace('self', number)}")
        return number

    def text(self) -> str:
        """Return the whole module."""
        kept = ", ".join(f"ptr @{symbol}" for symbol in self._kept)
        used = [f'@llvm.compiler.used = appending global [{len(self._kept)} x ptr] [{kept}], section "llvm.metadata"']
        parts = [*self.functions, "\n".join(self._declarations.values()), *(used if kept else ())]
        return "\n\n".join([*filter(None, parts), "\n".join(self._metadata)]).rstrip() + "\n"


class Code:
    """One function: its blocks so far, what its variables and buffers are, and which lanes are alive."""

    def __init__(self, module: Module, symbol: str, parallel: bool = False) -> None:
        self.module, self.symbol, self.parallel = module, symbol, parallel
        self.names = Names(dots=True)
        self.values: dict[Var, Value] = {}
        self.pointers: dict[Buffer, Value] = {}
        self.heap: list[Value] = []
        """The blocks of memory that are allocated where code is being generated."""
        self.fails = False
        """Whether the function may return 1: memory could not be had."""
        self.mask: Value | None = None
        """The lanes that the vector being computed is wanted in; None is all."""
        self.stack_bytes = self.loops = 0
        self.block = self.label("entry")
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._memo: list[dict[Expr, Value]] = []

    def define(self, header: str) -> None:
        """Close the function and give it to the module."""
        body = [f"define {header} {{", "entry:", *self._entry, *self._lines, "}"]
        self.module.functions.append("\n".join(body))

    def do(self, text: str) -> None:
        """Add an instruction that gives no value."""
        self._lines.append(f"  {text}")

    def op(self, type: str, text: str, name: str = "t") -> Value:
        """Add an instruction and return its value, of `type`; `name` is what a reader would call it."""
        value = Value(type, f"%{self.names.fresh(name)}")
        self._lines.append(f"  {value.name} = {text}")
        return value

    def alloca(self, type: str, name: str, align: int = 0) -> Value:
        """Reserve stack memory, at the start of the function so that a loop does not grow the stack."""
        pointer = Value("ptr", f"%{self.names.fresh(name)}")
        self._entry.append(f"  {pointer.name} = alloca {type}" + (f", align {align}" if align else ""))
        return pointer

    def call(self, symbol: str, result: str, *args: Value, name: str = "t", attributes: str = "nounwind") -> Value:
        """Declare and call an external function or intrinsic."""
        self.module.declare(symbol, result, tuple(arg.type for arg in args), attributes)
        text = f"call {result} @{symbol}({', '.join(map(str, args))})"
        if result != "void":
            return self.op(result, text, name)
        self.do(text)
        return Value("void", "")

    def intrinsic(self, stem: str, *args: Value, extra: tuple[Value, ...] = (), name: str = "t") -> Value:
        """Call ``@<stem>.<type>`` on operands of the one type that is also its result's; `extra` follow them."""
        type = args[0].type
        return self.call(f"{stem}.{suffix(type)}", type, *args, *extra, name=name, attributes="")

    def label(self, name: str) -> str:
        """Return a new label."""
        return self.names.fresh(name)

    def start(self, label: str) -> None:
        """Begin the block `label`."""
        self._lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """End the block by going to `label`."""
        self.do(f"br label %{label}")

    def branch(self, condition: Value, yes: str, no: str, loop: str = "") -> None:
        """End the block by going to `yes` where `condition` holds, else to `no`; `loop` is metadata of a loop's end."""
        self.do(f"br {condition}, label %{yes}, label %{no}" + (f", !llvm.loop {loop}" if loop else ""))

    def select(self, condition: Value, yes: Value, no: Value, name: str = "t") -> Value:
        """Return yes or no, lane by lane where condition is a vector."""
        return self.op(yes.type, f"select {condition}, {yes}, {no}", name)

    def splat(self, value: Value, lanes: int) -> Value:
        """Return the vector that holds `value` in each lane."""
        if lanes_of(value.type) == lanes:
            return value
        type = vector(value.type, lanes)
        first = self.op(type, f"insertelement {type} poison, {value}, i64 0")
        return self.op(type, f"shufflevector {first}, {type} poison, <{lanes} x i32> zeroinitializer")

    def like(self, number: float, value: Value) -> Value:
        """Return the constant `number` in the type of `value`."""
        return constant(number, value.type)

    def any_lane(self, mask: Value) -> Value:
        """Return whether a lane of the mask is set."""
        if lanes_of(mask.type) == 1:
            return mask
        return self.call(f"llvm.vector.reduce.or.{suffix(mask.type)}", "i1", mask, name="any", attributes="")

    def narrowed(self, mask: Value) -> Value:
        """Return the lanes of `mask` that are also wanted here."""
        if self.mask is None or self.mask == mask:
            return mask
        lanes = lanes_of(mask.type)
        outer = self.mask if lanes == lanes_of(self.mask.type) else self.splat(self.any_lane(self.mask), lanes)
        if mask == constant(True, mask.type):
            return outer
        return self.op(mask.type, f"and {outer}, {mask.name}", "mask")

    @contextmanager
    def scope(self, mask: Value | None = None) -> Generator[None]:
        """Remember values computed from here on until the end of the scope; `mask` names the lanes wanted in it."""
        outer, self.mask = self.mask, mask or self.mask
        self._memo.append({})
        yield
        self._memo.pop()
        self.mask = outer

    def known(self, node: Expr) -> Value | None:
        """Return the value that `node` was found to have in a scope that is still open."""
        for memo in reversed(self._memo):
            if node in memo:
                return memo[node]
        return None

    def remember(self, node: Expr, value: Value) -> Value:
        """Note the value of `node` for as long as the innermost scope is open."""
        self._memo[-1][node] = value
        return value
