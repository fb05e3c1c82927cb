"""Compiled code kept on disk, by the hash of what it was made from.

The folder is $TECOMP_CACHE_DIR, else $XDG_CACHE_HOME/tecomp, else ~/.cache/tecomp. An entry is the SHA-256 of its
content, then the content: one that was cut short or altered is not used, and is written anew.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_DIGEST = hashlib.sha256().digest_size


def folder() -> Path:
    """Return where entries are kept; it need not exist."""
    own = os.environ.get("TECOMP_CACHE_DIR")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tecomp"


def kept(key: str, make: Callable[[], bytes]) -> bytes:
    """Return the content kept under `key`, a hash of all that it depends on; what `make` gives, kept now, if none is.

    A folder that cannot be read or written is as good as an empty one.
    """
    path = folder() / key[:2] / key
    found = _read(path)
    if found is not None:
        return found
    content = make()
    _write(path, content)
    return content


def _read(path: Path) -> bytes | None:
    try:
        entry = path.read_bytes()
    except OSError:
        return None
    digest, content = entry[:_DIGEST], entry[_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def _write(path: Path, content: bytes) -> None:
    """Write the entry under another name first: whoever reads it meanwhile sees all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
