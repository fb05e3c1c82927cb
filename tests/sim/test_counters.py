"""How the csv of Nsight Compute is read and compared; what runs on a GPU is `tests.sim.counters` itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sim.counted import KERNELS
from tests.sim.counters import COUNTERS, Failed, main, measured, number, read

_NAMES = ("copy", "column8")
_VALUES = {
    "copy": ("512", "512", "128", "128", "0", "0", "0", "0", "0"),
    "column8": ("512", "512", "128", "128", "1,024", "1,024", "896", "896", "128"),
}


def said_by_ncu(**others: str) -> str:
    metrics = [one.metric for one in COUNTERS]
    head = ["ID", "Process ID", "Kernel Name", "Context", *metrics]
    lines = ["==PROF== Connected to process 7", "one line of the program", ",".join(f'"{cell}"' for cell in head)]
    lines.append(",".join(["", "", "", "", *("sector" for _ in metrics)]).replace(",", '","').join('""'))
    for at, (name, values) in enumerate(_VALUES.items()):
        (kernel,) = KERNELS[name].build("cuda-sim").artifact.kernels
        row = [str(at), "7", f"{kernel['name']}(const float *, float *)", "1", *values]
        lines.append(",".join(f'"{others.get(cell, cell)}"' for cell in row))
    return "\n".join([*lines, "==PROF== Disconnected"])


def test_every_kernel_has_a_name_of_its_own() -> None:
    names = [kernel["name"] for one in KERNELS.values() for kernel in one.build("cuda-sim").artifact.kernels]
    assert len(names) == len({*names}) == len(KERNELS) >= 14


def test_rows_are_those_of_kernels() -> None:
    assert [row["ID"] for row in read(said_by_ncu())] == ["0", "1"]
    with pytest.raises(Failed, match="ERR_NVGPUCTRPERM"):
        read("==ERROR== ERR_NVGPUCTRPERM")


@pytest.mark.parametrize(
    ("text", "value"), [("1,024", 1024), ("1024", 1024), ("1.024,0", 1024), ("1 024", 1024), ("1,024.0", 1024)]
)
def test_numbers_of_any_country(text: str, value: float) -> None:
    assert number(text) == value
    assert number("n/a") != number("n/a")


def test_what_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "said.csv").write_text(said_by_ncu())
    assert main(["--read", str(tmp_path / "said.csv"), *_NAMES]) == 0
    assert "2 kernels, 0 sectors or wavefronts differ" in capsys.readouterr().out


def test_what_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "said.csv").write_text(said_by_ncu(**{"1,024": "2,048"}))
    assert main(["--read", str(tmp_path / "said.csv"), *_NAMES]) == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.endswith("DIFFERS")]
    assert lines == [
        ["column8", "shared", kind, "waves", "1024", "2048", "-50.0", "DIFFERS"] for kind in ("load", "store")
    ]
    (tmp_path / "said.csv").write_text("nothing")
    assert main(["--read", str(tmp_path / "said.csv")]) == 1
    assert "no csv of ncu" in capsys.readouterr().out


def test_without_ncu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Failed, match="ncu is not on PATH"):
        measured(_NAMES)
