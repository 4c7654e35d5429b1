"""The Slurm engine: packs of jobs as one job array, through submitit."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.errors import InputError, MissingDependency
from neuroarena.evaluation.engines.jobs import Job, Take
from neuroarena.evaluation.engines.packs import Ended, Pack, Told, choose_pack_size, cut_packs, run_packs

_POLL_S = 1.0
# Slurm signals 90 s before the end and may be a minute early: a shorter job would be stopped before it began.
_LEAST_MINUTES = 5


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
            executor = submitit.AutoExecutor(folder=cache / "slurm" / "%j", cluster=asked.cluster)
        except RuntimeError as error:
            raise InputError(
                f"The engine slurm cannot be used here: {error}. Run this on a machine where sbatch works."
            ) from None
        executor.update_parameters(**parameters)
        return executor

    @staticmethod
    def _submit(executor: Any, packs: Sequence[Pack]) -> Generator[Ended]:
        """Submit packs as one array, and iterate over them with what came back, or with the sentence of their end."""
        from submitit.core.utils import FailedJobError

        try:
            with executor.batch():
                handles = [executor.submit(pack) for pack in packs]
        except FailedJobError as error:
            said = " ".join(str(error.__cause__ or error).split())
            raise InputError(f"Slurm refused the jobs: {said[-300:]}") from None
        waiting = dict(zip(handles, packs, strict=True))
        with _cancelling(waiting):
            while waiting:
                for handle in [each for each in waiting if each.done()]:
                    pack = waiting.pop(handle)
                    yield pack, _read_result(handle)
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


def _read_result(handle: Any) -> Told | str:
    """Return what a pack told, or one sentence on how its process ended."""
    from submitit.core.utils import FailedJobError, UncompletedJobError

    try:
        told: Told = handle.result()
    except (UncompletedJobError, FailedJobError):
        return f"its process on the cluster ended without a result (job {handle.job_id}); see {handle.paths.stderr}"
    return told
