"""The user's line: the innermost frame outside the package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tecomp_runtime
from tecomp import location
from tecomp.location import Location, caller


def inside(code: str, package: str = location.__file__) -> Callable[..., Any]:
    """Return the function `f` that `code` defines, as if a file of the package held it."""
    scope: dict[str, Any] = {"caller": caller}
    exec(compile(code, str(Path(package).parent / "deep" / "inside.py"), "exec"), scope)
    return scope["f"]


def test_caller_is_this_line() -> None:
    found = caller()
    assert found is not None
    assert found.file == __file__
    assert found.source() == "found = caller()"


def test_frames_of_the_package_are_passed_over() -> None:
    found = inside("def f(n):\n    return f(n - 1) if n else caller()")(5)
    assert found.file == __file__
    assert "inside(" in found.source()


def test_frames_of_the_runtime_are_passed_over() -> None:
    found = inside("def f(g):\n    return g()", tecomp_runtime.__file__)(inside("def f():\n    return caller()"))
    assert found.file == __file__


def test_a_callback_of_the_users_is_the_innermost() -> None:
    found = inside("def f(back):\n    return back()")(lambda: [caller()])
    assert "lambda: [caller()]" in found[0].source()


def test_a_folder_beside_the_package_is_the_users() -> None:
    scope: dict[str, Any] = {"caller": caller}
    beside = location.__file__.replace("/location.py", "_user/program.py")
    exec(compile("found = caller()", beside, "exec"), scope)
    assert scope["found"] == Location(beside, 1)


def test_a_column_is_under_what_is_meant(tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text("if x:\n\tfirst\tsecond\n")
    assert repr(Location(str(program), 2, 7).before()) == repr("     \t")
    assert Location(str(program), 2).before() == Location(str(program), 9, 4).before() == ""
