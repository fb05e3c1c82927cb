"""Loops that are called independent are: every pair of iterations of random programs is compared."""

from __future__ import annotations

import itertools
import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.ir.axis import AxisKind

COUNT, SCHEDULED = 150, 25
SIZES = {"i": 3, "j": 4, "k": 2}
Index = Callable[[dict[str, int]], int]


def linear(draw: random.Random, names: list[str]) -> str:
    """Return an index over the loop variables that is never negative, nor 64 or more."""
    terms = [f"{draw.choice([1, 1, 2, 3, 4, 8])} * {name}" for name in names if draw.random() < 0.6]
    return " + ".join([*terms, str(draw.randrange(3))])


def index(draw: random.Random, names: list[str]) -> str:
    form = linear(draw, names)
    return draw.choice([form, form, form, f"({form}) // 2", f"({form}) % 5", f"min({form}, 6)"])


def program(draw: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Return the text of a function, and its accesses to b: (kind, index), both indices of an element as one tuple."""
    names = ["i", "j", "k"]
    write = [index(draw, names) for _ in range(2)]
    read = draw.choice([write, [index(draw, names) for _ in range(2)]])
    lines = [
        "def f(a):",
        "    b = output_tensor((64, 64), 'float32')",
        *(f"{'    ' * depth}for {name} in range({SIZES[name]}):" for depth, name in enumerate(names, 1)),
        f"                b[{', '.join(write)}] = a[0] if i == 0 else b[{', '.join(read)}] + 1.0",
        "    return b",
    ]
    accesses = [("w", f"({write[0]}, {write[1]})"), ("r", f"({read[0]}, {read[1]})")]
    return "\n".join(lines) + "\n", accesses


def function(source: str, number: int) -> Any:
    file = f"<dependence {number}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {}
    exec(compile(source, file, "exec"), scope)
    return te.hybrid.script(scope["f"])


def meets(accesses: list[tuple[str, str]], axis: str) -> bool:
    """Return whether iterations that differ in `axis` touch one element, one of them writing."""
    touched: dict[Any, set[tuple[str, int]]] = {}
    for values in itertools.product(*map(range, SIZES.values())):
        at = dict(zip(SIZES, values, strict=True))
        for kind, text in accesses:
            touched.setdefault(eval(text, {"min": min}, at), set()).add((kind, at[axis]))
    return any(
        first != second and "w" in (kind, other)
        for seen in touched.values()
        for (kind, first), (other, second) in itertools.product(seen, seen)
    )


def test_independent_loops_are_independent() -> None:
    draw = random.Random(11)
    independent = 0
    for number in range(COUNT):
        source, accesses = program(draw)
        op = function(source, number)(te.placeholder((1,), name="a")).op
        for axis in op.axis:
            assert axis.kind in (AxisKind.DATA, AxisKind.CARRIED)
            if axis.kind is AxisKind.DATA:
                assert not meets(accesses, axis.name), f"{axis.name} of\n{source}"
                independent += 1
    assert independent > 20


def primitives(draw: random.Random, stage: Any) -> None:
    """Apply some primitives; one that is refused changes nothing."""
    for _ in range(6):
        loops = list(stage.leaf_iter_vars)
        draw.shuffle(loops)
        verb = draw.choice(["split", "reorder", "fuse", "parallel", "vectorize", "unroll"])
        try:
            if verb == "split":
                stage.split(loops[0], factor=draw.choice([2, 3]))
            elif verb == "reorder":
                stage.reorder(*loops)
            else:
                getattr(stage, verb)(*(loops[:2] if verb == "fuse" else loops[:1]))
        except ScheduleError:
            continue


def result(s: Any, a: Any, b: Any) -> Any:
    """Return b as the program leaves it, of an element before it was written too."""
    found = np.zeros((64, 64), "float32")
    tecomp.build(s, [a, b])(np.ones(1, "float32"), found)
    return found


def test_schedules_keep_the_meaning() -> None:
    draw = random.Random(5)
    for number in range(SCHEDULED):
        source, _ = program(draw)
        a = te.placeholder((1,), name="a")
        b = function(source, number)(a)
        s = te.create_schedule(b.op)
        primitives(draw, s[b])
        np.testing.assert_array_equal(result(s, a, b), result(te.create_schedule(b.op), a, b), f"{s.text()}\n{source}")
