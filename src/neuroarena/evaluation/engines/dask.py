"""The Dask engine: packs of jobs on a scheduler that exists, or on processes of this machine."""

from __future__ import annotations

import contextlib
import logging
import pickle
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.errors import InputError, MissingDependency, NeuroarenaError
from neuroarena.evaluation.engines.jobs import Job, Take
from neuroarena.evaluation.engines.packs import (
    Ended,
    Pack,
    Told,
    choose_pack_size,
    cut_packs,
    run_packs,
    wanting,
)

_PACKS_A_THREAD = 4
_RETRIES = 2
_COUNT_S = 5.0


class DaskOptions(FamilyOptions):
    """What can be asked of Dask."""

    gpu: int = Field(default=0, ge=0, description="Units of the resource gpu that a pack needs.")
    memory_limit: str | None = Field(
        default=None, description="Memory of a process, such as 4GiB; only without a scheduler."
    )
    wait_s: float = Field(default=30.0, gt=0, description="How long to wait for the scheduler and a worker.")

    @field_validator("memory_limit")
    @classmethod
    def _check_size(cls, text: str | None) -> str | None:
        if text is not None and not re.fullmatch(r"\d+(\.\d+)? ?([kKMGT]i?)?B", text):
            raise ValueError(
                f'memory_limit is "{text}"; expected a number and a unit, such as 4GiB or 500MB.'
            )
        return text


@dataclass(frozen=True)
class Dask:
    """A Dask cluster whose workers share the folder of the cache with this machine.

    Parameters
    ----------
    scheduler : str, optional
        Address of a scheduler, such as tcp://head:8786; without one, processes of this machine are started.
    workers : int
        How many, where they are started here.
    options : DaskOptions
    pack : int, optional
        Jobs that travel together.
    """

    scheduler: str | None = None
    workers: int = 1
    options: DaskOptions = field(default_factory=DaskOptions)
    pack: int | None = None

    def run(self, jobs: Sequence[Job], cache: Path, take: Take) -> None:
        """Run every job and pass on each outcome as it comes; Ctrl-C cancels what waits and ends what runs."""
        # A task that runs cannot be interrupted: after Ctrl-C its pack begins no further job.
        with self._connect() as client, wanting(cache) as wanted:
            self._await_worker(client)

            def send(packs: Sequence[Pack], careful: bool) -> Generator[Ended]:
                # A worker that dies takes along what waits for it: the suspects go one at a time.
                return self._send(client, packs, (lambda: 1) if careful else self._watch_room(client))

            size = self.pack or choose_pack_size(len(jobs), self._count_threads(client))
            run_packs(cut_packs(jobs, cache, size, wanted), send, take)

    @contextlib.contextmanager
    def _connect(self) -> Iterator[Any]:
        try:
            import dask
            from distributed import Client, LocalCluster
        except ImportError:
            raise MissingDependency("distributed", "dask", "The engine dask") from None
        with contextlib.ExitStack() as stack:
            if self.scheduler is None:
                # The cluster is ours: a job that killed two workers is not tried on four.
                stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 1}))
                limit = {"memory_limit": self.options.memory_limit} if self.options.memory_limit else {}
                cluster = LocalCluster(
                    n_workers=self.workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.ERROR,
                    resources={"gpu": self.options.gpu} if self.options.gpu else None,
                    **limit,
                )
                yield stack.enter_context(Client(stack.enter_context(cluster)))
                return
            try:
                client = stack.enter_context(Client(self.scheduler, timeout=self.options.wait_s))
                # A scheduler that is gone is said in one sentence, not by the tracebacks of those who look for it.
                logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
            except (OSError, TimeoutError, ValueError) as error:
                raise InputError(
                    f"--scheduler {self.scheduler}: no Dask scheduler answers there ({type(error).__name__}). "
                    "Start one with: dask scheduler"
                ) from None
            yield client

    def _await_worker(self, client: Any) -> None:
        """Wait for a worker; refuse to wait for those that will never come.

        A task that needs a resource which nobody has would stay pending without a word.
        """
        from distributed import TimeoutError as DaskTimeout

        with contextlib.suppress(DaskTimeout):
            client.wait_for_workers(1, timeout=self.options.wait_s)
        where = self.scheduler or "this machine"
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise InputError(
                f"The Dask scheduler at {where} has no worker. Start one with: dask worker ADDRESS"
            )
        if not self._count_threads(client):
            raise InputError(
                f"No worker of the Dask scheduler at {where} has {self.options.gpu} of the resource gpu. "
                "Start one with: dask worker ADDRESS --resources gpu=1"
            )

    def _count_threads(self, client: Any) -> int:
        """Count the threads of the workers that there are now and that have what a pack needs."""
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        able = [each for each in workers if each.get("resources", {}).get("gpu", 0) >= self.options.gpu]
        return sum(int(each["nthreads"]) for each in able)

    def _watch_room(self, client: Any) -> Callable[[], int]:
        """Return a function that says how many packs may be in flight: workers come and go while a run goes on."""
        counted, room = float("-inf"), 1

        def find_room() -> int:
            nonlocal counted, room
            if time.monotonic() - counted >= _COUNT_S:
                room = _PACKS_A_THREAD * max(self._count_threads(client), 1)
                counted = time.monotonic()
            return room

        return find_room

    def _send(self, client: Any, packs: Sequence[Pack], room: Callable[[], int]) -> Generator[Ended]:
        """Keep as many packs in flight as there is room, and iterate over them with what came back."""
        from distributed import as_completed

        waiting, flying = list(reversed(packs)), {}
        finished, run_parcel = as_completed(), _make_runner()

        def send_next() -> None:
            pack = waiting.pop()
            needs = {"gpu": self.options.gpu} if self.options.gpu else None
            parcel = pickle.dumps(pack)
            future = client.submit(run_parcel, parcel, pure=False, retries=_RETRIES, resources=needs)
            flying[future] = pack
            finished.add(future)

        try:
            while waiting and len(flying) < room():
                send_next()
            for future in finished:
                pack, told = flying.pop(future), _read_result(future)
                # A result that is not released would be computed again when its worker is lost.
                future.release()
                while waiting and len(flying) < room():
                    send_next()
                yield pack, told
        finally:
            client.cancel(list(flying))


def _make_runner() -> Callable[[bytes], Told]:
    """Return the function that a worker calls.

    A scheduler opens whatever passes through it. So packs are bytes to it, and this function, made here, travels by
    value: the scheduler needs neither neuroarena nor the modules of a decoder.
    """

    def run_parcel(parcel: bytes) -> Told:
        told: Told = pickle.loads(parcel)()
        return told

    return run_parcel


def _read_result(future: Any) -> Told | str:
    """Return what a pack told, or one sentence on how it was lost.

    Raises
    ------
    NeuroarenaError
        When the scheduler is gone.
    """
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    try:
        told: Told = future.result()
    except KilledWorker:
        return "the worker processes that ran it were killed. It may have run out of memory."
    except FutureCancelledError:
        raise NeuroarenaError(
            "The Dask scheduler was stopped, or started anew. What was computed is kept; run the same command again to "
            "go on from there."
        ) from None
    except Exception as error:  # what a worker lacks shows as anything: recorded with its reason
        return f"a worker could not begin it: {type(error).__name__}: {error}"
    return told
