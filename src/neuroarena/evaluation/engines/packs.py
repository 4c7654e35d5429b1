"""Packs: several jobs that travel to another machine together, because each journey costs more than a small job."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
import threading
import uuid
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from neuroarena import __version__
from neuroarena.evaluation.engines.jobs import Job, Outcome, Take, attempt, on_one_thread
from neuroarena.evaluation.identity import library_versions
from neuroarena.evaluation.leases import FOLDER, RUN, Leases

# What comes back: everything of an outcome but the job, which the caller has.
Told = list[dict[str, Any]]


@dataclass(frozen=True)
class Pack:
    """Some jobs and the cache they write to; calling it runs those whose product is missing.

    Products stay in the cache, and only how each job ended comes back. A pack that is run a second time, because its
    machine was lost or its time was up, therefore computes only what the first life left.

    Parameters
    ----------
    jobs : tuple of Job
    cache : Path
        Absolute, and the same folder on every machine.
    folders : tuple of str
        Where modules are looked for, so that a decoder of the caller's folder can be imported.
    versions : dict of str to str
        What the caller computes with: the keys of its cells are of these, so that others compute nothing.
    wanted : Path, optional
        A file that is there as long as somebody waits for the pack; without it no further job is begun.
    """

    jobs: tuple[Job, ...]
    cache: Path
    folders: tuple[str, ...] = field(default_factory=lambda: tuple(_own_folders()))
    versions: dict[str, str] = field(default_factory=lambda: _own_versions())
    wanted: Path | None = None
    handed_in: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)

    def __call__(self) -> Told:
        """Run the jobs, one after the other, and tell how each ended."""
        differing = self._describe_differences()
        if differing is not None:
            return [_tell(Outcome(job, 0.0, differing)) for job in self.jobs]
        told = []
        with on_one_thread():
            for job in self.jobs:
                told.append(_tell(self._run(job)))
                if self.handed_in.is_set():
                    # The exit that submitit raised was taken for one of the decoder's own.
                    raise SystemExit("The time of this pack is up; its second life goes on.")
        return told

    def __reduce__(self) -> tuple[Any, ...]:
        # The jobs are packed apart: their modules can be imported only once the folders are known over there.
        return _unpack, (self.folders, self.cache, pickle.dumps(self.jobs), self.versions, self.wanted)

    def checkpoint(self) -> Any:
        """Hand the pack in again when its time is up: submitit calls this on the signal of Slurm."""
        from submitit.helpers import DelayedSubmission

        self.handed_in.set()
        return DelayedSubmission(self)

    def open(self, told: Told) -> list[Outcome]:
        """Join what came back with the jobs it is about."""
        return [Outcome(job, **each) for job, each in zip(self.jobs, told, strict=True)]

    def settle(self) -> tuple[list[Outcome], list[Pack]]:
        """After a pack was lost, return the outcomes of what the cache has, and the rest in packs of one."""
        there = [job.is_done(self.cache) for job in self.jobs]
        kept = [Outcome(job, 0.0) for job, done in zip(self.jobs, there, strict=True) if done]
        rest = [replace(self, jobs=(job,)) for job, done in zip(self.jobs, there, strict=True) if not done]
        return kept, rest

    def give_up(self, sentence: str) -> list[Outcome]:
        """Return the outcomes of what the cache has, and the others as failed for this reason."""
        kept, rest = self.settle()
        return [*kept, *(Outcome(job, 0.0, sentence) for each in rest for job in each.jobs)]

    def _run(self, job: Job) -> Outcome:
        if job.is_done(self.cache):
            return Outcome(job, 0.0)
        if self.wanted is not None and not self.wanted.exists():
            return Outcome(job, 0.0, "the run that asked for it was stopped")
        return attempt(job, self.cache)

    def _describe_differences(self) -> str | None:
        """Return in what this machine differs from the caller's; None when it would make the same numbers."""
        own = _own_versions()
        names = [
            name
            for name in {**self.versions, **own}
            if self.versions.get(name, "none") != own.get(name, "none")
        ]
        if not names:
            return None
        here = ", ".join(f"{name} {own.get(name, 'none')}" for name in names)
        there = ", ".join(f"{name} {self.versions.get(name, 'none')}" for name in names)
        return (
            f"{socket.gethostname()} has {here}, and the machine that planned the run {there}. Install the same "
            "versions on both: cells are kept under the versions that they were planned with."
        )


def _unpack(
    folders: tuple[str, ...], cache: Path, jobs: bytes, versions: dict[str, str], wanted: Path | None
) -> Pack:
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    return Pack(pickle.loads(jobs), cache, folders, versions, wanted)


Ended = tuple[Pack, Told | str]


class Send(Protocol):
    """Send packs somewhere, and iterate over each with what it told, or with one sentence on how it was lost."""

    def __call__(self, packs: Sequence[Pack], careful: bool) -> Generator[Ended]:
        """`careful` asks that no pack be where another one kills the process, so that nobody is blamed wrongly."""
        ...


def run_packs(packs: Sequence[Pack], send: Send, take: Take) -> None:
    """Send packs somewhere and pass on the outcome of every job.

    A job that kills its process takes its pack along. What the pack had finished is in the cache; the rest is sent once
    more, each job alone, so that the one that kills is named.

    Parameters
    ----------
    packs : sequence of Pack
    send : Send
    take : callable
    """
    alone: list[Pack] = []
    # Closed by us: an exception in `take` would keep what was sent alive, and running, as long as its traceback lives.
    with contextlib.closing(send(packs, careful=False)) as sent:
        for pack, ended in sent:
            outcomes, rest = (pack.open(ended), []) if isinstance(ended, list) else pack.settle()
            alone += rest
            for outcome in outcomes:
                take(outcome)
    if not alone:
        return
    with contextlib.closing(send(alone, careful=True)) as sent:
        for pack, ended in sent:
            for outcome in pack.open(ended) if isinstance(ended, list) else pack.give_up(ended):
                take(outcome)


def cut_packs(jobs: Sequence[Job], cache: Path, size: int, wanted: Path | None = None) -> list[Pack]:
    """Divide jobs into packs of a size, in their order."""
    return [
        Pack(tuple(jobs[first : first + size]), cache, wanted=wanted) for first in range(0, len(jobs), size)
    ]


@contextlib.contextmanager
def wanting(cache: Path) -> Iterator[Path]:
    """Yield a file of the cache that is gone after the block: workers that cannot be interrupted look for it."""
    leases, name = Leases(cache), f"{RUN}{uuid.uuid4().hex}"
    with leases.renewed():
        leases.take(name)
        yield cache / FOLDER / name


def choose_pack_size(n_jobs: int, workers: int) -> int:
    """Choose a size that gives every worker about four packs: few journeys, and no worker idle at the end.

    Examples
    --------
    >>> choose_pack_size(10_000, 25), choose_pack_size(3, 8)
    (100, 1)
    """
    return max(1, min(200, n_jobs // (4 * max(workers, 1))))


def _tell(outcome: Outcome) -> dict[str, Any]:
    return {name: value for name, value in vars(outcome).items() if name != "job"}


def _own_versions() -> dict[str, str]:
    return {"neuroarena": __version__, **library_versions()}


def _own_folders() -> list[str]:
    """List where this process looks for modules, apart from the interpreter's own places."""
    places = [os.path.abspath(folder) for folder in sys.path]
    return [place for place in dict.fromkeys(places) if os.path.isdir(place) and not _is_installed(place)]


def _is_installed(place: str) -> bool:
    return place.startswith((sys.prefix, sys.base_prefix))
