"""MOABB as a family whose tasks cannot all be listed: any of its datasets with any paradigm that fits."""

from __future__ import annotations

import numpy as np

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.families.moabb.options import MoabbOptions
from neuroarena.recordings import channel_table
from neuroarena.scoring import Manifest

_DEFAULTS = MoabbOptions()
# Places of a fictitious cap, for checks without recordings.
_NAMES = (
    "Fz",
    "FC3",
    "FC4",
    "C3",
    "Cz",
    "C4",
    "CP3",
    "CP4",
    "P3",
    "Pz",
    "P4",
    "PO7",
    "O1",
    "Oz",
    "O2",
    "PO8",
)
_RATE_HZ = 128.0


class Moabb:
    """Datasets and paradigms of MOABB, under the names ``moabb/DATASET-PARADIGM``."""

    name = "moabb"
    title = "MOABB: any of its datasets and paradigms, with its three evaluations"
    definitions = ("1",)
    options = MoabbOptions
    task_form = "DATASET-PARADIGM, as in moabb/BNCI2014_001-LeftRightImagery"

    def tasks(self, definition: str) -> tuple[str, ...]:
        """Return nothing: hundreds of pairs fit together, and listing them takes seconds."""
        return ()

    def find_task(self, task: str) -> str:
        """Return the name of a task as MOABB spells it, or refuse it with the closest names."""
        from neuroarena.families.moabb.catalogue import find_names

        return "-".join(find_names(task))

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List MOABB's evaluations; some data allow fewer."""
        from neuroarena.families.moabb.bridge import SPLITS

        return SPLITS

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task, which MOABB knows without recordings."""
        from neuroarena.families.moabb.bridge import describe_task
        from neuroarena.families.moabb.catalogue import make_pair

        return describe_task(*make_pair(task, {}))

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe windows of the paradigm's length, of a fictitious cap."""
        from neuroarena.families.moabb.catalogue import make_pair

        dataset, paradigm = make_pair(task, {})
        begin, end = dataset.interval
        seconds = (end if paradigm.tmax is None else paradigm.tmax + begin) - (paradigm.tmin + begin)
        rate = float(paradigm.resample or _RATE_HZ)
        return WindowShape(channel_table(list(_NAMES), kind="eeg"), rate, int(np.ceil(seconds * rate)) + 1)

    def load(
        self, task: str, definition: str, data: str | None = None, options: MoabbOptions = _DEFAULTS
    ) -> Benchmark:
        """Let MOABB read the recordings, and bind the task to them; see :func:`.bridge.from_moabb`."""
        from neuroarena.families.moabb.bridge import from_moabb
        from neuroarena.families.moabb.catalogue import make_pair

        dataset, paradigm = make_pair(task, options.of_paradigm())
        return from_moabb(dataset, paradigm, options.subjects, data)


FAMILY = Moabb()
