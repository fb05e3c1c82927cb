"""Vector statements as CUDA C++: lanes moved together where that is proved possible, a loop over lanes for the rest.

    const Vec<float, 4> A_v = vec<4>(A + i * 4);
    Vec<float, 4> C_v;
    for (int lane = 0; lane < 4; ++lane) {
      C_v[lane] = A_v[lane] + 1.0f;
    }
    vec<4>(C + i * 4) = C_v;

All lanes are read before any is written.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..errors import InternalError
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Let, Seq, Store
from ..ir.visit import rewrite_expr, walk
from .cuda_expr import is_regroup
from .cuda_index import narrowed
from .cuda_types import C_TYPES
from .cuda_vector import Access, access, wide_loads
from .cuda_writer import Writer
from .precedence import RANKS, Text


def vector_let(out: Writer, node: Let) -> None:
    """Print a variable with lanes."""
    name = out.scopes.declare(node.var.name)
    out.line(f"Vec<{C_TYPES[node.var.dtype.element]}, {node.var.dtype.lanes}> {name};")
    wide = _load_wide(out, node.value)
    with _lanes(out, node.var.dtype.lanes, wide) as lane:
        out.line(f"{name}[{lane}] = {out.text(node.value)};")
    out.exprs.names[node.var] = name


def named_wholes(out: Writer, root: Expr) -> Expr:
    """Give each vector a name whose bits `root` takes as other lanes; return `root` over these names."""
    known: dict[Expr, Expr] = {}

    def name(node: E.Call) -> Expr:
        if not is_regroup(node) or isinstance(node.args[0], E.Var):
            return node
        whole = node.args[0]
        if whole not in known:
            known[whole] = var = E.Var("whole", whole.dtype)
            declare(out, var, whole)
        return node.with_operands([known[whole]])

    return rewrite_expr(root, {E.Call: name})


def declare(out: Writer, var: E.Var, value: Expr) -> None:
    """Print a variable, of one lane or several."""
    if var.dtype.lanes > 1:
        vector_let(out, Let(var, value, Seq(())))
        return
    text = out.text(value)
    name = out.exprs.names[var] = out.scopes.declare(var.name)
    out.line(f"const {C_TYPES[var.dtype]} {name} = {text};")


def vector_store(out: Writer, node: Store) -> None:
    """Print a store of lanes; its mask is tested lane by lane where it is not known to hold."""
    to = access(node.buffer, node.indices) if out.exprs.holds(node.mask) else None
    if to is None:
        _one_by_one(out, node)
        return
    source = _source(out, node.value)
    if source is not None and source.template == to.template:
        out.assign(_together(out, to), _together(out, source), node.loc)
        return
    if to.in_registers:
        _one_by_one(out, node)
        return
    wide = _load_wide(out, node.value)
    name = out.scopes.declare(f"{out.exprs.names[node.buffer]}_v")
    out.line(f"{to.type} {name};")
    with _lanes(out, to.lanes, wide) as lane:
        out.line(f"{name}[{lane}] = {out.text(node.value)};")
    out.assign(_together(out, to), Text(name), node.loc)


def _source(out: Writer, value: Expr) -> Access | None:
    """Return how a value that is nothing but a load is moved."""
    if not isinstance(value, E.Load) or not out.exprs.holds(value.mask):
        return None
    return access(value.buffer, value.indices)


def _one_by_one(out: Writer, node: Store) -> None:
    lanes = node.value.dtype.lanes
    wide = _load_wide(out, node.value)
    if not _reads_itself(node, wide):
        with _lanes(out, lanes, wide), out.where(node.mask):
            out.update(node)
        return
    name = out.scopes.declare(f"{out.exprs.names[node.buffer]}_v")
    out.line(f"Vec<{C_TYPES[node.value.dtype.element]}, {lanes}> {name};")
    with _lanes(out, lanes, wide) as lane, out.where(node.mask):
        out.line(f"{name}[{lane}] = {out.text(node.value)};")
    with _lanes(out, lanes, {}) as lane, out.where(node.mask):
        out.name_parts(*node.indices)
        out.assign(out.element(node), Text(f"{name}[{lane}]"), node.loc)


def _reads_itself(node: Store, wide: dict[Expr, str]) -> bool:
    """Return whether a lane may read what another lane stores to; InternalError where a mask or an index does."""
    where = (node.mask, *node.indices)
    if any(_loads(root, node) for root in where):
        raise InternalError("a vector store whose mask or index reads what it stores to", ir=repr(node))
    return any(load not in wide and load.indices != node.indices for load in _loads(node.value, node))


def _loads(root: Expr, node: Store) -> list[E.Load]:
    return [part for part in walk(root) if isinstance(part, E.Load) and part.buffer is node.buffer]


def _load_wide(out: Writer, root: Expr) -> dict[Expr, str]:
    """Load what several lanes of `root` read together; return the variables that hold it."""
    names: dict[Expr, str] = {}
    for node, found in wide_loads([root], {make.TRUE, *out.exprs.held}):
        text = _together(out, found)
        names[node] = out.scopes.declare(f"{out.exprs.names[node.buffer]}_v")
        out.line(f"const {found.type} {names[node]} = {text};")
    return names


@contextmanager
def _lanes(out: Writer, count: int, wide: dict[Expr, str]) -> Generator[str]:
    """Open the loop over the lanes; yield its variable."""
    out.line("#pragma unroll")
    with out.scopes.block():
        lane = out.scopes.declare("lane")
        with out.block(f"for (int {lane} = 0; {lane} < {count}; ++{lane})"):
            out.exprs.lane = lane
            out.exprs.known.update({node: Text(f"{name}[{lane}]") for node, name in wide.items()})
            yield lane


def _together(out: Writer, found: Access) -> Text:
    """Return the text of several lanes: vec<4>(A + i * 4), or the vector that they are."""
    name = out.exprs.names[found.buffer]
    if found.base is None:
        return Text(name)
    text = out.text(narrowed(found.base))
    if found.in_registers:
        return Text(f"{name}[{text}]")
    start = name if text.text == "0" else f"{name} + {text.at(RANKS['+'])}"
    return Text(f"vec<{found.template}>({start})")
