"""A hybrid function in a program: its perfect nest as the schedule has it, around what stands inside.

for i in range(n):                    for i_outer in range((n + 3) // 4):      # split(i, 4)
    b[i] = a[i] + 1        ->             for i_inner in range(4):
                                              if i_outer * 4 + i_inner < n:
                                                  B[i_outer * 4 + i_inner] = A[i_outer * 4 + i_inner] + 1
"""

from __future__ import annotations

from collections.abc import Iterator

from ..arith import can_prove
from ..bounds.program import Program
from ..dtype import INDEX
from ..errors import UserError
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, LoopKind, Stmt
from ..ir.visit import rewrite, rewrite_expr, walk
from ..te.hybrid import HybridOp
from .nest import Nest
from .opaque import placed
from .storage import Storage


def hybrid_nest(op: HybridOp, nest: Nest, storage: Storage) -> Stmt:
    """Return the body of `op` over the memory of its tensors, in the loops of its stage."""
    program = storage.program
    inputs = dict(zip(op.input_placeholders, op.inputs, strict=True))
    inlined = {buffer: tensor for buffer, tensor in inputs.items() if program.is_inlined(tensor)}
    before = {buffer: _allocated(buffer, program) for buffer in op.before}
    memory = before | {buffer: storage.buffer(tensor) for buffer, tensor in inputs.items() if buffer not in inlined}
    memory |= {buffer: storage.buffer(out) for buffer, out in zip(op.output_placeholders, op.outputs, strict=True)}

    def read(node: E.Load) -> Expr:
        """Return the formula of an element of an inlined stage; its choices are lazy, for they may protect reads."""
        tensor = inlined.get(node.buffer)
        if tensor is None:
            return node
        return rewrite_expr(program.inlined(E.TensorRead(tensor, node.indices)), {E.Select: _lazy})

    core = rewrite(op.core, {E.Load: read}) if inlined else op.core
    values = {axis.var: nest.stage.values[axis] for axis in op.spine}
    result = nest.around(rewrite(placed(core, program.indexer, memory, values), {E.TensorRead: storage.load}))
    for buffer in reversed(before.values()):
        result = Alloc(buffer, result, loc=buffer.loc)
    return _in_one_kernel(result)


def _allocated(old: Buffer, program: Program) -> Buffer:
    """Return memory of the program for what the function allocates."""
    shape = tuple(map(program.indexer.extent, old.shape))
    return Buffer(old.name, shape, old.dtype, old.scope, loc=old.loc)


def _in_one_kernel(node: Stmt) -> Stmt:
    """Put the loops over threads that pass values through memory of a block, or a thread, into one block.

    t: f32[64] in shared                      for block in blockIdx.x(1):
    for i in threadIdx.x(64): t[i] = ...  ->      t: f32[64] in shared
    for i in threadIdx.x(64): b[i] = t[...]       for i in threadIdx.x(64): ...
    """
    if isinstance(node, For) and node.kind is LoopKind.THREAD:
        return node
    if not isinstance(node, Alloc) or node.buffer.scope == "global":
        return node.map(_in_one_kernel, lambda expr: expr)
    tags = [below.thread for below in walk(node) if isinstance(below, For) and below.kind is LoopKind.THREAD]
    block = next((tag for tag in tags if tag.startswith("blockIdx")), None)
    if block is not None:
        raise UserError(
            f"{node.buffer.scope} memory '{node.buffer.name}' outside the loop over {block}",
            because="each block has its own, which lasts as long as the block",
            legal=f"make it inside the loop over {block}",
            location=node.loc,
        )
    var = E.Var("block", INDEX, make.const(0, INDEX), make.const(1, INDEX))
    return For(var, LoopKind.THREAD, node, "blockIdx.x", loc=node.loc) if tags else node


def _lazy(node: E.Select) -> Expr:
    return make.if_then_else(node.condition, node.yes, node.no)


def required(program: Program) -> Iterator[tuple[Expr, str]]:
    """Yield what hybrid functions assert of sizes and scalars."""
    for op in program.ops:
        for condition, reason in op.requires if isinstance(op, HybridOp) else ():
            exact = program.indexer.data(condition, {})
            if not can_prove(exact):
                yield exact, reason
