"""Whether the simulator and compute-sanitizer say the same of every case of the corpus. It needs a GPU.

    python -m tests.sim.agreement [--only NAME] [--jobs N]

A case with a fault runs in a process of its own under the tool that is to report it; the cases without run together,
under each tool. Whoever has another verdict than the others stands in the table with what the tool said.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import tecomp
from tecomp.ir import parse
from tecomp.sim import SimulationFault

from .corpus import CORPUS, TOOLS, Case
from .sanitizer import arguments, reported, right

ALIKE = {"async": "race"}
"""What the simulator has a word of its own for, and racecheck calls a race: what a copy touches that has not ended."""
TOGETHER = 25
"""Cases without a fault that share a process."""
_LINE = "{:40} {:14} {:10} {:14} {:14} {}\n"


class Verdict(NamedTuple):
    """What a tool reports of a case, and what the simulator does."""

    case: Case
    tool: str
    reported: str
    said: str
    simulated: str

    @property
    def agrees(self) -> bool:
        """Whether both report the fault that was planted, or the only one that looks does."""
        return self.simulated == self.case.fault and (not self.tool or self.reported == self.case.fault)


def simulated(case: Case) -> str:
    """Return the kind of fault that the simulator reports; none where it runs through, and the result is right."""
    given = arguments(case)
    try:
        tecomp.build(parse(case.text), target="cuda-sim -arch=sm_90a")(*given)
    except SimulationFault as fault:
        kinds = [ALIKE.get(one.kind, one.kind) for one in fault.faults]
        return "race" if "race" in kinds else kinds[0]  # a thread that races may read what is not yet written
    return "" if right(case, given) else "wrong result"


def asked(tool: str, cases: Sequence[Case]) -> list[tuple[Case, str, str, str]]:
    """Return (case, tool, what it reports, its text). Where it reports something of many, each half runs again."""
    kind, said = reported(tool, cases)
    if not kind or len(cases) == 1:
        return [(case, tool, kind, said) for case in cases]
    middle = len(cases) // 2
    return asked(tool, cases[:middle]) + asked(tool, cases[middle:])


def tools_verdicts(cases: Sequence[Case], jobs: int) -> list[tuple[Case, str, str, str]]:
    """Return (case, tool, what it reports, its text), for a case without a fault once a tool."""
    clean = [case for case in cases if not case.fault]
    starts = range(0, len(clean), TOGETHER)
    groups = [(tool, clean[start : start + TOGETHER]) for tool in TOOLS for start in starts]
    groups += [(case.tool, [case]) for case in cases if case.tool]
    with ThreadPoolExecutor(jobs) as pool:
        return [one for many in pool.map(lambda group: asked(*group), groups) for one in many]


def main() -> int:
    """Ask both of every case; return 1 where a tool and the simulator disagree."""
    parser = argparse.ArgumentParser(description="the simulator beside compute-sanitizer")
    parser.add_argument("--only", default="", metavar="NAME", help="cases whose name begins so")
    parser.add_argument("--jobs", type=int, default=8, help="processes at once")
    given = parser.parse_args()
    start = time.perf_counter()
    cases = [case for case in CORPUS if case.name.startswith(given.only)]
    found = tools_verdicts(cases, given.jobs)
    found += [(case, "", "", "") for case in cases if case.fault and not case.tool]
    own = {case.name: simulated(case) for case in cases}
    verdicts = [Verdict(*one, own[one[0].name]) for one in found]
    _print(verdicts)
    agreed = sum(verdict.agrees for verdict in verdicts)
    alarms = sum(own[case.name] != "" for case in cases if not case.fault)
    misses = sum(own[case.name] != case.fault for case in cases if case.fault)
    sys.stdout.write(
        f"{len(cases)} cases, {agreed} of {len(verdicts)} verdicts agree, {alarms} false alarms, {misses} misses, "
        f"{time.perf_counter() - start:.0f} s\n"
    )
    return int(any(verdict.tool and not verdict.agrees for verdict in verdicts))


def _print(verdicts: Sequence[Verdict]) -> None:
    sys.stdout.write(_LINE.format("case", "planted", "tool", "reported", "simulated", ""))
    for one in verdicts:
        shown = [kind or "-" for kind in (one.case.fault, one.tool, one.reported, one.simulated)]
        sys.stdout.write(_LINE.format(one.case.name, *shown, "" if one.agrees else "DISAGREE"))
    for one in verdicts:
        if not one.agrees:
            sys.stdout.write(f"\n{one.case.name} under {one.tool or 'nothing'}:\n{one.said[-1500:]}\n")


if __name__ == "__main__":
    sys.exit(main())
