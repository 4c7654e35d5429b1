"""How guests are isolated: the interface of a backend, and the choice of one."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Protocol

from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.sandbox.job import Job
from neuroarena.sandbox.limits import Isolation, Limits


@dataclass
class Launch:
    """How one guest is started, and what must be given back afterwards.

    Attributes
    ----------
    command : list of str
        What the supervising process becomes the parent of.
    mounts : dict or None
        What the supervising process mounts first; see `neuroarena.sandbox.supervise`.
    descriptors : list of int
        Passed on to the command, and closed here once it runs.
    kept : list of int
        Held until the guest has ended.
    watched : frozenset of str
        Limits that the supervising process must look after even where control groups can be written.
    runtime : str or None
        Digest of the runtime that the guest sees.
    warnings : list of str
        What could not be had, one sentence each.
    """

    command: list[str]
    mounts: dict[str, Any] | None = None
    descriptors: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    watched: frozenset[str] = frozenset()
    runtime: str | None = None
    warnings: list[str] = field(default_factory=list)

    def close(self, descriptors: list[int]) -> None:
        """Close some of the descriptors; a second call does nothing."""
        while descriptors:
            os.close(descriptors.pop())


class Backend(Protocol):
    """A way to isolate a guest."""

    name: Isolation

    def find_obstacle(self) -> str | None:
        """Return why this backend cannot be used here, or None when it can."""
        ...

    def prepare(self, job: Job, limits: Limits, report: int) -> Launch:
        """Return how to start a job.

        Parameters
        ----------
        job : Job
        limits : Limits
        report : int
            Descriptor into which the launcher writes ``hello`` once everything stands.
        """
        ...


class Bare:
    """No isolation but limits: a plain child process, for code that is trusted. Only when asked for by name."""

    name: Isolation = "none"

    def find_obstacle(self) -> str | None:
        """Return None: it can be used everywhere."""
        return None

    def prepare(self, job: Job, limits: Limits, report: int) -> Launch:  # noqa: ARG002
        """Return how to start a job in a plain process."""
        from neuroarena.sandbox.job import wrap_command

        warning = "the code ran without isolation, as was asked for: it can read what its user can read"
        command = wrap_command([str(part) for part in job.command], report)
        return Launch(command, descriptors=[report], warnings=[warning])


def list_backends() -> dict[str, Backend]:
    """Return the backends by name, the one that is used by default first."""
    from neuroarena.sandbox.bubblewrap import Bubblewrap

    return {"bubblewrap": Bubblewrap(), "none": Bare()}


def choose_backend(wanted: Isolation | None) -> Backend:
    """Return the backend that was asked for; by default the one that isolates, never a bare process.

    Raises
    ------
    InputError
        When there is no backend of this name.
    NeuroarenaError
        When it cannot be used here; the reason is given and nothing was run.
    """
    backends = list_backends()
    name: str = wanted or next(iter(backends))
    if name not in backends:
        raise InputError(f'There is no isolation "{name}". Known: {", ".join(backends)}.')
    reason = backends[name].find_obstacle()
    if reason is not None:
        raise NeuroarenaError(
            f"Submitted code is not run on this machine, because {reason}. Nothing was run. Code that you trust, on "
            "data whose truth is public, can be run without any isolation: --isolation none"
        )
    return backends[name]
