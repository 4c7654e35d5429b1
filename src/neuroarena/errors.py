"""The errors neuroarena raises: one root, few children, each with its exit code."""

from __future__ import annotations

import errno


class NeuroarenaError(Exception):
    """The work failed; the message says what, and what to do about it."""

    exit_code = 1


class InputError(NeuroarenaError):
    """The input is wrong: a file, a row, a name or an option. Nothing was written."""

    exit_code = 2


class DiskFull(InputError):
    """There is no room left on a disk, or none within the user's quota.

    Attributes
    ----------
    errno : int
        ``errno.ENOSPC`` or ``errno.EDQUOT``.
    """

    def __init__(self, message: str, number: int = errno.ENOSPC) -> None:
        super().__init__(message)
        self.errno = number


class UnknownName(InputError):
    """No benchmark, decoder, dataset or metric has this name."""


class UndefinedScore(InputError):
    """A score is not defined on some draw of the units, such as targets without any spread."""


class MissingDependency(InputError):
    """An optional library is needed and is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f'{purpose} needs {library}, which is not installed. Install it with: pip install "neuroarena[{extra}]"'
        )
