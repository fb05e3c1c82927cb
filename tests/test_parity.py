"""docs/parity.md: every name of TVM's TE, with a program that uses it and what came of that, run each time.

`make golden` writes the table. A name that neither works nor is refused by a message of ours fails.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.parity import driver, functions, graph, objects, primitives
from tests.parity.row import Row, Section

DOCUMENT = Path(__file__).parent.parent / "docs" / "parity.md"
SECTIONS = (*graph.SECTIONS, *functions.SECTIONS, *objects.SECTIONS, *primitives.SECTIONS, *driver.SECTIONS)

HEAD = """\
# TE of TVM v0.19, and what becomes of it here

Every name, primitive and option of TVM's last TE, with a program that uses it. `import tecomp as tvm`, `from tecomp
import te, tir`; in each program `C[i]` is the sum over `k` of `B[i, k]`, `B` is `A * 2 + 1`, and `s`, `t`, `u` are the
schedules of `C`, of `D = B - 3`, and of `Y = X * 2 + 1`, which has a symbolic size `n`. `check` runs a program and
compares it with NumPy.

The table is made by `tests/test_parity.py`, which runs every program: *works* means that it ran and gave what NumPy
gives, *refused* is the message, with what to write instead.
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ⏎ ")


def line(row: Row, result: str) -> str:
    return f"| {cell(row.name)} | {cell(result)} | `{cell(row.program)}` |"


def table(part: Section, results: list[str]) -> str:
    lines = [line(row, result) for row, result in zip(part.rows, results, strict=True)]
    return "\n".join([f"## {part.title}", "", "| name | here | program |", "|---|---|---|", *lines])


def test_the_table(request: pytest.FixtureRequest) -> None:
    results = [[row.result() for row in part.rows] for part in SECTIONS]
    kinds = Counter(result.partition(":")[0] for part in results for result in part)
    counted = f"{kinds['works']} work, {kinds['refused']} are refused."
    text = "\n\n".join([f"{HEAD}\n{counted}", *map(table, SECTIONS, results)]) + "\n"
    if request.config.getoption("--update-goldens"):
        DOCUMENT.parent.mkdir(exist_ok=True)
        DOCUMENT.write_text(text)
    missing = [entry for entry in text.splitlines() if "MISSING" in entry]
    assert not missing, "\n".join(missing)
    assert DOCUMENT.read_text() == text, "docs/parity.md is not what the programs give now: make golden"


def test_no_name_stands_twice_in_a_section() -> None:
    for part in SECTIONS:
        names = Counter(row.name for row in part.rows)
        assert not [name for name, count in names.items() if count > 1], part.title
