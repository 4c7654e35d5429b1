"""Neuroprobe: decoding what a person sees and hears from intracranial recordings."""

from __future__ import annotations

from neuroarena.families.neuroprobe.family import FAMILY, Neuroprobe
from neuroarena.families.neuroprobe.labels import examples
from neuroarena.families.neuroprobe.leakage import describe_leakage, leakage
from neuroarena.families.neuroprobe.submissions import Submission, aggregate, read_submission
from neuroarena.families.neuroprobe.tasks import TASKS, Task, tasks_of
from neuroarena.families.neuroprobe.windows import time_bins

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
