"""One kernel: the thread loops of a nest joined into one variable for each thread axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..arith import NO_FACTS, Facts, bounds_of, can_prove, simplify
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import Range
from ..ir.foreign import has_effect, is_opaque
from ..ir.instruction import is_of_thread
from ..ir.matrix import is_matrix_call
from ..ir.node import Expr
from ..ir.stmt import Across, Alloc, Evaluate, For, If, Launch, Let, LoopKind, Note, Seq, Stmt, Store
from ..ir.subst import substitute_stmt
from ..ir.visit import walk
from .accesses import allocated, bound_vars, has, joined_across, repeatable, stored, uses
from .events import is_barrier
from .hoist import one_guard
from .kernel_checks import check_kernel, check_local, last_store, writer_tags
from .private import privatised
from .sink import sink_guards
from .warps import by_warps, warp_of

Tells = dict[E.Var, frozenset[E.Var]]
"""By thread axis, the variables whose values tell its threads apart: its own, and those computed from it."""
PRIVATE: Final = {"local": frozenset[str](), "warp": frozenset(["threadIdx.x"])}
"""The memories of single threads, and along which axes these read each other's nevertheless."""
TAGS: Final = ("blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z")


def kernel(root: Stmt) -> Launch:
    """Return the kernel that `root` begins: the outermost thread loop, or a reduction that threads share out.

    Loops on one axis with different extents share the greatest; the others get a guard. Threads that reduce are one at
    least, since a reduction over nothing has a result too. Raises ScheduleError where threads would do another's work,
    or share what they cannot.
    """
    check_kernel(root)
    inside = bound_vars(root)
    loops = [node for node in walk(root) if isinstance(node, For) and node.kind is LoopKind.THREAD]
    extents = [(loop.thread, _uniform(loop, inside)) for loop in loops]
    extents += [(tag, make.const(1, INDEX)) for node in walk(root) if isinstance(node, Across) for tag in node.threads]
    extents += warp_of(root)
    found = {tag: _thread(tag, [extent for thread, extent in extents if thread == tag]) for tag in TAGS}
    threads = {tag: var for tag, var in found.items() if var is not None}
    wide = _called_once(sink_guards(_widened(root, threads)), threads)
    body = _joined(wide, threads, writer_tags(wide))
    body = _one_writer(body, threads, NO_FACTS, {var: frozenset([var]) for var in threads.values()})
    return Launch(tuple(threads.items()), privatised(body, threads), loc=root.loc)


def _uniform(loop: For, inside: set[E.Var]) -> Expr:
    """Return an extent for a thread loop that the host can compute: the greatest its own takes inside the kernel."""
    extent = loop.extent
    if not uses(extent, inside) and repeatable(extent):
        return extent
    ranges = {var: Range(var.min, var.extent) for var in inside if var.min is not None and var.extent is not None}
    _, last = bounds_of(extent, ranges)
    if last is None or uses(last, inside) or not repeatable(last):
        raise ScheduleError(
            f"a loop of {loop.thread} has the extent {extent!r}",
            because="it changes inside the kernel without a known upper bound",
            legal="bind a loop of constant extent, such as the inner one of a split by a factor",
            location=loop.loc,
        )
    return last


def _thread(tag: str, extents: list[Expr]) -> E.Var | None:
    """Return the variable of a thread axis, over the greatest of the extents asked for; None where none is."""
    if not extents:
        return None
    greatest = extents[0]
    for extent in extents[1:]:
        if can_prove(make.le(extent, greatest)):
            continue
        greatest = extent if can_prove(make.le(greatest, extent)) else make.maximum(greatest, extent)
    return E.Var(tag.replace(".", "_"), INDEX, make.const(0, INDEX), simplify(greatest))


def _widened(node: Stmt, threads: dict[str, E.Var]) -> Stmt:
    """Let every thread loop run from 0 over all threads of its axis, behind a guard where it asked for fewer."""
    new = node.map(lambda part: _widened(part, threads), lambda expr: expr)
    if not (isinstance(new, For) and new.kind is LoopKind.THREAD):
        return new
    axis = threads[new.thread]
    var = E.Var(new.var.name, INDEX, axis.min, axis.extent)
    only = isinstance(new.extent, E.Const) and new.extent.value == 1
    body = substitute_stmt(new.body, {new.var: new.min if only else make.add(new.min, var)})
    assert axis.extent is not None
    if not can_prove(make.le(axis.extent, new.extent)):
        body = If(make.lt(var, new.extent), body, loc=new.loc)
    return new.copy(var=var, body=body)


def _called_once(node: Stmt, others: dict[str, E.Var]) -> Stmt:
    """Let one thread of each axis that no loop around names (`others`) make a call that may do anything.

    f(address(S, 'w'))  ->  if threadIdx_x == 0: f(address(S, 'w'))

    What a warp does together its threads do all of them.
    """
    if isinstance(node, Evaluate) and is_matrix_call(node.value):
        return by_warps(node, others)
    if isinstance(node, Evaluate) and has_effect(node.value) and others:
        first = (make.eq(var, make.const(0, INDEX)) for var in others.values())
        return If(make.logical_and(*first), node, loc=node.loc)
    if isinstance(node, For) and node.kind is LoopKind.THREAD:
        others = {tag: var for tag, var in others.items() if tag != node.thread}
    return node.map(lambda part: _called_once(part, others), lambda expr: expr)


def _joined(node: Stmt, threads: dict[str, E.Var], writers: Mapping[Alloc, frozenset[str]]) -> Stmt:
    """Replace the thread loops by the kernel's variables; inside a kernel, parallel loops are serial."""
    new = node.map(lambda part: _joined(part, threads, writers), lambda expr: expr)
    if isinstance(node, Alloc) and isinstance(new, Alloc) and node.buffer.scope in PRIVATE:
        tags = writers[node] - joined_across(node) - PRIVATE[node.buffer.scope]
        check_local(new, [threads[tag] for tag in tags], tags)
    if isinstance(new, For) and new.kind is LoopKind.PARALLEL:
        return new.copy(kind=LoopKind.SERIAL)
    if isinstance(new, For) and new.kind is LoopKind.THREAD:
        return substitute_stmt(new.body, {new.var: threads[new.thread]})
    return new


def _one_writer(node: Stmt, threads: dict[str, E.Var], facts: Facts, tells: Tells) -> Stmt:
    """Let one thread do what all threads of an axis would do alike: whole statements, and each store where those wait.

    S[k] = A[k]  ->  if threadIdx_x == 0: S[k] = A[k]      S in shared memory
    """
    alike = [var for var in threads.values() if not _one(var, facts) and _all_alike(node, tells[var])]
    if alike:
        first = make.logical_and(*(_first(var, facts, node) for var in alike))
        return If(first, _one_writer(node, threads, facts.assume(first), tells), loc=node.loc)
    if isinstance(node, If) and _of_thread(node.condition):
        return node
    if isinstance(node, If):
        sides = {node.then: facts.assume(node.condition)}
        if node.otherwise is not None:
            sides[node.otherwise] = facts.assume(make.logical_not(node.condition))
        return node.map(lambda part: _one_writer(part, threads, sides[part], tells), lambda expr: expr)
    if isinstance(node, Store) and isinstance(node.buffer, Note):
        return node
    if isinstance(node, Store) and (node.buffer.is_shared or node.buffer.scope == "global"):
        return _guard_store(node, threads, facts, tells)
    if isinstance(node, Let):
        own = _of_thread(node.value)
        tells = {var: names | {node.var} if own or uses(node.value, names) else names for var, names in tells.items()}
    new = node.map(lambda part: _one_writer(part, threads, facts, tells), lambda expr: expr)
    return _guard_let(new) if isinstance(new, Let) and new is not node else new


def _all_alike(node: Stmt, names: frozenset[E.Var]) -> bool:
    """Return whether a statement leaves nothing but values in global memory, the same whatever `names` are."""
    if isinstance(node, Store) or uses(node, names) or _calls(node) or has(node, Across) or _waits(node):
        return False
    own = {buffer for buffer in allocated(node) if buffer.scope == "local"}
    written = stored(node) - own
    return bool(written) and all(buffer.scope == "global" for buffer in written)


def _waits(node: Stmt) -> bool:
    """Return whether threads meet in a statement: all of them come there."""
    return any(isinstance(below, Evaluate) and is_barrier(below) for below in walk(node))


def _calls(node: Stmt) -> bool:
    """Return whether a statement calls what may do anything: as often as it says, by whatever threads."""
    return any(map(is_opaque, walk(node)))


def _of_thread(value: Expr) -> bool:
    """Return whether an instruction gives each thread a value of its own."""
    return any(map(is_of_thread, walk(value)))


def _guard_let(node: Let) -> Stmt:
    """A value for a store that one thread does is computed by that thread only."""
    body = one_guard(node.body) if isinstance(node.body, Seq) else node.body
    if isinstance(body, If) and body.otherwise is None and not uses(body.condition, {node.var}):
        return body.copy(then=_guard_let(node.copy(body=body.then)))
    return node if body is node.body else node.copy(body=body)


def _guard_store(store: Store, threads: dict[str, E.Var], facts: Facts, tells: Tells) -> Stmt:
    named = {node for index in store.indices for node in walk(index)}
    result: Stmt = store
    for tag, var in threads.items():
        apart = store.buffer.is_shared and tag.startswith("blockIdx")
        if not named.isdisjoint(tells[var]) or apart or _one(var, facts):
            continue
        if uses(store.value, tells[var]):
            _refuse_race(store, tag)
        result = If(_first(var, facts, store), result, loc=store.loc)
    return result


def _one(var: E.Var, facts: Facts) -> bool:
    """Return whether a thread axis has one value only where `facts` hold."""
    return facts.term_interval(var).value is not None


def _first(var: E.Var, facts: Facts, node: Stmt) -> Expr:
    """Return the condition of the first thread of an axis to come to `node`, where `facts` hold."""
    if any(form.terms.get(var, 0) > 0 for form in facts.inequalities):
        raise ScheduleError(
            f"several threads write one element of {last_store(node)}",
            because=f"which values of {var.name} come to it depends on other loops",
            legal="bind an axis of the stage's data",
            location=node.loc,
        )
    return make.eq(var, make.const(facts.term_interval(var).lo or 0, INDEX))


def _refuse_race(store: Store, tag: str) -> None:
    raise ScheduleError(
        f"several threads write one element of {store.buffer.name}",
        because=f"the value depends on {tag}, the element does not",
        legal="bind an axis of the stage's data, not one it reduces",
        location=store.loc,
    )
