"""What the README shows is what its programs print."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tecomp.errors import ScheduleError

README = Path(__file__).parent.parent / "README.md"


def block(language: str, start: str) -> str:
    """Return the README's block of code that starts with `start`."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)
    (found,) = [text for written_in, text in blocks if written_in == language and text.startswith(start)]
    return found


def run(program: str, path: Path) -> None:
    path.write_text(program)
    runpy.run_path(str(path))


def test_the_program_prints_its_lowered_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(block("python", "import tecomp"), tmp_path / "cumsum.py")
    assert capsys.readouterr().out == block("python", "def cumsum")


def test_the_refusal_is_what_its_program_raises(tmp_path: Path) -> None:
    program = "import tecomp\nfrom tecomp import te\n\nm, n = te.var('m'), te.var('n')\n" + block("python", "A = ")
    with pytest.raises(ScheduleError) as refusal:
        run(program, tmp_path / "place.py")
    assert f"{refusal.value}\n" == block("", "compute_at: ")


def test_the_simulated_program_prints_its_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(block("python", "import numpy"), tmp_path / "transpose.py")
    assert capsys.readouterr().out == block("", "transpose on")
