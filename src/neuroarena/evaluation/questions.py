"""The questions of a test set as code is asked them: signals, and nothing that names a target.

They are made from a benchmark, or written into a folder from which they can be asked where no label is: whoever runs
a stranger's code in a competition has such a folder and not the data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena import atomic
from neuroarena.benchmarks import Benchmark
from neuroarena.errors import InputError
from neuroarena.progress import Progress, Silence
from neuroarena.scoring import Manifest

_TABLE, _SIGNALS, _ABOUT = "questions.parquet", "signals.f32", "questions.json"
COLUMNS = ("id", "person", "recording", "channels", "rate_hz", "known")


@dataclass(frozen=True)
class Questions:
    """What is asked about one task.

    Attributes
    ----------
    name : str
        Of the benchmark, with its definition.
    manifest : Manifest
    table : DataFrame
        One row per question: id, person, recording, channels (tuple of names), rate_hz, known (mapping: what may be
        known of the person). Sorted by id.
    read : callable
        Row number -> float32 (channels, samples): the window, or the stretch that is played as a stream.
    """

    name: str
    manifest: Manifest
    table: pd.DataFrame
    read: Callable[[int], np.ndarray]

    def __len__(self) -> int:
        return len(self.table)

    def describe(self, row: int) -> dict[str, Any]:
        """Return what a model may know beside the signals of a question."""
        asked = self.table.iloc[row]
        known = {name: value for name, value in asked["known"].items() if value is not None}
        return {"channels": list(asked["channels"]), "rate_hz": float(asked["rate_hz"]), **known}


def questions_of(benchmark: Benchmark, split: str) -> Questions:
    """Return the questions of a benchmark's test part, read from its recordings when they are asked."""
    return questions_about(
        benchmark, {example for fold in benchmark.split(split).folds for example in fold.test}
    )


def questions_about(benchmark: Benchmark, ids: Collection[str]) -> Questions:
    """Return some examples of a benchmark as questions, read from its recordings when they are asked."""
    examples = benchmark.examples[benchmark.examples["id"].isin(set(ids))]
    examples = examples.sort_values("id", ignore_index=True)
    opened: dict[str, Any] = {}

    def recording(key: str) -> Any:
        if key not in opened:
            opened.clear()
            opened[key] = benchmark.recording(key)
        return opened[key]

    def read(row: int) -> np.ndarray:
        asked = examples.iloc[row]
        return np.asarray(
            recording(asked["recording"]).read(int(asked["start"]), int(asked["stop"])), np.float32
        )

    shapes = {key: _describe(benchmark.recording(key)) for key in examples["recording"].unique()}
    table = pd.DataFrame(
        {
            "id": examples["id"].astype(str),
            "person": examples["subject"].astype(str),
            "recording": examples["recording"].astype(str),
            "channels": [shapes[key][0] for key in examples["recording"]],
            "rate_hz": [shapes[key][1] for key in examples["recording"]],
            "known": [_known(row, benchmark.known) for _, row in examples.iterrows()],
        }
    )
    return Questions(benchmark.name, benchmark.manifest, table, read)


def write_questions(questions: Questions, folder: Path, progress: Progress | None = None) -> None:
    """Write questions into a new folder: a table, and the signals one after the other.

    Raises
    ------
    InputError
        When the folder exists.
    """
    if folder.exists():
        raise InputError(f"{folder} exists already. Questions are written once.")
    progress = progress or Silence()
    stage = f"questions of {questions.manifest.name}"
    progress.begin(stage, len(questions))
    with atomic.building(folder) as temporary:
        offsets, samples = [], []
        with (temporary / _SIGNALS).open("wb") as file:
            for row in range(len(questions)):
                signal = np.ascontiguousarray(questions.read(row), dtype="<f4")
                offsets.append(file.tell())
                samples.append(signal.shape[1])
                file.write(signal.tobytes())
                progress.advance(stage)
        table = questions.table.assign(
            channels=[json.dumps(list(names)) for names in questions.table["channels"]],
            known=[json.dumps(known) for known in questions.table["known"]],
            offset=offsets,
            samples=samples,
        )
        table.to_parquet(temporary / _TABLE, index=False)
        about = {
            "schema_version": 1,
            "name": questions.name,
            "manifest": questions.manifest.model_dump(mode="json"),
        }
        (temporary / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        temporary.rename(folder)


def open_questions(folder: Path) -> Questions:
    """Open questions that were written before.

    Raises
    ------
    InputError
        When the folder holds none.
    """
    if not (folder / _ABOUT).is_file():
        raise InputError(f"{folder}: there are no questions here.")
    about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    table = pd.read_parquet(folder / _TABLE)
    table["channels"] = [tuple(json.loads(text)) for text in table["channels"]]
    table["known"] = [json.loads(text) for text in table["known"]]
    places = table[["offset", "samples"]].to_numpy()

    def read(row: int) -> np.ndarray:
        offset, samples = (int(value) for value in places[row])
        shape = (len(table["channels"].iloc[row]), samples)
        return np.array(np.memmap(folder / _SIGNALS, dtype="<f4", mode="r", offset=offset, shape=shape))

    return Questions(about["name"], Manifest.model_validate(about["manifest"]), table[list(COLUMNS)], read)


def _describe(recording: Any) -> tuple[tuple[str, ...], float]:
    return tuple(str(name) for name in recording.channels["name"]), float(recording.rate_hz)


def _known(row: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return what may be known of a person as JSON has it; None for what is not known."""
    found = {name: row[name] for name in names}
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in found.items()}
    return {name: None if pd.isna(value) else value for name, value in plain.items()}
