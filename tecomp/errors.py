"""Errors, typed by whose fault they are, each in up to five parts."""

from __future__ import annotations

from collections.abc import Sequence

from .location import Location, caller


class TecompError(Exception):
    """Base of every error raised here.

    `asked` says what was asked for; `because` why it cannot be (stage, axis, numbers); `legal` what would be; `ir` is a
    fragment of the program. The user's line is found when it is not given.
    """

    def __init__(
        self,
        asked: str,
        because: str = "",
        legal: str | Sequence[str] = "",
        ir: str = "",
        location: Location | None = None,
    ) -> None:
        self.asked, self.because, self.ir = asked, because, ir
        self.legal = legal if isinstance(legal, str) else ", ".join(legal)
        self.location = location or caller()
        super().__init__(self.render())

    def __reduce__(self) -> tuple[type[TecompError], tuple[str, str, str, str, Location | None]]:
        """Pickle by parts, so that another process shows the same message."""
        return type(self), (self.asked, self.because, self.legal, self.ir, self.location)

    def render(self) -> str:
        """Return the whole message."""
        lines = [self.asked]
        if self.location is not None:
            lines.append(f"  --> {self.location}")
            source = self.location.source()
            if source:
                lines += [f"   |     {source}", f"   |     {self.location.before()}^"]
        if self.because:
            lines.append(f"  because: {self.because}")
        if self.legal:
            lines.append(f"  legal: {self.legal}")
        if self.ir:
            lines += ["  in:", *(f"    {line}" for line in self.ir.splitlines())]
        return "\n".join(lines)


class UserError(TecompError, ValueError):
    """The program or the call is wrong; the message says what would be right."""


class UserTypeError(UserError, TypeError):
    """A value of the wrong kind was given."""


class ScheduleError(UserError):
    """A schedule primitive would change the program's meaning or cannot be applied."""


class UnsupportedError(TecompError, NotImplementedError):
    """The program is valid, but this target cannot run it."""


class InternalError(TecompError, RuntimeError):
    """A fault of tecomp itself, and the message says so."""

    def render(self) -> str:
        """Return the whole message, and whose fault it is."""
        fault = "this is a fault of tecomp, not of your program: please report it with this message"
        return f"{super().render()}\n  {fault}"
