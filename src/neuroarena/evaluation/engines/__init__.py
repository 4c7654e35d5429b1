"""Engines: where jobs run (processes of this machine, a Slurm cluster, a Dask scheduler), behind one function."""

from neuroarena.evaluation.engines.choosing import ENGINE_OPTIONS, make_engine
from neuroarena.evaluation.engines.jobs import Engine, Job, Outcome, available_cores
from neuroarena.evaluation.engines.local import Local
from neuroarena.evaluation.engines.running import run_jobs

__all__ = [
    "ENGINE_OPTIONS",
    "Engine",
    "Job",
    "Local",
    "Outcome",
    "available_cores",
    "make_engine",
    "run_jobs",
]
