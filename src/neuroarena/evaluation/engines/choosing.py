"""Choose an engine by its name and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from neuroarena.benchmarks.options import FamilyOptions, read_options
from neuroarena.errors import InputError
from neuroarena.evaluation.engines.dask import Dask, DaskOptions
from neuroarena.evaluation.engines.jobs import Engine
from neuroarena.evaluation.engines.local import Local
from neuroarena.evaluation.engines.slurm import Slurm, SlurmOptions
from neuroarena.registry import unknown_name


class _NoOptions(FamilyOptions):
    """The local engine has none: --workers says how many processes there are."""


ENGINE_OPTIONS: dict[str, type[BaseModel]] = {"local": _NoOptions, "slurm": SlurmOptions, "dask": DaskOptions}


def make_engine(
    name: str = "local",
    *,
    workers: int = 1,
    pack: int | None = None,
    scheduler: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Engine:
    """Make an engine.

    Parameters
    ----------
    name : {"local", "slurm", "dask"}
    workers : int
        Processes that are started on this machine, by `local` and by `dask` without a scheduler.
    pack : int, optional
        How many jobs travel together; by default the engine chooses.
    scheduler : str, optional
        Address of a Dask scheduler.
    options : mapping of str to object, optional
        Options of the engine, shown by ``neuroarena list options ENGINE``.

    Raises
    ------
    InputError
        For an unknown engine or option, and for a scheduler or pack that the engine would ignore.
    """
    if name not in ENGINE_OPTIONS:
        raise unknown_name("engine", name, ENGINE_OPTIONS, None)
    if scheduler is not None and name != "dask":
        raise InputError(
            f"--scheduler is the address of a Dask scheduler; it cannot be used with --engine {name}."
        )
    if pack is not None and name == "local":
        raise InputError("--pack says how many cells travel together; it cannot be used with --engine local.")
    told = read_options(ENGINE_OPTIONS[name], options or {}, name, "")
    if isinstance(told, SlurmOptions):
        return Slurm(told, pack)
    if isinstance(told, DaskOptions):
        if scheduler is not None and told.memory_limit is not None:
            raise InputError(
                "memory_limit limits processes that are started here; with --scheduler, start the workers with: "
                f"dask worker {scheduler} --memory-limit {told.memory_limit}"
            )
        return Dask(scheduler, workers, told, pack)
    return Local(workers)
