"""Neuroprobe: decoding what a person sees and hears from intracranial recordings."""

from __future__ import annotations

from neuroarena.benchmarks.neuroprobe.family import FAMILY, Neuroprobe
from neuroarena.benchmarks.neuroprobe.labels import examples
from neuroarena.benchmarks.neuroprobe.leakage import describe_leakage, leakage
from neuroarena.benchmarks.neuroprobe.submissions import Submission, aggregate, read_submission
from neuroarena.benchmarks.neuroprobe.tasks import TASKS, Task, tasks_of
from neuroarena.benchmarks.neuroprobe.windows import time_bins

__all__ = [
    "FAMILY",
    "TASKS",
    "Neuroprobe",
    "Submission",
    "Task",
    "aggregate",
    "describe_leakage",
    "examples",
    "leakage",
    "read_submission",
    "tasks_of",
    "time_bins",
]
