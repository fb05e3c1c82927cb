"""Compiled code kept on disk: found again, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tecomp_runtime import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TECOMP_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def made(content: bytes, calls: list[bytes]) -> bytes:
    calls.append(content)
    return content


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_made_once(folder: Path) -> None:
    calls: list[bytes] = []
    for _ in range(3):
        assert cache.kept("abc", lambda: made(b"code", calls)) == b"code"
    assert cache.kept("abd", lambda: made(b"other", calls)) == b"other"
    assert calls == [b"code", b"other"]
    assert len(entries(folder)) == 2


@pytest.mark.parametrize("damage", ["cut", "altered", "emptied"])
def test_a_damaged_entry_is_written_anew(folder: Path, damage: str) -> None:
    cache.kept("abc", lambda: b"code" * 100)
    (path,) = entries(folder)
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[:-1], "altered": whole[:-1] + b"?", "emptied": b""}[damage])
    assert cache.kept("abc", lambda: b"new" * 100) == b"new" * 100
    assert cache.kept("abc", lambda: pytest.fail("made again")) == b"new" * 100
    assert entries(folder) == [path]


def test_a_folder_that_cannot_be_written_keeps_nothing(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    assert cache.kept("abc", lambda: b"code") == b"code"
    assert folder.is_file()


def test_a_write_that_fails_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    assert cache.kept("abc", lambda: b"code") == b"code"
    assert entries(folder) == []


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TECOMP_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "tecomp"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path(os.path.expanduser("~")) / ".cache" / "tecomp"
