"""Tags of operations."""

from __future__ import annotations

from tecomp import te
from tests.te.message import message, text


def made(tag=""):
    return te.compute((4,), lambda i: 1.0, tag=tag)


def test_a_block_tags_what_is_made_inside() -> None:
    with te.tag_scope("conv"):
        inside, given = made(), te.placeholder(4)
    assert (inside.op.tag, given.op.tag, made().op.tag) == ("conv", "conv", "")


def test_a_decorator_tags_what_the_function_makes() -> None:
    @te.tag_scope("dense")
    def dense(tag=""):
        """Make it."""
        return made(tag)

    assert dense().op.tag == "dense" and dense().op.tag == "dense"
    assert dense.__doc__ == "Make it."


def test_a_block_ends_when_it_fails() -> None:
    message(tagged_twice)
    assert made().op.tag == ""


def tagged_twice():
    with te.tag_scope("a"):
        return made("b")


def nested():
    with te.tag_scope("a"), te.tag_scope("b"):
        pass


def test_refused() -> None:
    assert message(nested) == text("tag_scope('b')", "it stands inside tag_scope('a')", "one scope at a time")
    assert message(tagged_twice) == text("tag='b'", "it stands inside tag_scope('a')", "one of the two")
