"""A row of the table: a name of TVM's, and a program that uses it."""

from __future__ import annotations

from textwrap import dedent
from typing import NamedTuple

from tecomp.errors import TecompError
from tecomp_runtime import CallError

from .kit import kit


class Row(NamedTuple):
    """A program runs in the names of the kit; it passes, or is refused by an error of tecomp."""

    name: str
    program: str

    def result(self) -> str:
        """Run the program; return what came of it: works, or refused with the first line of the message."""
        try:
            exec(compile(self.program, "<parity>", "exec"), kit())
        except (TecompError, CallError) as error:
            first = next(line for line in str(error).splitlines() if line.strip())
            why = f": {error.because}" if error.because else ""
            instead = f". Instead: {error.legal}" if error.legal else ""
            return f"refused: {first}{why}{instead}"
        except Exception as error:  # noqa: BLE001 (whatever it is, the table has to say it)
            return f"MISSING: {type(error).__name__}: {error}".splitlines()[0]
        return "works"


class Section(NamedTuple):
    """A part of the table, by the part of TE that it covers."""

    title: str
    rows: list[Row]


def section(title: str, text: str, more: list[Row] | None = None) -> Section:
    """Return the section of rows written `name :: program`; lines that go on are indented."""
    rows: list[Row] = []
    for line in dedent(text).strip().splitlines():
        if line.startswith("    "):
            last = rows.pop()
            rows.append(last._replace(program=f"{last.program}\n{line[4:]}"))
        elif line.strip():
            name, _, program = line.partition(" ::")
            rows.append(Row(name.strip(), program.strip()))
    return Section(title, [*rows, *(more or [])])
