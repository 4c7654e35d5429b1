"""What a replay reads: the training part of a fold with its labels, and the signals to answer without theirs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena import atomic
from neuroarena.benchmarks import Benchmark, Fold, Split
from neuroarena.errors import InputError

TRAINING, QUESTIONS = "training", "questions"
_EXAMPLES, _EVENTS = "examples.parquet", "events.parquet"


@dataclass(frozen=True)
class Asked:
    """One part of a track: a benchmark bound to data, and the split whose test part is judged."""

    benchmark: Benchmark
    split: Split


def write_fold(benchmark: Benchmark, fold: Fold, folder: Path) -> None:
    """Write the two folders that a replay of one fold reads.

    ``training`` and ``questions`` each hold ``examples.parquet``, one row per example with id, subject, session,
    rate_hz, the file of its signals and its row in it; ``signals-N.npy``, float32 (rows, channels, samples); and
    ``channels-N.parquet``. Only ``training`` has the column target and, for streams whose recordings are annotated,
    ``events.parquet``: id, onset_s from the example's first sample, duration_s and value.

    Parameters
    ----------
    benchmark : Benchmark
    fold : Fold
    folder : Path
        New.
    """
    _write_part(benchmark, (*fold.train, *fold.validation), folder / TRAINING, with_targets=True)
    _write_part(benchmark, fold.test, folder / QUESTIONS, with_targets=False)


def write_training(questions: Mapping[str, Asked], folder: Path) -> None:
    """Write the training parts of all folds together, for a pipeline that makes code: there is nothing to answer.

    A track of several parts has a folder for each of them, by its name.
    """
    for part, asked in questions.items():
        ids = {example for fold in asked.split.folds for example in (*fold.train, *fold.validation)}
        place = folder / TRAINING / part if part else folder / TRAINING
        _write_part(asked.benchmark, ids, place, with_targets=True)
    (folder / QUESTIONS).mkdir()


def write_replay_data(questions: Mapping[str, Asked], folder: Path, makes: str) -> None:
    """Write what replays read into a new folder, whole or not at all: one folder for each sandbox of a replay.

    Parameters
    ----------
    questions : mapping of part to Asked
    folder : Path
    makes : {"predictions", "code"}
        What the pipeline writes. Predictions are made fold by fold; code is made once, from all training parts.

    Raises
    ------
    InputError
        When predictions are to be made for a track of several parts.
    """
    if makes == "predictions" and len(questions) != 1:
        raise InputError("The track has several parts, so that its pipelines make code.")
    with atomic.building(folder) as temporary:
        if makes == "code":
            write_training(questions, temporary / "0")
        else:
            ((_, asked),) = questions.items()
            for number, fold in enumerate(asked.split.folds):
                write_fold(asked.benchmark, fold, temporary / str(number))
        temporary.rename(folder)


def list_folds(folder: Path) -> list[Path]:
    """Return the folders that the sandboxes of one replay read, in order."""
    return sorted((path for path in folder.iterdir() if path.is_dir()), key=lambda path: int(path.name))


def copy_shuffled(folder: Path, target: Path, rng: np.random.Generator) -> None:
    """Copy what a sandbox reads with the labels of each training part in another order; signals are linked.

    Events are labels too: their values change places, and each happens at another time of its example. In the places of
    other examples they would still be told from the signals, because people fall asleep and type in the same order.
    """
    shutil.copytree(folder, target, copy_function=_link)
    for table in sorted((target / TRAINING).rglob(_EXAMPLES)):
        known = pd.read_parquet(table)
        order = rng.permutation(len(known))
        table.unlink()
        known.assign(target=known["target"].to_numpy()[order]).to_parquet(table, index=False)
        events = table.with_name(_EVENTS)
        if events.exists():
            shuffled = _shuffle_events(pd.read_parquet(events), _measure_lengths(known, table.parent), rng)
            events.unlink()
            shuffled.to_parquet(events, index=False)


def _measure_lengths(known: pd.DataFrame, folder: Path) -> dict[str, float]:
    """Return how many seconds each example lasts."""
    samples = {
        number: np.load(folder / f"signals-{number}.npy", mmap_mode="r").shape[-1]
        for number in known["file"].unique()
    }
    columns = (known["id"], known["file"], known["rate_hz"])
    return {example: samples[number] / rate_hz for example, number, rate_hz in zip(*columns, strict=True)}


def _shuffle_events(
    events: pd.DataFrame, seconds: Mapping[str, float], rng: np.random.Generator
) -> pd.DataFrame:
    moved = events.assign(
        onset_s=rng.random(len(events)) * events["id"].map(seconds).to_numpy(dtype=np.float64),
        value=events["value"].to_numpy()[rng.permutation(len(events))],
    )
    return moved.sort_values(["id", "onset_s"], ignore_index=True)


def _link(source: str, target: str) -> None:
    """Link a file; copy it where that is not possible, as for a file of somebody else's."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def refuse_sealed_training(folds: Iterable[Fold], sealed: Collection[str], track: str) -> None:
    """Refuse to replay where a training part holds sealed labels: they never enter a guest.

    Raises
    ------
    InputError
    """
    hidden = set(sealed)
    for fold in folds:
        shared = hidden & {*fold.train, *fold.validation}
        if shared:
            raise InputError(
                f'The track "{track}" cannot be replayed: {len(shared)} examples of the training part of fold '
                f'"{fold.name}" are sealed, and sealed labels never enter a sandbox.'
            )


def _write_part(benchmark: Benchmark, ids: Collection[str], folder: Path, *, with_targets: bool) -> None:
    folder.mkdir(parents=True)
    chosen = benchmark.examples[benchmark.examples["id"].isin(set(ids))].sort_values("id")
    rows = []
    for number, (key, group) in enumerate(_equal_lengths(chosen)):
        recording = benchmark.recording(key)
        length = int(group["stop"].iloc[0] - group["start"].iloc[0])
        signals = recording.windows(group["start"].to_numpy(dtype=np.int64), length)
        channels, rate_hz = recording.channels, recording.rate_hz
        if benchmark.features.steps:
            signals, channels = benchmark.features(signals, channels, rate_hz)
            rate_hz = benchmark.features.rate_after(rate_hz)
        np.save(folder / f"signals-{number}.npy", signals, allow_pickle=False)
        channels.to_parquet(folder / f"channels-{number}.parquet", index=False)
        known = group[["id", "subject", "session", *benchmark.known]].reset_index(drop=True)
        known["rate_hz"] = rate_hz
        known["file"], known["row"] = number, np.arange(len(group))
        if with_targets:
            known["target"] = _targets_of(benchmark, group)
        rows.append(known)
    pd.concat(rows, ignore_index=True).to_parquet(folder / _EXAMPLES, index=False)
    # As decoders are told them: with the training part of a stream task, never with the test part.
    if with_targets and benchmark.read_events is not None and benchmark.manifest.stream is not None:
        _list_events(benchmark, chosen).to_parquet(folder / _EVENTS, index=False)


def _list_events(benchmark: Benchmark, examples: pd.DataFrame) -> pd.DataFrame:
    """Return what is annotated within examples, by the time since the first sample of each."""
    assert benchmark.read_events is not None
    found = []
    for key, group in examples.groupby("recording", sort=True):
        events, rate_hz = benchmark.read_events(str(key)), benchmark.recording(str(key)).rate_hz
        for example, start, stop in zip(group["id"], group["start"], group["stop"], strict=True):
            onset_s = events["onset_s"] - start / rate_hz
            within = (onset_s < (stop - start) / rate_hz) & (
                (onset_s >= 0) | (onset_s + events["duration_s"] > 0)
            )
            own = events.assign(id=example, onset_s=onset_s, value=events["value"].astype(str))[within]
            found.append(own[["id", "onset_s", "duration_s", "value"]])
    joined: pd.DataFrame = pd.concat(found, ignore_index=True)
    return joined.sort_values(["id", "onset_s"], ignore_index=True)


def _equal_lengths(examples: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Group examples by recording and length: windows of one recording, or single stretches of a stream."""
    length = (examples["stop"] - examples["start"]).rename("length")
    for (key, _), group in examples.groupby([examples["recording"], length], sort=True):
        yield str(key), group


def _targets_of(benchmark: Benchmark, group: pd.DataFrame) -> pd.Series:
    targets = group["target"].reset_index(drop=True)
    if benchmark.codebook is None:
        return targets
    return pd.Series(list(benchmark.codebook.vectors(targets)), dtype=object)
