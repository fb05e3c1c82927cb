"""The suite's own checks: where a golden lies, and what counts as a refusal that a test reached."""

from __future__ import annotations

import pytest

from tests.goldens import ROOT, golden_path
from tests.refusals import refusal_sites, unreached


@pytest.mark.parametrize(
    ("nodeid", "name", "file"),
    [
        ("tests/ir/test_text.py::test_loop", "", "ir/text/loop.txt"),
        ("tests/ir/test_text.py::test_loop[a b/c]", "", "ir/text/loop-a-b-c.txt"),
        ("tests/ir/test_text.py::test_loop[f32]", "before", "ir/text/loop-f32.before.txt"),
        ("tests/test_tutorials.py::TestScan::test_ir", "", "tutorials/TestScan-test_ir.txt"),
    ],
)
def test_a_golden_is_named_after_its_test(nodeid: str, name: str, file: str) -> None:
    assert golden_path(nodeid, name) == ROOT / file


def test_a_refusal_is_reached_on_any_line_of_its_call() -> None:
    sites = {"a.py:10": range(10, 14), "a.py:20": range(20, 21), "b.py:10": range(10, 11)}
    assert unreached(sites, {"a.py:13", "b.py:11"}) == ["a.py:20", "b.py:10"]


def test_refusals_are_found_in_the_source() -> None:
    assert any(site.startswith("tecomp/ir/make.py:") for site in refusal_sites())
