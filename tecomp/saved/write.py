"""Writing a schedule with its computation as text: a line for each size and operation, then what was applied."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ..dtype import INT32
from ..errors import UserError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.stmt import Buffer
from ..ir.text import text
from ..ir.text_expr import ExprText, Names
from ..ir.text_parts import parts
from ..ir.visit import rewrite_expr, walk
from ..schedule.schedule import Schedule
from ..schedule.text import replay
from ..te.extern_op import ExternOp
from ..te.hybrid import HybridOp
from ..te.reducers import PREDEFINED
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor, domain
from ..te.tensor_compute import TensorComputeOp
from ..te.tensor_intrin import TensorIntrin
from .intrinsics import functions, offsets
from .statements import KINDS, function, variables


def save(schedule: Schedule) -> str:
    """Return `schedule` with its computation as text. UserError for what no text can say, such as a Python object."""
    writer = _Computation()
    for op in schedule.declared:
        writer.operation(op)
    for applied in schedule.applied:
        for value in applied.arguments.values():
            if isinstance(value, TensorIntrin):
                writer.intrinsic(value)
    outputs = ", ".join(f"{writer.tensor(op.outputs[0])}.op" for op in schedule.outputs)
    head = "".join(f"{line}\n" for line in [*writer.lines, f"s = te.create_schedule([{outputs}])"])
    applied = replay(schedule, {known: writer.names(known) for known in (*writer.sizes, *writer.intrinsics)})
    return f"{head}\n{applied}" if applied else head


class _Computation:
    """Writes operations, each after those it reads."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names = Names()
        self.names.taken |= {"s", "te"}
        self.text = ExprText(self.names, INT32)
        self.memory: dict[Tensor, Buffer] = {}
        self.sizes: dict[E.Var, None] = {}
        self.reducers: dict[E.Combiner, str] = {}
        self.intrinsics: dict[TensorIntrin, None] = {}
        self.written: set[Operation] = set()

    def operation(self, op: Operation) -> None:
        """Write an operation, after the sizes that are new in it."""
        if op in self.written:
            return
        self.written.add(op)
        _WRITE[type(op)](self, op)

    def placeholder(self, op: PlaceholderOp) -> None:
        self.define(op, f"te.placeholder({self.shape(op)}, {str(op.dtype)!r}, {self.notes(op)})")

    def scan(self, op: ScanOp) -> None:
        parts = (op.init, op.update, op.state_placeholder)
        given = ", ".join(f"[{', '.join(map(self.tensor, part))}]" for part in parts)
        inputs = f", inputs=[{', '.join(map(self.tensor, op.inputs))}]" if op.inputs else ""
        self.define(op, f"te.scan({given}{inputs}, {self.notes(op)})")

    def extern(self, op: ExternOp) -> None:
        """Write the function, then the operation that it is the body of."""
        for node in walk(op.body):
            if isinstance(node, E.Call):
                node.check_portable()
        func = function(op, self.names.give(op))
        self.new_sizes(op, variables(func))
        self.lines += text(func).rstrip().splitlines()
        given = f"[{', '.join(map(self.tensor, op.inputs))}], {func.name}"
        kind = next(name for name, kind in KINDS.items() if kind is type(op))
        known = f"[{self.listed(variables(func))}]"
        self.names.release(op)
        self.define(op, f"te.extern({given}, {kind!r}, {known}, {self.notes(op)})")

    def intrinsic(self, intrin: TensorIntrin) -> None:
        """Write what an instruction computes, a function for each of its statements, then its declaration."""
        if intrin in self.intrinsics:
            return
        self.intrinsics[intrin] = None
        for op in (*(tensor.op for tensor in intrin.inputs), intrin.op):
            self.operation(op)
        written = functions(intrin, self.names.give)
        for func in filter(None, written):
            self.new_sizes(intrin.op, variables(func))
            self.lines += text(func).rstrip().splitlines()
        self.new_sizes(intrin.op, (*intrin.scalar_params, *offsets(intrin)))
        parts = (f"({func.name}, [{self.listed(variables(func))}])" if func else "None" for func in written)
        memory = (
            f"({'None' if buffer.elem_offset is None else self.text(buffer.elem_offset)}, {buffer.offset_factor})"
            for buffer in intrin.buffers
        )
        result, scalars = self.tensor(intrin.op.outputs[0]), self.listed(intrin.scalar_params)
        given = f"{result}, [{', '.join(parts)}], [{scalars}], [{', '.join(memory)}], {intrin.name!r}"
        self.lines.append(f"{self.names(intrin)} = te.decl_tensor_intrin({given})")

    def tensor_compute(self, op: TensorComputeOp) -> None:
        self.intrinsic(op.intrin)
        data = sum(axis in op.axis for axis in op.within)
        self.compute(op, f"intrin={self.names(op.intrin)}", f"within=[{data}, {len(op.within) - data}]")

    def compute(self, op: ComputeOp, *more: str) -> None:
        self.new_sizes(op, op.expressions())
        shape = self.shape(op)
        arguments = ", ".join(self.names.give(axis.var) for axis in op.axis)
        inside = [f"{self.names.give(axis.var)} = {self.reduce_axis(axis)}" for axis in op.reduce_axis]
        inside += self.large_parts(op)
        result = self.body(op)
        names = [axis.name for axis in op.axis]
        own = [] if names == [self.names(axis.var) for axis in op.axis] else [f"varargs_names={names!r}"]
        formula = f"lambda {arguments}: {result}".replace("lambda :", "lambda:")
        if inside:
            formula = self.names.give(op)
            self.lines += [f"def {formula}({arguments}):", *(f"    {line}" for line in [*inside, f"return {result}"])]
        for axis in (*op.axis, *op.reduce_axis):
            self.names.release(axis.var)
        for name in self.text.parts.values():
            self.names.taken.discard(name)
        self.text.parts.clear()
        self.names.release(op)
        self.define(op, f"te.compute({', '.join([shape, formula, self.notes(op), *own, *more])})")

    def define(self, op: Operation, value: str) -> None:
        self.lines.append(f"{', '.join(map(self.tensor, op.outputs))} = {value}")

    def shape(self, op: Operation) -> str:
        """Return the shape of the results; that of several states need not be given."""
        extents = op.outputs[0].shape
        self.new_sizes(op, extents)
        return _tuple(list(map(self.text, extents)))

    def new_sizes(self, op: Operation, exprs: Any) -> None:
        """Write the variables that are first named here; those of the operation's own axes and reducers are not."""
        own = {axis.var for axis in (*op.axis, *op.reduce_axis)} if isinstance(op, ComputeOp) else set[E.Var]()
        for node in (node for expr in exprs for node in walk(expr)):
            if isinstance(node, E.Var) and node not in own and node not in self.sizes:
                self.sizes[node] = None
                kind = "var" if node.min is None else "size_var"
                self.lines.append(f"{self.names.give(node)} = te.{kind}({node.name!r}, {str(node.dtype)!r})")

    def notes(self, op: Operation) -> str:
        """Return the arguments that are names and notes."""
        noted = {"name": op.name} | ({"tag": op.tag} if op.tag else {}) | ({"attrs": op.attrs} if op.attrs else {})
        return ", ".join(f"{name}={self.literal(op, value)}" for name, value in noted.items())

    def literal(self, op: Operation, value: Any) -> str:
        text = repr(value)
        try:
            if ast.literal_eval(text) == value:
                return text
        except (ValueError, SyntaxError):
            pass
        raise UserError(f"te.save: attrs of '{op.name}'", f"{text} is no literal", "numbers, strings, lists, dicts")

    def listed(self, variables: Iterable[E.Var]) -> str:
        return ", ".join(map(self.names, variables))

    def tensor(self, tensor: Tensor) -> str:
        return self.names(self.buffer(tensor))

    def buffer(self, tensor: Tensor) -> Buffer:
        """Return the memory that stands for a tensor in the notation of formulas."""
        if tensor not in self.memory:
            self.memory[tensor] = Buffer(tensor.name, tensor.shape, tensor.dtype)
        return self.memory[tensor]

    def loaded(self, expr: Expr) -> Expr:
        return rewrite_expr(expr, {E.TensorRead: lambda read: make.load(self.buffer(read.tensor), read.indices)})

    def expr(self, expr: Expr) -> str:
        return self.text(self.loaded(expr))

    def reduce_axis(self, axis: IterVar) -> str:
        """Return the declaration of an axis; te.Range where the end is not its extent."""
        low, extent = domain(axis)
        ends = f"({self.expr(low)}, {self.expr(extent)})"
        plain = isinstance(low, E.Const) and low.value == 0
        return f"te.reduce_axis({ends if plain else f'te.Range{ends}'}, {axis.name!r})"

    def large_parts(self, op: ComputeOp) -> Iterator[str]:
        """Yield the lines that name parts of a large formula."""
        for number, part in enumerate(parts(list(map(self.loaded, _formulas(op))))):
            text = self.text(part)
            self.text.parts[part] = name = self.names.give(part, f"part{number}")
            del self.names.names[part]
            yield f"{name} = {text}"

    def body(self, op: ComputeOp) -> str:
        first = op.body[0]
        if isinstance(first, E.Reduce):
            return self.reduce(first)
        values = ", ".join(map(self.expr, op.body))
        return values if len(op.body) == 1 else f"({values})"

    def reduce(self, node: E.Reduce) -> str:
        sources = ", ".join(map(self.expr, node.source))
        given = [sources if len(node.source) == 1 else f"({sources})"]
        given.append(f"axis=[{', '.join(self.names(axis.var) for axis in node.axes)}]")
        if node.condition is not make.TRUE:
            given.append(f"where={self.expr(node.condition)}")
        if node.init:
            given.append(f"init=[{', '.join(map(self.expr, node.init))}]")
        return f"{self.reducer(node)}({', '.join(given)})"

    def reducer(self, node: E.Reduce) -> str:
        """Return how a reducer is written: one of te's, or one of the user's own, which is written before."""
        known = PREDEFINED.get(node.combiner.name)
        if known is not None and known.makes(node.combiner):
            return f"te.{known.name}"
        if node.combiner not in self.reducers:
            self.reducers[node.combiner] = self.own_reducer(node.combiner)
        return self.reducers[node.combiner]

    def own_reducer(self, combiner: E.Combiner) -> str:
        operands = (*combiner.lhs, *combiner.rhs)
        arguments = ", ".join(self.names.give(var) for var in operands)
        join, identity = (_tuple(list(map(self.text, part))) for part in (combiner.result, combiner.identity))
        dtypes = [str(var.dtype) for var in combiner.lhs]
        for var in operands:
            self.names.release(var)
        name = self.names.give(combiner)
        formula = f"lambda {arguments}: {join}, lambda: {identity}"
        self.lines.append(f"{name} = te.comm_reducer({formula}, {combiner.name!r}, {dtypes!r})")
        return name


def _tuple(parts: list[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _formulas(op: ComputeOp) -> Iterator[Expr]:
    for value in op.body:
        if isinstance(value, E.Reduce):
            yield from (*value.source, value.condition, *value.init)
        else:
            yield value


_WRITE: Final[dict[type[Operation], Callable[[_Computation, Any], None]]] = {
    PlaceholderOp: _Computation.placeholder,
    ComputeOp: _Computation.compute,
    TensorComputeOp: _Computation.tensor_compute,
    ScanOp: _Computation.scan,
    ExternOp: _Computation.extern,
    HybridOp: _Computation.extern,
}
