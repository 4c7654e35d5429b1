"""The Slurm engine: packs of jobs as one job array, through submitit."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.errors import InputError, MissingDependency
from neuroarena.evaluation.engines.jobs import Job, Take
from neuroarena.evaluation.engines.packs import Ended, Pack, Told, choose_pack_size, cut_packs, run_packs

# What was handed in, and logs; below the cache.
FOLDER = "slurm"
_POLL_S = 1.0
_LOOK_S, _LOOKS = 10.0, 3
# Slurm signals 90 s before the end and may be a minute early: a shorter job would be stopped before it began.
_LEAST_MINUTES = 5
_USUAL_ARRAY = 1001


class SlurmOptions(FamilyOptions):
    """What can be asked of Slurm."""

    partition: str | None = Field(default=None, description="Partition to run in.")
    account: str | None = Field(default=None, description="Account to charge.")
    qos: str | None = Field(default=None, description="Quality of service.")
    constraint: str | None = Field(default=None, description="Features that a node must have.")
    gres: str | None = Field(default=None, description="Resources of a job, such as gpu:1.")
    timeout_min: int = Field(default=60, ge=_LEAST_MINUTES, description="Minutes that a job may take.")
    mem_gb: float | None = Field(default=None, gt=0, description="Memory of a job.")
    cpus: int = Field(default=1, ge=1, description="Cores of a job; a decoder computes on one.")
    most_jobs: int = Field(default=256, ge=1, description="Jobs of the array that may run at once.")
    setup: str | None = Field(default=None, description="Shell line run first, such as module load python.")
    cluster: Literal["slurm", "local"] = Field(
        default="slurm", description="local runs the same packs as processes of this machine."
    )


@dataclass(frozen=True)
class Slurm:
    """A Slurm cluster that shares the folder of the cache with this machine.

    Parameters
    ----------
    options : SlurmOptions
    pack : int, optional
        Jobs that run one after the other in one job of Slurm; aim at 5 to 15 minutes.
    """

    options: SlurmOptions = field(default_factory=SlurmOptions)
    pack: int | None = None

    def run(self, jobs: Sequence[Job], cache: Path, take: Take) -> None:
        """Run every job and pass on each outcome as it comes; Ctrl-C cancels what is queued and running."""
        executor = self._make_executor(cache)
        size = self.pack or choose_pack_size(len(jobs), self.options.most_jobs)

        def send(packs: Sequence[Pack], careful: bool) -> Generator[Ended]:  # noqa: ARG001 - every job has its process
            return self._submit(executor, packs)

        run_packs(cut_packs(jobs, cache, size), send, take)

    def _make_executor(self, cache: Path) -> Any:
        try:
            import submitit
        except ImportError:
            raise MissingDependency("submitit", "slurm", "The engine slurm") from None
        asked = self.options
        parameters: dict[str, Any] = {"timeout_min": asked.timeout_min, "cpus_per_task": asked.cpus}
        if asked.mem_gb is not None:
            parameters["mem_gb"] = asked.mem_gb
        if asked.cluster == "slurm":
            named = ("partition", "account", "qos", "constraint", "gres")
            parameters |= {f"slurm_{name}": getattr(asked, name) for name in named if getattr(asked, name)}
            parameters |= {"slurm_array_parallelism": asked.most_jobs, "name": "neuroarena"}
            if asked.setup is not None:
                parameters["slurm_setup"] = [asked.setup]
        try:
            executor = submitit.AutoExecutor(folder=cache / FOLDER / "%j", cluster=asked.cluster)
        except RuntimeError as error:
            raise InputError(
                f"The engine slurm cannot be used here: {error}. Run this on a machine where sbatch works."
            ) from None
        executor.update_parameters(**parameters)
        return executor

    def _submit(self, executor: Any, packs: Sequence[Pack]) -> Generator[Ended]:
        """Submit packs, and iterate over them with what came back, or with the sentence of their end.

        They are one array, or several, one after the other, where a cluster takes no array as large.
        """
        most = _find_largest_array() if self.options.cluster == "slurm" else len(packs)
        for first in range(0, len(packs), most):
            yield from self._submit_array(executor, packs[first : first + most])

    def _submit_array(self, executor: Any, packs: Sequence[Pack]) -> Generator[Ended]:
        from submitit.core.utils import FailedJobError

        try:
            # What sbatch complains of is said once, in our sentence.
            with contextlib.redirect_stderr(io.StringIO()), executor.batch():
                handles = [executor.submit(pack) for pack in packs]
        except FailedJobError as error:
            said = " ".join((str(error) or str(error.__cause__)).split())
            raise InputError(f"Slurm refused the jobs: {said[-300:]}") from None
        waiting = dict(zip(handles, packs, strict=True))
        unlisted = _Unlisted() if self.options.cluster == "slurm" else None
        with _cancelling(waiting):
            while waiting:
                for handle in [each for each in waiting if each.done()]:
                    pack = waiting.pop(handle)
                    yield pack, _read_result(handle)
                for handle in unlisted.find(waiting) if unlisted else ():
                    yield waiting.pop(handle), _describe_end(handle)
                if waiting:
                    time.sleep(_POLL_S)


@contextlib.contextmanager
def _cancelling(waiting: dict[Any, Pack]) -> Iterator[None]:
    """Cancel what is still waiting when the block is left early: by Ctrl-C, or because the disk is full."""
    try:
        yield
    finally:
        for handle in waiting:
            handle.cancel(check=False)


class _Unlisted:
    """Find jobs that ended without a result where no accounts are kept, so that `sacct` never says so.

    The queue is asked besides: a job that it has not shown three times in a row, and that left no result, is gone.
    """

    def __init__(self) -> None:
        self._next_look = time.monotonic() + _LOOK_S
        self._unseen: dict[str, int] = {}

    def find(self, handles: Iterable[Any]) -> list[Any]:
        """Return the handles of jobs that are gone."""
        if time.monotonic() < self._next_look:
            return []
        self._next_look = time.monotonic() + _LOOK_S
        listed = _list_queue()
        if listed is None:
            return []
        unseen = {each: self._unseen.get(each.job_id, 0) + 1 for each in handles if each.job_id not in listed}
        self._unseen = {each.job_id: looks for each, looks in unseen.items()}
        return [each for each, looks in unseen.items() if looks >= _LOOKS and not each.done()]


def _list_queue() -> set[str] | None:
    """Return the names of all jobs that are queued or running; None when Slurm does not answer now."""
    said = _ask_slurm("squeue", "--noheader", "--array", "--format=%i")
    return None if said is None else set(said.split())


def _find_largest_array() -> int:
    """Return how many jobs an array of this cluster may have; what Slurm usually allows when it does not say."""
    found = re.search(
        r"^MaxArraySize\s*=\s*(\d+)", _ask_slurm("scontrol", "show", "config") or "", re.MULTILINE
    )
    return max(int(found[1]), 1) if found else _USUAL_ARRAY


def _ask_slurm(*words: str) -> str | None:
    """Return what a command of Slurm prints; None when it does not answer now."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _describe_end(handle: Any) -> str:
    return (
        f"its process on the cluster ended without a result (job {handle.job_id}); see {handle.paths.stderr}"
    )


def _read_result(handle: Any) -> Told | str:
    """Return what a pack told, or one sentence on how its process ended."""
    from submitit.core.utils import FailedJobError, UncompletedJobError

    try:
        told: Told = handle.result()
    except (UncompletedJobError, FailedJobError):
        return _describe_end(handle)
    return told
