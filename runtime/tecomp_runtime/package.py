"""A built function in one file of text: JSON, its code in base64. `load_module` needs no compiler.

    {"format": "tecomp 1", "sha256": "...", "artifacts": [{"kind": "llvm", "binary": {"base64": "..."}, ...}, ...]}

The first artifact takes arrays without gaps, a second one any strides. What is in a file runs as machine code, so its
digest is compared: that finds damage, and proves nothing about who wrote it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from .errors import LaunchError
from .function import BuiltFunction

_FORMAT: Final = "tecomp 1"
_SUITS: Final = "a file that module.export_library wrote"


def packed(artifacts: Sequence[Any]) -> str:
    """Return artifacts, which are dataclasses of plain data, as text."""
    parts = [{field: _plain(value) for field, value in artifact.__getstate__().items()} for artifact in artifacts]
    content = json.loads(json.dumps(parts))
    return json.dumps({"format": _FORMAT, "sha256": _digest(content), "artifacts": content}, indent=1)


def unpacked(text: str, source: str = "the text") -> list[Any]:
    """Return the artifacts that `packed` wrote; LaunchError for other text."""
    try:
        content = json.loads(text)
        if content["format"] != _FORMAT:
            raise LaunchError(f"{source} cannot be loaded", f"its format is {content['format']!r}", repr(_FORMAT))
        parts = content["artifacts"]
        if content["sha256"] != _digest(parts):
            raise LaunchError(f"{source} cannot be loaded", "its content is not what was written into it", _SUITS)
        return [SimpleNamespace(**{field: _value(value) for field, value in part.items()}) for part in parts]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LaunchError(f"{source} cannot be loaded", "it is no package of a function", _SUITS) from error


def _digest(parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _value(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"base64"}:
        return base64.b64decode(value["base64"])
    return tuple(value) if isinstance(value, list) else value


class LoadedModule(BuiltFunction):
    """A function from a package."""

    def __init__(self, artifacts: Sequence[Any]) -> None:
        self._artifacts = artifacts
        super().__init__(artifacts[0])

    def strided_artifact(self) -> Any:
        """Return the second artifact; LaunchError where the package has none."""
        if len(self._artifacts) < 2:
            because = "an argument has gaps, and the package has code for arrays without only"
            raise LaunchError(f"{self.name} cannot run", because, "a contiguous copy, numpy.ascontiguousarray(x)")
        return self._artifacts[1]


def load_module(path: str | os.PathLike[str]) -> LoadedModule:
    """Return the function in a file that `export_library` wrote; LaunchError where that is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LaunchError(f"{path} cannot be loaded", str(error), _SUITS) from error
    return LoadedModule(unpacked(text, str(path)))
