"""What untrusted code may use, and the outcome of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from neuroarena.errors import InputError

Status = Literal["finished", "failed", "time", "memory", "output", "processes", "cancelled", "not started"]
Isolation = Literal["bubblewrap", "none"]


@dataclass(frozen=True)
class Limits:
    """The most that a run may use.

    Attributes
    ----------
    memory_mb : int
        Memory of all its processes together, private /tmp included.
    seconds : float
        Time that the caller waits for it. Time in which the caller does something else is not counted.
    output_mb : int
        Bytes it may write: to its log, to /tmp, to /dev/shm, each.
    processes : int
        Processes and threads at one time.
    open_files : int
        Files a process may hold open.
    inodes : int
        Files and folders in /tmp, and in /dev/shm.

    Examples
    --------
    >>> Limits(seconds=60).memory_mb
    4096
    """

    memory_mb: int = 4096
    seconds: float = 3600.0
    output_mb: int = 64
    processes: int = 64
    open_files: int = 256
    inodes: int = 20_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < float("inf"):
                raise InputError(f"The limit {field.name} must be a number above 0, got {value}.")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    status : str
        ``finished`` (it ended with code 0), ``failed`` (any other code), the limit that ended it (``time``,
        ``memory``, ``output``, ``processes``), ``cancelled`` by the caller, or ``not started``: the launcher inside
        never reported, which is this machine's fault.
    exit_code : int or None
        Code it ended with; above 128 a signal. None where it was still running when it was ended.
    seconds : float
        Time its caller waited for it.
    peak_memory_mb : float or None
        Most memory at one time, where known.
    stderr_tail : str
        End of what it printed, control characters removed. Untrusted text: quote it, never run it.
    isolation : str
        ``bubblewrap``, or ``none``: a plain child process with limits, which can read what its user can.
    warnings : tuple of str
        What could not be enforced here, one sentence each.
    runtime : str or None
        Digest of the runtime it saw; None without isolation.
    hard_limits : bool
        Whether the kernel enforced memory and processes through a control group.
    """

    status: Status
    exit_code: int | None
    seconds: float
    peak_memory_mb: float | None
    stderr_tail: str
    isolation: Isolation
    warnings: tuple[str, ...] = ()
    runtime: str | None = None
    hard_limits: bool = False


def printable(text: str, most: int) -> str:
    r"""Keep the end of untrusted text, without anything that controls a terminal.

    Examples
    --------
    >>> printable("\x1b[2Jred\talert\n", 100)
    '[2Jred alert\n'
    """
    cleaned = "".join(sign if sign.isprintable() or sign == "\n" else " " * (sign == "\t") for sign in text)
    return cleaned[-most:]
