"""The challenge of 2026 as a family without tasks of its own."""

from __future__ import annotations

from typing import Any

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest


class Challenge2026:
    """What spans the five tracks: ranking rules by name, and boards over several tracks."""

    name = "challenge2026"
    title = "EEG/EMG challenge 2026: what spans its five tracks"
    definitions = ("2026",)
    rules = "neuroarena.families.challenge2026.definition:RULES"
    competition = "neuroarena.families.challenge2026/competition.toml"
    standings = "neuroarena.families.challenge2026.standings:STANDINGS"

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks: none, because every track is a family of its own."""
        return ()

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """Refuse every name: there is no task."""
        raise _no_task(task)

    def manifest(self, task: str, definition: str) -> Manifest:
        """Refuse every name: there is no task."""
        raise _no_task(task)

    def window(self, task: str, definition: str) -> WindowShape:
        """Refuse every name: there is no task."""
        raise _no_task(task)

    def load(self, task: str, definition: str, data: str | None = None, **options: Any) -> Benchmark:
        """Refuse every name: there is no task."""
        raise _no_task(task)


FAMILY = Challenge2026()


def _no_task(task: str) -> InputError:
    return InputError(
        f'The family "{FAMILY.name}" has no task "{task}": its tracks are families of their own. '
        "See: neuroarena list benchmarks"
    )
