"""The host part of a CUDA program as Python text: which kernels run, how often, over which grid.

    def host(launch, alloc, X, scan, m, n):
      launch('myscan_scan', ((n + 255) // 256, 1, 1), (256, 1, 1), 0, X, scan, m, n)

`launch(kernel, grid, block, shared_bytes, *arguments)` and `alloc(dtype, elements, zero=False)` are the runtime's;
buffers are whatever it passes on to `launch`, sizes are ints.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, Final

from ..arith import simplify
from ..dtype import INDEX, INT64
from ..errors import InternalError, UnsupportedError
from ..ir import expr as E
from ..ir import make
from ..ir.atomic import UPDATE
from ..ir.foreign import foreign
from ..ir.func import Func
from ..ir.instruction import signature_of
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, Evaluate, For, If, Launch, Let, Stmt, Store
from ..ir.text_expr import ExprText
from ..ir.visit import rewrite_expr, suite, walk
from ..target import Target
from .cuda_kernel import RESERVED, Kernel, print_kernel
from .cuda_limits import BLOCK_TAGS, GRID_TAGS
from .cuda_names import Scopes
from .cuda_tensor import KIND as MAP_KIND
from .cuda_tensor import TensorMap, copies
from .names import PYTHON_RESERVED

INDENT: Final = "  "


class HostPrinter:
    """Prints the host part of a function, and has each Launch printed as a kernel on the way."""

    def __init__(self, func: Func, target: Target) -> None:
        self.func, self.target = func, target
        self.kernels: list[Kernel] = []
        self.lines: list[str] = []
        self._depth = 0
        self.calls_python = any(isinstance(node, Evaluate) and _python(node) for node in walk(func.body))
        self._scopes = Scopes(PYTHON_RESERVED | {"host", "launch", "alloc", "call", "range", MAP_KIND})
        self._names: dict[Any, str] = {}
        self._scope: list[Buffer | E.Var] = []
        self._indices: dict[E.Var, E.Var] = {}
        self._table = {E.Var: self.index, **_PYTHON}
        self._text = ExprText(self._names.__getitem__)
        self._kernel_names = Scopes(RESERVED)
        self.functions: dict[str, None] = {}
        """The Python functions that the host part calls, by name."""

    def print(self) -> str:
        """Return the text of `host`; the kernels are in `kernels` then."""
        things = (*self.func.params, *self.func.sizes())
        tensors = [MAP_KIND] * any(True for _ in copies(self.func.body))
        given = ["launch", "alloc", *(["call"] if self.calls_python else []), *tensors]
        parameters = ", ".join([*given, *(self.declare(thing) for thing in things)])
        with self.block(f"def host({parameters})"):
            self.stmt(self.func.body)
        return "\n".join(self.lines) + "\n"

    def declare(self, thing: Buffer | E.Var) -> str:
        """Return a name for what is in scope from here on."""
        name = self._names[thing] = self._scopes.declare(thing.name)
        self._scope.append(thing)
        return name

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """Open `head:`; what it declares ends with it."""
        self.line(f"{head}:")
        self._depth += 1
        start, things = len(self.lines), len(self._scope)
        with self._scopes.block():
            yield
        if len(self.lines) == start:
            self.line("pass")
        del self._scope[things:]
        self._depth -= 1

    def line(self, text: str) -> None:
        """Add a line to the present block."""
        self.lines.append(INDENT * self._depth + text)

    def text(self, node: Expr) -> str:
        """Return an expression of sizes in Python's own exact integers."""
        for part in walk(node):
            if isinstance(part, (E.Load, E.Call)) or part.dtype.is_float:
                raise UnsupportedError(
                    f"a launch on cuda that depends on {part!r}",
                    because="the host knows sizes and scalars only",
                    legal="bind the loop to a thread, so that the kernel computes it",
                )
        return self._text(self.exact(node))

    def exact(self, node: Expr) -> Expr:
        """Return an integer expression without a width: INDEX throughout, simplified."""
        return simplify(rewrite_expr(node, self._table))

    def index(self, var: E.Var) -> Expr:
        """Return the INDEX variable that stands for an integer one."""
        if not var.dtype.is_integer or var.dtype is INDEX:
            return var
        if var not in self._indices:
            low = None if var.min is None else rewrite_expr(var.min, self._table)
            self._indices[var] = E.Var(var.name, INDEX, low)
            self._names[self._indices[var]] = self._names[var]
        return self._indices[var]

    def stmt(self, root: Stmt) -> None:
        """Print a statement; a declaration and what it is for stand in one block."""
        for node in suite(root):
            verb = _PRINT.get(type(node))
            if verb is None or (isinstance(node, Evaluate) and not _python(node)):
                raise InternalError(
                    f"a {type(node).__name__} on the host", because="no pass should leave one", ir=repr(node)
                )
            verb(self, node)

    def launch(self, node: Launch) -> None:
        name = self._kernel_names.declare(f"{self.func.name}_{_last_stored(node)}")
        kernel = print_kernel(node, name, self._scope, set(self.func.params), self.target)
        self.kernels.append(kernel)
        extents = {tag: self.text(var.extent) for tag, var in node.threads if var.extent is not None}
        grid, block = (", ".join(extents.get(tag, "1") for tag in tags) for tags in (GRID_TAGS, BLOCK_TAGS))
        arguments = [repr(kernel.name), f"({grid})", f"({block})", str(kernel.shared)]
        arguments += [self._names[thing] for thing in kernel.arguments]
        arguments += map(self.tensor_map, kernel.maps)
        arguments += ["alloc('uint64', 1, zero=True)"] if kernel.meets else []
        self.line(f"launch({', '.join(arguments)})")

    def tensor_map(self, tensor: TensorMap) -> str:
        """Return the text of what tells a kernel of a tensor; extents, strides in bytes and box innermost first."""
        buffer = tensor.buffer
        extents, strides = (map(self.text, parts) for parts in (reversed(buffer.shape), tensor.strides))
        parts = ", ".join(map(_tuple, (extents, strides, map(str, tensor.box))))
        return f"{MAP_KIND}({self._names[buffer]}, {str.__str__(buffer.dtype)!r}, {parts}, {tensor.swizzle})"

    def evaluate(self, node: Evaluate) -> None:
        """Print the call of a Python function; of an array it gets address, type, extents and strides."""
        name = _python(node)
        assert isinstance(node.value, E.Call)
        self.functions[name] = None
        operands = [self.operand(arg) for arg in node.value.args]
        self.line(f"call({', '.join([repr(name), *operands])})")

    def operand(self, arg: Expr) -> str:
        if isinstance(arg, E.Const):
            return repr(arg.value)
        if isinstance(arg, E.Var):
            return self._names[arg]
        if not isinstance(arg, E.Address):
            return self.text(arg)
        buffer = arg.buffer
        shape, strides = (
            None if parts is None else f"({''.join(f'{self.text(part)}, ' for part in parts)})"
            for parts in (buffer.shape, buffer.strides)
        )
        return f"({self._names[buffer]}, {str.__str__(buffer.dtype)!r}, {shape}, {strides})"

    def loop(self, node: For) -> None:
        first, end = self.text(node.min), self.text(make.add(self.exact(node.min), self.exact(node.extent)))
        with self._scopes.block():
            name = self._scopes.declare(node.var.name)
            with self.block(f"for {name} in range({first}, {end})"):
                self._names[node.var] = name
                self._scope.append(node.var)
                self.stmt(node.body)

    def branch(self, node: If) -> None:
        with self.block(f"if {self.text(node.condition)}"):
            self.stmt(node.then)
        if node.otherwise is not None:
            with self.block("else"):
                self.stmt(node.otherwise)

    def let(self, node: Let) -> None:
        value = self.text(node.value)
        self.line(f"{self.declare(node.var)} = {value}")

    def alloc(self, node: Alloc) -> None:
        buffer = node.buffer
        if buffer.scope != "global":
            raise UnsupportedError(
                f"'{buffer.name}' in {buffer.scope} memory outside every kernel",
                because=f"{buffer.scope} memory belongs to the threads of one kernel",
                legal="compute_at a loop bound to blockIdx or threadIdx, or leave its scope out",
                location=buffer.loc,
            )
        count = self.text(elements(buffer))
        self.line(f"{self.declare(buffer)} = alloc({str.__str__(buffer.dtype)!r}, {count})")

    def store(self, node: Store) -> None:
        raise UnsupportedError(
            f"'{node.buffer.name}' on cuda",
            because="no axis of it is bound to a block or thread",
            legal='bind one of its axes: s[T].bind(axis, te.thread_axis("blockIdx.x"))',
            location=node.loc,
        )


def _python(node: Evaluate) -> str:
    """Return the name of the Python function that a statement calls; nothing where it calls none."""
    called = foreign(node.value.name) if isinstance(node.value, E.Call) else None
    return called.symbol if called is not None and called.kind == "call_packed" else ""


def _tuple(parts: Iterable[str]) -> str:
    texts = list(parts)
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def _last_stored(node: Launch) -> str:
    """Return the name of the stage that a kernel is for: the last whose result outlives it."""
    buffers = [stmt.buffer for stmt in walk(node) if isinstance(stmt, Store)]
    buffers += [stmt.buffer for stmt in walk(node) if isinstance(stmt, E.Address) and stmt.mode == UPDATE]
    calls = (stmt for stmt in walk(node) if isinstance(stmt, E.Call) and signature_of(stmt) is not None)
    buffers += [arg.buffer for call in calls for arg in call.args if isinstance(arg, E.Address) and arg.mode == "w"]
    names = [buffer.name for buffer in buffers if buffer.scope == "global"]
    return names[-1] if names else "kernel"


def elements(buffer: Buffer) -> Expr:
    """Return how many elements a buffer spans, from its first to its last."""
    if buffer.strides is None:
        return functools.reduce(make.mul, buffer.shape, make.const(1, INT64))
    steps = zip(buffer.shape, buffer.strides, strict=True)
    last = [make.mul(make.sub(make.cast(INT64, extent), 1), make.cast(INT64, stride)) for extent, stride in steps]
    return functools.reduce(make.add, last, make.const(1, INT64))


def _truncdiv(node: E.TruncDiv) -> Expr:
    """a / b rounded toward zero: a // b, and one more where that was rounded down past zero."""
    floor = make.floordiv(node.a, node.b)
    return make.if_then_else(make.logical_and(floor < 0, make.ne(floor * node.b, node.a)), floor + 1, floor)


_PYTHON: Final[dict[type[Expr], Callable[[Any], Expr]]] = {
    E.Const: lambda node: make.const(node.value, INDEX) if node.dtype.is_integer else node,
    E.Cast: lambda node: make.ne(node.value, 0) if node.dtype.is_bool else node.value,
    E.Select: lambda node: make.if_then_else(node.condition, node.yes, node.no),
    E.TruncDiv: _truncdiv,
    E.TruncMod: lambda node: node.a - node.b * _truncdiv(E.TruncDiv(node.a, node.b)),
}
"""What stands on the host for a node of machine integers."""

_PRINT: Final[dict[type[Stmt], Callable[[HostPrinter, Any], None]]] = {
    Launch: HostPrinter.launch,
    For: HostPrinter.loop,
    If: HostPrinter.branch,
    Let: HostPrinter.let,
    Alloc: HostPrinter.alloc,
    Store: HostPrinter.store,
    Evaluate: HostPrinter.evaluate,
}
