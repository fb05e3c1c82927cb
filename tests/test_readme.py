"""The README's program prints what the README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_first_program_prints_the_second_block(capsys: pytest.CaptureFixture[str]) -> None:
    program, printed = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[:2]
    exec(compile(program, str(README), "exec"), {})
    assert capsys.readouterr().out.strip() == printed.strip()
