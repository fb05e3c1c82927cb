"""Masked stores whose mask the optimiser found to be constant, as plain stores of the lanes that are meant.

    call void @llvm.masked.store.v4i16.p0(<4 x i16> %t, ptr align 2 %p, <4 x i1> <i1 true, i1 true, i1 false, i1 false>)

    %plain0 = shufflevector <4 x i16> %t, <4 x i16> poison, <2 x i32> <i32 0, i32 1>
    store <2 x i16> %plain0, ptr %p, align 1

Needed for LLVM before 23 on AVX-512 (llvm-project#179489): it joins the store with the truncation of its value, and
where one lane is left it stores that lane as wide as it was before, over its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, groupby

_STORE = re.compile(
    r"^ *(?:tail )?call void @llvm\.masked\.store\.\S+\("
    r"<(?P<lanes>\d+) x (?P<type>\w+)> (?P<value>%[^ ,]+), "
    r"ptr (?:[a-z]+(?:\([^)]*\))? |\d+ )*(?P<pointer>%[^ ,]+), (?:i32 \d+, )?"
    r"<\d+ x i1> <(?P<mask>[^>]*)>\)(?: #\d+)?(?P<notes>(?:, !\S+ !\S+)*)$",
    re.MULTILINE,
)


def plain_stores(source: str) -> str:
    """Return the LLVM IR `source`, as LLVM prints it, without masked stores of constant mask."""
    number = count()
    return _STORE.sub(lambda found: "\n".join(_stores(found, number)), source)


def _stores(found: re.Match[str], number: Iterator[int]) -> Iterator[str]:
    """Yield the instructions that store each run of neighbouring lanes."""
    lanes, element, value, pointer = found["lanes"], found["type"], found["value"], found["pointer"]
    bits = [bit.endswith("true") for bit in found["mask"].split(", ")]
    for stored, group in groupby(range(len(bits)), key=bits.__getitem__):
        run = list(group)
        if not stored:
            continue
        name, at = f"%plain{next(number)}", pointer
        if run[0]:
            at = f"{name}.at"
            yield f"  {at} = getelementptr {element}, ptr {pointer}, i64 {run[0]}"
        chosen = ", ".join(f"i32 {lane}" for lane in run)
        vector = f"<{lanes} x {element}>"
        yield f"  {name} = shufflevector {vector} {value}, {vector} poison, <{len(run)} x i32> <{chosen}>"
        yield f"  store <{len(run)} x {element}> {name}, ptr {at}, align 1{found['notes']}"
