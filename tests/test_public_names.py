"""The names of the package, whichever is asked for first."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tecomp
from tecomp.absent import AbsentModule

FIRST = [
    *(f"from tecomp import {name}" for name in ("build", "lower", "te", "nd")),
    *(f"import tecomp.{name}" for name in ("driver", "module", "lowering.func")),
]


@pytest.mark.parametrize("first", FIRST)
def test_lower_is_the_function_whatever_was_loaded_before(first: str) -> None:
    """No package inside has the name of a function of the face: Python would put it in the function's place."""
    program = f"{first}; import tecomp; print(tecomp.lower.__module__, tecomp.build.__module__)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split() == ["tecomp.driver", "tecomp.driver"]


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tecomp' has no attribute 'lowr'$"):
        tecomp.lowr


@pytest.mark.parametrize(
    ("statement", "asked", "legal"),
    [
        ("from tecomp import topi", "import of tecomp.topi", "te.compute"),
        ("import tecomp.target.intrin", "import of tecomp.target.intrin", "tir.call_extern, tir.call_llvm_intrin"),
        (
            "from tecomp.ir import register_op_attr",
            "import of tecomp.ir.register_op_attr",
            "tir.call_extern, tir.call_llvm_intrin",
        ),
    ],
)
def test_an_import_of_what_is_tvms(statement: str, asked: str, legal: str) -> None:
    with pytest.raises(AbsentModule) as caught:
        exec(statement)
    assert (caught.value.asked, caught.value.because, caught.value.legal) == (asked, "there is none", legal)
    assert caught.value.location is not None and caught.value.location.file == "<string>"


def test_an_import_of_what_is_nobodys() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from tecomp import nothing")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'tecomp\.nothing'"):
        exec("import tecomp.nothing")
