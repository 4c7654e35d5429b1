"""What encoders are asked, and what their heads are taught: windows without labels, and labels without windows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena import atomic
from neuroarena.benchmarks import Benchmark, Fold
from neuroarena.decoders.streams import Playback
from neuroarena.evaluation.questions import Questions, open_questions, questions_about, write_questions
from neuroarena.families.transfer.decoders.probe import choose_windows
from neuroarena.scoring import StreamRule


@dataclass(frozen=True)
class EncoderQuestions:
    """The windows of one track.

    Attributes
    ----------
    test, train : Questions
        Of the test part; and of the training part, whose labels are public.
    places : mapping of str to str
        Recording -> name of its channel table.
    tables : mapping of str to dict
        Name -> channel table, by columns.
    """

    test: Questions
    train: Questions
    places: dict[str, str]
    tables: dict[str, dict[str, list[Any]]]


def write_encoder_questions(benchmark: Benchmark, split: str, folder: Path) -> None:
    """Write the windows of a track into a new folder, from which they can be asked where no label is."""
    folds = benchmark.split(split).folds
    test = questions_about(benchmark, {example for fold in folds for example in fold.test})
    rule = benchmark.manifest.stream
    if rule is not None and rule.answer == "joined":
        train = _stream_windows(benchmark, folds, rule)
    else:
        train = questions_about(benchmark, {example for fold in folds for example in fold.train})
    tables: dict[str, dict[str, list[Any]]] = {}
    places: dict[str, str] = {}
    for key in sorted({*test.table["recording"], *train.table["recording"]}):
        columns = json.loads(benchmark.recording(key).channels.to_json(orient="split"))
        table = {name: [row[k] for row in columns["data"]] for k, name in enumerate(columns["columns"])}
        places[key] = next((name for name, known in tables.items() if known == table), str(len(tables)))
        tables[places[key]] = table
    with atomic.building(folder) as temporary:
        temporary.mkdir(exist_ok=True)
        write_questions(test, temporary / "test")
        write_questions(train, temporary / "train")
        (temporary / "channels.json").write_text(
            json.dumps({"places": places, "tables": tables}), encoding="utf-8"
        )
        temporary.rename(folder)


def open_encoder_questions(folder: Path) -> EncoderQuestions:
    """Open windows that were written before."""
    said = json.loads((folder / "channels.json").read_text(encoding="utf-8"))
    return EncoderQuestions(
        open_questions(folder / "test"), open_questions(folder / "train"), said["places"], said["tables"]
    )


def make_lesson(benchmark: Benchmark, split: str) -> bytes:
    """Return what the heads of a track are taught, as arrays: targets of the training part, and its folds."""
    folds, rule = benchmark.split(split).folds, benchmark.manifest.stream
    arrays: dict[str, np.ndarray] = {"folds": np.array([len(folds)])}
    for number, fold in enumerate(folds):
        arrays[f"test{number}"] = np.array(sorted(fold.test), dtype=str)
        arrays[f"train{number}"] = np.array(sorted(fold.train), dtype=str)
    ids = {example for fold in folds for example in fold.train}
    rows = benchmark.examples[benchmark.examples["id"].isin(ids)].sort_values("id", ignore_index=True)
    arrays["id"], arrays["subject"] = (
        rows[name].astype(str).to_numpy(dtype=str) for name in ("id", "subject")
    )
    if rule is not None and rule.answer == "joined":
        arrays |= _teach_keys(benchmark, folds, rule)
    elif benchmark.codebook is not None:
        names, number_of = np.unique(rows["target"].astype(str), return_inverse=True)
        arrays["number"], arrays["vectors"] = (
            number_of,
            np.asarray(benchmark.codebook.vectors(names), np.float64),
        )
    elif benchmark.manifest.classes:
        arrays["target"] = rows["target"].astype(str).to_numpy(dtype=str)
    else:
        arrays["target"] = rows["target"].to_numpy(dtype=np.float64)
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    return content.getvalue()


def cut_windows(signal: np.ndarray, rate_hz: float, rule: StreamRule) -> Iterator[np.ndarray]:
    """Cut a training stream into its windows, in order of time: float32 (channels, samples)."""
    length, hop = round(rule.window_s * rate_hz), round(rule.hop_s * rate_hz)
    for start in range(0, signal.shape[1] - length + 1, hop):
        yield signal[:, start : start + length]


@dataclass(frozen=True)
class _Due:
    """A training window of a stream that is answered with text."""

    name: str
    example: pd.Series
    playback: Playback
    number: int

    @property
    def first(self) -> int:
        """The sample at which it begins, from the start of the stream."""
        return self.number * self.playback.hop - self.playback.before


def _list_due(benchmark: Benchmark, fold: Fold, rule: StreamRule) -> list[_Due]:
    """List the windows that a fold's head learns from, as the organiser's probe chooses them."""
    due: list[_Due] = []
    rows = benchmark.examples[benchmark.examples["id"].isin(set(fold.train))]
    for _, example in rows.iterrows():
        recording = benchmark.recording(example["recording"])
        rng = np.random.default_rng(0)
        playback = Playback(recording, int(example["start"]), int(example["stop"]), rule, rng)
        due += [_Due(f"{example['id']}#{k}", example, playback, k) for k in range(len(playback))]
    return [due[place] for place in choose_windows(len(due))]


def _stream_windows(benchmark: Benchmark, folds: tuple[Fold, ...], rule: StreamRule) -> Questions:
    every = {each.name: each for fold in folds for each in _list_due(benchmark, fold, rule)}
    chosen = [every[name] for name in sorted(every)]
    whole = questions_about(benchmark, {str(each.example["id"]) for each in chosen})
    known = whole.table.set_index("id")
    table = pd.DataFrame([known.loc[str(each.example["id"])] for each in chosen])
    table = table.assign(id=[each.name for each in chosen]).reset_index(drop=True)

    def read(row: int) -> np.ndarray:
        each = chosen[row]
        last = each.number * each.playback.hop + each.playback.window + each.playback.after
        return each.playback.read(each.first, last)

    return Questions(whole.name, whole.manifest, table[list(whole.table.columns)], read)


def _teach_keys(benchmark: Benchmark, folds: tuple[Fold, ...], rule: StreamRule) -> dict[str, np.ndarray]:
    """Return the windows of every fold, where each begins in its recording, and the presses of all recordings."""
    arrays: dict[str, np.ndarray] = {}
    every: dict[str, _Due] = {}
    for number, fold in enumerate(folds):
        chosen = _list_due(benchmark, fold, rule)
        arrays[f"train{number}"] = np.array([each.name for each in chosen], dtype=str)
        every |= {each.name: each for each in chosen}
    names = sorted(every)
    arrays["id"] = np.array(names, dtype=str)
    arrays["recording"] = np.array([every[name].example["recording"] for name in names], dtype=str)
    origins = [int(every[name].example["start"]) + every[name].first for name in names]
    arrays["origin"] = np.array(origins, dtype=np.int64)
    keys, onsets, of = [], [], []
    assert benchmark.read_events is not None  # as for every benchmark of keys
    for key in sorted(set(arrays["recording"])):
        events = benchmark.read_events(key)
        onsets += list(events["onset_s"])
        keys += list(events["value"].astype(str))
        of += [key] * len(events)
    arrays |= {"key": np.array(keys, dtype=str), "onset_s": np.array(onsets, dtype=np.float64)}
    arrays["pressed_in"] = np.array(of, dtype=str)
    rates = {key: float(benchmark.recording(key).rate_hz) for key in set(arrays["recording"])}
    arrays["rate_hz"] = np.array([rates[key] for key in arrays["recording"]])
    return arrays
