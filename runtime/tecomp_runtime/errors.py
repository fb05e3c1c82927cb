"""Errors of calls, in the parts that all of tecomp's errors have."""

from __future__ import annotations


class CallError(Exception):
    """A call of a built function failed: `asked` says of what, `because` why, `legal` what would be right."""

    def __init__(self, asked: str, because: str = "", legal: str = "") -> None:
        self.asked, self.because, self.legal = asked, because, legal
        parts = [asked, f"  because: {because}" if because else "", f"  legal: {legal}" if legal else ""]
        super().__init__("\n".join(filter(None, parts)))


class ArgumentError(CallError, ValueError, TypeError):
    """An argument is not what the function takes; nothing has run."""


class AccessError(CallError, IndexError):
    """A function whose accesses are checked was asked for an element outside a buffer; its outputs are incomplete."""


class LaunchError(CallError, RuntimeError):
    """The function could not be loaded or started here."""


class OutOfMemoryError(LaunchError, MemoryError):
    """The function could not allocate its temporaries; its outputs are incomplete."""


class NotCompact(Exception):
    """Arrays have gaps or are less aligned than the code they were given to is built for; one with strides takes them.

    The same goes for arrays that are not aligned to more than an element, where the code counts on it.
    `names` are the parameters concerned. The caller never sees this: it builds that variant and calls again.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(", ".join(names))
