"""Errors: their five parts, their place in the user's program, their kinship with Python's own."""

from __future__ import annotations

import pickle

import pytest

from tecomp.errors import (
    InternalError,
    ScheduleError,
    TecompError,
    UnsupportedError,
    UserError,
    UserTypeError,
)
from tecomp.location import Location, caller


def test_five_parts() -> None:
    here = caller()
    assert here is not None
    error = ScheduleError("compute_at: no", "B reads A", ["root", "s[C] at ko"], "for i in range(3):\n    pass", here)
    assert str(error) == (
        "compute_at: no\n"
        f"  --> test_errors.py:{here.line}\n"
        "   |     here = caller()\n"
        "   |     ^\n"
        "  because: B reads A\n"
        "  legal: root, s[C] at ko\n"
        "  in:\n"
        "    for i in range(3):\n"
        "        pass"
    )


def test_the_place_is_found() -> None:
    error = UserError("no")
    assert error.location is not None
    assert error.location.source() == 'error = UserError("no")'
    assert str(error.location).startswith("test_errors.py:")


def test_a_place_without_a_file_has_no_source() -> None:
    place = Location("<string>", 3)
    assert (str(place), place.source()) == ("<string>:3", "")
    assert str(UserError("no", location=place)) == "no\n  --> <string>:3"


def test_kinship() -> None:
    assert issubclass(UserError, ValueError)
    assert issubclass(UserTypeError, (TypeError, UserError))
    assert issubclass(ScheduleError, UserError)
    assert issubclass(UnsupportedError, NotImplementedError)
    assert issubclass(InternalError, RuntimeError)
    assert not issubclass(UnsupportedError, UserError)


@pytest.mark.parametrize("kind", [UserError, UserTypeError, ScheduleError, UnsupportedError, InternalError])
def test_errors_pickle(kind: type[TecompError]) -> None:
    error = kind("a", "b", ["c", "d"], "e")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert (again.asked, again.because, again.legal, again.ir, again.location) == (
        "a",
        "b",
        "c, d",
        "e",
        error.location,
    )


def test_an_internal_error_says_whose_fault_it_is() -> None:
    error = InternalError("no", because="a pass did", location=Location("<string>", 3))
    assert str(error) == (
        "no\n"
        "  --> <string>:3\n"
        "  because: a pass did\n"
        "  this is a fault of tecomp, not of your program: please report it with this message"
    )
