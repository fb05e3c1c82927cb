"""Golden files: `golden(text)` compares with tests/golden/<folder>/<file>/<test>.txt, named after the running test.

`--update-goldens` (make golden) writes them. A golden that no test asks for fails a run of the whole suite, or is
deleted by an update of the whole suite.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import suite

ROOT = Path(__file__).parent / "golden"

Golden = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write tests/golden from what the tests print now")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Goldens(), "goldens")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return `golden(text, name="")`: fail unless `text` is what the test's golden file holds.

    A test with several texts gives each a name.
    """
    if request.node.get_closest_marker("gpu"):
        pytest.fail("a golden text cannot depend on a GPU: take it from a test that runs everywhere")
    plugin: Goldens = request.config.pluginmanager.get_plugin("goldens")
    update: bool = request.config.getoption("--update-goldens")

    def check(text: str, name: str = "") -> None:
        path = golden_path(request.node.nodeid, name)
        plugin.used.add(str(path))
        want = path.read_text() if path.exists() else ""
        got = text.rstrip("\n") + "\n"
        if got == want:
            return
        if not update:
            pytest.fail(difference(want, got, path), pytrace=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(got)

    return check


def golden_path(nodeid: str, name: str = "") -> Path:
    """Return the file of a test: tests/ir/test_text.py::test_loop[a] -> golden/ir/text/loop-a.txt."""
    file, _, test = nodeid.partition("::")
    folder = Path(file.removeprefix("tests/")).with_suffix("")
    stem = re.sub(r"[^\w.+]+", "-", test.removeprefix("test_")).strip("-")
    return ROOT / folder.parent / folder.name.removeprefix("test_") / f"{stem}{name and '.'}{name}.txt"


def difference(want: str, got: str, path: Path) -> str:
    """Return what differs, line by line."""
    where = path.relative_to(ROOT.parent.parent)
    if not want:
        return f"{where} does not exist (make golden writes it); the text is:\n{got}"
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), str(where), "now", lineterm="")
    return "the text changed (make golden accepts it):\n" + "\n".join(lines)


class Goldens:
    """Which files were asked for, and which belong to tests that did not run to their end."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.excused: set[Path] = set()
        self.unused: list[Path] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.excused.add(golden_path(report.nodeid))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.used |= suite.received(node, "goldens")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if suite.is_worker(session.config):
            suite.send(session.config, "goldens", self.used)
            return
        if not suite.whole(session):
            return
        self.unused = [path for path in sorted(ROOT.rglob("*.txt")) if not self.wanted(path)]
        if session.config.getoption("--update-goldens"):
            for path in self.unused:
                path.unlink()
        elif self.unused:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def wanted(self, path: Path) -> bool:
        """Return whether a test asked for the file, or was skipped before it could."""
        skipped = any(path.parent == e.parent and path.name.startswith(e.stem) for e in self.excused)
        return str(path) in self.used or skipped

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        if not self.unused:
            return
        deleted = config.getoption("--update-goldens")
        terminalreporter.section("unused golden files" + (", deleted" if deleted else ": delete them, or make golden"))
        for path in self.unused:
            terminalreporter.line(str(path.relative_to(ROOT.parent.parent)))
