"""A benchmark that stands alone, such as a file or an object of one's own module, under every verb a family has."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from neuroarena.benchmarks.benchmark import Benchmark, WindowShape
from neuroarena.errors import InputError
from neuroarena.recordings import Recording
from neuroarena.scoring import Manifest


def is_file_name(name: str) -> bool:
    """Return whether a name is that of a file of a benchmark."""
    return name.lower().endswith(".toml")


@dataclass
class Standalone:
    """A family of one benchmark, which is made when it is needed.

    Attributes
    ----------
    name, task, title : str
    definitions : tuple of str
        The only one.
    split_names : tuple of str
    make : callable
        ``data -> Benchmark``, where `data` is the folder given by ``--data``, or None.
    """

    name: str
    task: str
    title: str
    definitions: tuple[str, ...]
    split_names: tuple[str, ...]
    make: Callable[[str | None], Benchmark]

    def tasks(self, definition: str) -> tuple[str, ...]:  # noqa: ARG002 - there is one
        """Return the one task."""
        return (self.task,)

    def splits(self, task: str, definition: str) -> tuple[str, ...]:  # noqa: ARG002 - there is one task
        """List the splits, the default first."""
        return self.split_names

    def manifest(self, task: str, definition: str) -> Manifest:  # noqa: ARG002 - there is one task
        """Return the rules; the classes may be known from the data only."""
        return self.make(None).manifest

    def window(self, task: str, definition: str) -> WindowShape:  # noqa: ARG002 - there is one task
        """Describe the windows that a decoder receives, as those of the first recording are."""
        benchmark = self.make(None)
        row = benchmark.examples.iloc[0]
        return _shape_after(
            benchmark, benchmark.recording(str(row["recording"])), int(row["stop"] - row["start"])
        )

    def load(self, task: str, definition: str, data: str | None = None) -> Benchmark:  # noqa: ARG002 - there is one
        """Make the benchmark."""
        return self.make(data)


def _shape_after(benchmark: Benchmark, recording: Recording, length: int) -> WindowShape:
    import numpy as np

    chain = benchmark.features
    blank = np.zeros((1, len(recording.channels), length), dtype=np.float32)
    signals, channels = chain(blank, recording.channels, recording.rate_hz)
    return WindowShape(channels, chain.rate_after(recording.rate_hz), signals.shape[2])


def family_of_file(name: str) -> Standalone:
    """Return the benchmark of a file as a family; the data are not looked at.

    Raises
    ------
    InputError
        When the file is not as it should be.
    """
    from neuroarena.benchmarks.own.toml_file import load_benchmark_file, read_benchmark_file

    asked = read_benchmark_file(name)
    family, _, task = asked.task_name.partition("/")
    splits = (asked.split,) if isinstance(asked.split, str) else tuple(asked.split)

    def make(data: str | None) -> Benchmark:
        status = os.stat(name)
        key = (os.path.abspath(name), status.st_mtime_ns, status.st_size)
        return _load_once(load_benchmark_file, name, data, key)

    return Standalone(family, task, asked.title or task, (asked.definition or "own",), splits, make)


@functools.lru_cache(maxsize=4)
def _load_once(
    load: Callable[..., Benchmark],
    name: str,
    data: str | None,
    key: tuple[str, int, int],  # noqa: ARG001 - the file as it is now
) -> Benchmark:
    """Load a file once for all the verbs that ask about it."""
    return load(name, data)


def family_of_object(address: str, found: Any) -> Any:
    """Return what an address (``module:attribute``) leads to as a family; a family is returned as it is.

    Raises
    ------
    InputError
        When it is no benchmark, no function that makes one, and no family.
    """
    if callable(found) and not hasattr(found, "tasks"):
        found = found()
    if hasattr(found, "tasks"):
        return found
    if not isinstance(found, Benchmark):
        raise InputError(
            f"{address}: expected a Benchmark, a function that returns one, or a family; got {type(found).__name__}."
        )
    family, _, task = found.manifest.name.partition("/")
    benchmark = found

    def make(data: str | None) -> Benchmark:
        if data is not None:
            raise InputError(f"{address}: is bound to its data already; leave --data out.")
        return benchmark

    return Standalone(family, task, found.manifest.title, (found.manifest.definition,), found.splits, make)
