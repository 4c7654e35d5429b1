"""Neuroprobe: decoding what a person sees and hears from intracranial recordings."""

from __future__ import annotations

from neuroarena.families.neuroprobe import encoders
from neuroarena.families.neuroprobe.family import FAMILY, Neuroprobe
from neuroarena.families.neuroprobe.labels import examples
from neuroarena.families.neuroprobe.leakage import describe_leakage, leakage
from neuroarena.families.neuroprobe.submissions import Submission, aggregate, read_submission
from neuroarena.families.neuroprobe.tasks import TASKS, Task, tasks_of
from neuroarena.families.neuroprobe.windows import time_bins
from neuroarena.lazily import lazy_names

# What the family's datasets and decoders offer, imported when it is first used.
_MODULES: dict[str, tuple[str, ...]] = {
    ".braintreebank": (
        "BrainTreebank",
        "DATASET",
        "fetch_plan",
        "nonverbal_table",
        "simulate",
        "verify",
        "word_table",
    ),
    ".encoders": tuple(encoders.__all__),
    ".importer": ("entries_from_neuroprobe",),
    ".submission_export": ("export_submission",),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

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
    *_later,
]
