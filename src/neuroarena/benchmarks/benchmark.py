"""What a benchmark is: a manifest, examples, splits, and the recordings they point into."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pandas as pd

from neuroarena.benchmarks.codebook import Codebook
from neuroarena.benchmarks.splits import Split
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain
from neuroarena.recordings import Recording
from neuroarena.registry import unknown_name
from neuroarena.scoring import Manifest

EXAMPLE_COLUMNS = ("id", "recording", "start", "stop", "target", "unit", "cluster", "subject", "session")


@dataclass(frozen=True)
class WindowShape:
    """What a decoder will receive, known without any data: channels, rate and length of a window."""

    channels: pd.DataFrame
    rate_hz: float
    n_samples: int


@dataclass(frozen=True)
class Benchmark:
    """A question asked of decoders, bound to data.

    Parameters
    ----------
    manifest : Manifest
        The rules, as data.
    make_examples : callable
        ``() -> DataFrame`` with the columns of :data:`EXAMPLE_COLUMNS`, one row per example.
    split_rules : mapping of str to callable
        Split name to ``examples -> Split``.
    open_recording : callable
        ``key -> Recording`` for the values of the column ``recording``.
    simulated : bool
        True when the data are a simulated twin; shown wherever a result is shown.
    options : mapping
        What was chosen in addition to the name (subset, number of classes, sessions); recorded.
    notes : tuple of str
        Sentences about these data that a reader of a result must know; recorded.
    codebook : Codebook, optional
        Where targets are names of vectors: the vectors. Training parts and the truth then hold these.
    read_events : callable, optional
        ``key -> DataFrame`` of the columns onset_s, duration_s and value: what is annotated in a recording.
        Passed with training and validation parts of stream tasks, never with test parts.
    known : tuple of str
        Columns of the examples, in addition to subject and session, that a decoder may see (age, sex).
    features : FeatureChain
        What every window goes through before a decoder's own features: filters, resampling, a crop of padded ends.
        Not for streams.
    """

    manifest: Manifest
    make_examples: Callable[[], pd.DataFrame]
    split_rules: Mapping[str, Callable[[pd.DataFrame], Split]]
    open_recording: Callable[[str], Recording]
    simulated: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    codebook: Codebook | None = None
    read_events: Callable[[str], pd.DataFrame] | None = None
    known: tuple[str, ...] = ()
    features: FeatureChain = field(default_factory=FeatureChain)

    def __post_init__(self) -> None:
        if self.features.steps and self.manifest.stream is not None:
            raise InputError(f"{self.manifest.name}: streams are played as they are; leave the features out.")

    @classmethod
    def from_events(cls, data: Any, **rules: Any) -> Benchmark:
        """Make a benchmark of one's own recordings: a window around each event, and what the event was.

        Recordings are read lazily: memory follows the windows that are requested, not the files.

        Parameters
        ----------
        data
            A BIDS folder, a folder of files, a file (EDF, BDF, GDF, FIF, EEGLAB, BrainVision), a pattern such as
            ``"S001/*.edf"``, an ``mne.io.Raw``, an array (channels, time), a :class:`~neuroarena.Recording`, a list of
            these, or a mapping of names to them.
        **rules
            ``window_s=(begin, end)`` and ``split=...`` are needed; the others are those of
            :class:`neuroarena.benchmarks.own.definition.Definition`. How data are read: ``events`` (a table with
            ``onset_s`` or ``sample``, MNE's own events, or a file; by default what the recordings say), ``names``
            (``"S{subject}R{run}"``, what the names of files say), ``task`` and ``subjects`` (of a BIDS folder),
            ``stim_channel`` (where events are pulses in a channel) and ``rate_hz`` (of arrays).

        Raises
        ------
        InputError
            Whatever is wrong with data or rules, by name.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> events = pd.DataFrame({"onset_s": np.arange(1.0, 21.0), "value": ["left", "right"] * 10})
        >>> benchmark = Benchmark.from_events(
        ...     rng.standard_normal((4, 2200)), rate_hz=100.0, events=events, window_s=(0, 0.5), split="blocked-2-folds"
        ... )
        >>> len(benchmark.examples), benchmark.manifest.classes, benchmark.splits
        (20, ('left', 'right'), ('blocked-2-folds',))
        """
        from neuroarena.benchmarks.own.making import benchmark_from_events

        return benchmark_from_events(data, rules)

    @classmethod
    def from_epochs(cls, data: Any, **rules: Any) -> Benchmark:
        """Make a benchmark of windows that were cut already, with a table of what is known about each.

        Parameters
        ----------
        data : mne.Epochs, path, array (windows, channels, time), or a list or mapping of these
            A path is that of a file of epochs. Epochs that are not loaded are read when they are requested.
        **rules
            ``split=...`` is needed; the others are those of
            :class:`neuroarena.benchmarks.own.definition.Definition`, where columns are those of the epochs' metadata,
            and ``event`` is the name of the event. Arrays need ``metadata`` (one row per window) and ``rate_hz``, and
            take ``channel_names``.

        Raises
        ------
        InputError
            Whatever is wrong with data or rules, by name.

        Examples
        --------
        >>> import numpy as np
        >>> table = pd.DataFrame({"label": ["a", "b"] * 6, "run": np.repeat(["1", "2", "3"], 4)})
        >>> windows = np.random.default_rng(0).standard_normal((12, 4, 100))
        >>> benchmark = Benchmark.from_epochs(
        ...     windows, metadata=table, rate_hz=100.0, target="label", split="leave-one-run-out", metric="auroc"
        ... )
        >>> [fold.name for fold in benchmark.split("leave-one-run-out").folds]
        ['1/1', '1/2', '1/3']
        """
        from neuroarena.benchmarks.own.making import benchmark_from_epochs

        return benchmark_from_epochs(data, rules)

    @property
    def name(self) -> str:
        """The full name, with the definition: ``family@definition/task``."""
        family, _, task = self.manifest.name.partition("/")
        return f"{family}@{self.manifest.definition}/{task}"

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits these data allow."""
        return tuple(self.split_rules)

    @functools.cached_property
    def examples(self) -> pd.DataFrame:
        """The examples table, checked."""
        return check_examples(self.make_examples(), self.manifest.name)

    def split(self, name: str) -> Split:
        """Divide the examples into the folds of one split.

        Raises
        ------
        InputError
            When there is no such split, or when the manifest locks a different hash.
        """
        if name not in self.split_rules:
            raise unknown_name(f"split of {self.manifest.name}", name, self.splits, "benchmarks")
        split = self.split_rules[name](self.examples)
        locked = self.manifest.split_hashes.get(name)
        if locked is not None and locked != split.hash:
            raise InputError(
                f'{self.name}: the split "{name}" has hash {split.hash[:12]}, the manifest locks {locked[:12]}. '
                "The data are not the ones this definition was published with."
            )
        return split

    def truth(self, split: Split) -> pd.DataFrame:
        """Return the truth of a split: id, fold, unit, cluster, target for every example that is judged."""
        fold_of = {example: fold.name for fold in split.folds for example in fold.test}
        judged = self.examples[self.examples["id"].isin(fold_of)]
        table = judged[["id", "unit", "cluster", "target"]].copy()
        table.insert(1, "fold", table["id"].map(fold_of))
        if self.codebook is not None:
            table["target"] = pd.Series(
                list(self.codebook.vectors(table["target"])), table.index, dtype=object
            )
        return table.sort_values("id", ignore_index=True)

    def recording(self, key: str) -> Recording:
        """Open the recording that the column ``recording`` names."""
        return self.open_recording(key)


@dataclass(frozen=True)
class Suite:
    """Every task of a family, in its canonical order."""

    name: str
    benchmarks: tuple[Benchmark, ...]


class Family(Protocol):
    """What a registered benchmark family provides.

    A family with one definition and one task is the smallest one. One that can be loaded in several ways has the
    face `options`, a model derived from :class:`.options.FamilyOptions`; its :meth:`load` receives an instance of it.
    A family of models that are shown stimuli, rather than decoders of recordings, says ``judges = "models"``.
    One whose tasks are too many to be listed has ``find_task(task) -> str``, which returns the name of a task or
    refuses it, and ``task_form``, which says how tasks are named.
    """

    name: str
    title: str
    definitions: tuple[str, ...]

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the tasks of a definition in their canonical order."""
        ...

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first; some data may allow fewer."""
        ...

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task without needing data."""
        ...

    def window(self, task: str, definition: str) -> WindowShape:
        """Describe the windows, without needing data."""
        ...

    def load(self, task: str, definition: str, data: str | None = None, *options: Any) -> Benchmark:
        """Bind a task to data; where the family has the face `options`, the fourth argument is an instance of it."""
        ...


def check_examples(examples: pd.DataFrame, name: str) -> pd.DataFrame:
    """Check an examples table and return it with a fresh index.

    Raises
    ------
    InputError
        For a missing column, a duplicate id, an empty table or a window that ends before it starts.
    """
    missing = [column for column in EXAMPLE_COLUMNS if column not in examples.columns]
    if missing:
        raise InputError(f"{name}: the examples lack the columns {', '.join(missing)}.")
    if examples.empty:
        raise InputError(f"{name}: there are no examples in these data.")
    duplicated = examples.loc[examples["id"].duplicated(), "id"]
    if len(duplicated):
        raise InputError(f'{name}: the example id "{duplicated.iloc[0]}" occurs more than once.')
    backwards = examples.loc[examples["stop"] <= examples["start"], "id"]
    if len(backwards):
        raise InputError(f'{name}: the window of example "{backwards.iloc[0]}" ends before it starts.')
    if examples[list(EXAMPLE_COLUMNS)].isna().to_numpy().any():
        column = next(column for column in EXAMPLE_COLUMNS if examples[column].isna().any())
        row = examples.loc[examples[column].isna(), "id"].iloc[0]
        raise InputError(f'{name}: example "{row}" has no value for "{column}".')
    return examples.reset_index(drop=True)
