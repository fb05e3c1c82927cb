"""Every refusal has a test: after the whole suite ran, each place that makes an error of the user's was reached.

The places are the calls of UserError and its kin in the source, found by their syntax tree; a refusal was reached
when its constructor ran while a test did. Whether the message is right is what the tests themselves assert.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from tecomp import errors
from tests import suite

ROOT = Path(__file__).parent.parent
KINDS = ("UserError", "UserTypeError", "ScheduleError", "UnsupportedError")
MOST_WITHOUT_TEST = 0
"""How many refusals may have no test. It only ever falls."""


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Refusals(), "refusals")


def refusal_sites() -> dict[str, range]:
    """Return the lines of each call that makes a refusal, by "file:line"."""
    found: dict[str, range] = {}
    for path in sorted((ROOT / "tecomp").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                assert node.end_lineno is not None
                file = str(path.relative_to(ROOT))
                found[f"{file}:{node.lineno}"] = range(node.lineno, node.end_lineno + 1)
    return found


def unreached(sites: dict[str, range], seen: set[str]) -> list[str]:
    """Return the sites that no seen "file:line" lies in."""
    lines = [(file, int(line)) for file, _, line in (place.rpartition(":") for place in seen)]
    return [
        site
        for site, span in sites.items()
        if not any(file == site.rpartition(":")[0] and line in span for file, line in lines)
    ]


class Refusals:
    """Records where errors are made, for as long as the tests run."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.missing: list[str] = []
        self.original = errors.TecompError.render

    def pytest_sessionstart(self) -> None:
        seen, original = self.seen, self.original

        def render(self: errors.TecompError) -> str:
            """Note who constructs the error: the first frame above the constructors, which call this."""
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_locals.get("self") is self:
                frame = frame.f_back
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT):
                seen.add(f"{path.relative_to(ROOT)}:{frame.f_lineno}")
            return original(self)

        errors.TecompError.render = render

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.seen |= suite.received(node, "refusals")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        errors.TecompError.render = self.original
        if suite.is_worker(session.config):
            suite.send(session.config, "refusals", self.seen)
        elif suite.whole(session):
            self.missing = unreached(refusal_sites(), self.seen)
            if len(self.missing) > MOST_WITHOUT_TEST:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.missing:
            return
        allowed = f" ({MOST_WITHOUT_TEST} allowed)" if MOST_WITHOUT_TEST else ""
        terminalreporter.section(f"{len(self.missing)} refusals that no test reaches{allowed}")
        for site in self.missing:
            terminalreporter.line(site)
