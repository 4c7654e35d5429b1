"""The text files of a simulated HBN-EEG release: participants, events, channels and their descriptions.

Plain writes: the whole folder is built next to its destination and moved there at the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neuroarena.families.eeg2025.hbn.twin_events import Story
from neuroarena.families.eeg2025.hbn.twin_people import FACTOR_NAMES, Person

CHANNEL_NAMES = (*(f"E{number}" for number in range(1, 129)), "Cz")
# The columns of participants.tsv after the factors, and the recording that each is about.
TASK_OF_COLUMN = {
    "RestingState": ("RestingState", 0),
    "DespicableMe": ("DespicableMe", 0),
    "FunwithFractals": ("FunwithFractals", 0),
    "ThePresent": ("ThePresent", 0),
    "DiaryOfAWimpyKid": ("DiaryOfAWimpyKid", 0),
    "contrastChangeDetection_1": ("contrastChangeDetection", 1),
    "contrastChangeDetection_2": ("contrastChangeDetection", 2),
    "contrastChangeDetection_3": ("contrastChangeDetection", 3),
    "surroundSupp_1": ("surroundSupp", 1),
    "surroundSupp_2": ("surroundSupp", 2),
    "seqLearning6target": ("seqLearning6target", 0),
    "seqLearning8target": ("seqLearning8target", 0),
    "symbolSearch": ("symbolSearch", 0),
}
_BEFORE_TASKS = (
    "participant_id",
    "release_number",
    "sex",
    "age",
    "ehq_total",
    "commercial_use",
    "full_pheno",
    *FACTOR_NAMES,
)


def write_root(folder: Path, release: str) -> None:
    """Write the descriptions of a release."""
    number = release.removeprefix("R")
    _write_json(
        folder / "dataset_description.json",
        {
            "Name": f"Healthy Brain Network (HBN) EEG - Release {number} (simulated)",
            "License": "CC0 (simulated data)",
            "BIDSVersion": "1.9.0",
            "DatasetType": "raw",
            "Authors": ["neuroarena"],
            "GeneratedBy": [{"Name": "neuroarena hbn twin"}],
        },
    )
    _write_text(
        folder / "README",
        "Simulated data in the layout of HBN-EEG. No person was recorded; see simulated.json one folder up.\n",
    )
    _write_text(folder / "CHANGES", "1.0.0 simulated\n")


def write_participants(
    folder: Path, release: str, people: Sequence[Person], states: Mapping[str, Mapping[str, str]]
) -> None:
    """Write participants.tsv: 24 columns, and for every task whether its recording exists."""
    lines = ["\t".join((*_BEFORE_TASKS, *TASK_OF_COLUMN))]
    for person in people:
        factors = [f"{person.factors[name]:.3f}" if person.factors else "n/a" for name in FACTOR_NAMES]
        ehq = "n/a" if person.ehq is None else f"{person.ehq:.2f}"
        known = [f"sub-{person.name}", release, person.sex, f"{person.age:.4f}", ehq, "Yes"]
        known += ["Yes" if person.factors else "No", *factors]
        lines.append("\t".join([*known, *(states[person.name][column] for column in TASK_OF_COLUMN)]))
    _write_text(folder / "participants.tsv", "\n".join(lines) + "\n")


def write_sidecars(stem: Path, task: str, story: Story, rate_hz: int, samples: bool) -> None:
    """Write events.tsv, channels.tsv and eeg.json of one recording; raw ones have a column `sample`."""
    base = ["onset", "duration", *(["sample"] if samples else []), "value", "event_code"]
    lines = ["\t".join([*base, *story.columns])]
    for row in story.rows:
        onset = float(str(row["onset"]))
        whole = {"duration": "n/a", "sample": f"{onset * rate_hz:g}", **row, "onset": f"{onset:g}"}
        lines.append("\t".join(str(whole.get(name, "n/a")) for name in [*base, *story.columns]))
    _write_text(stem.with_name(f"{stem.name}_events.tsv"), "\n".join(lines) + "\n")
    channels = ["name\ttype\tunits", *(f"{name}\tEEG\tuV" for name in CHANNEL_NAMES)]
    _write_text(stem.with_name(f"{stem.name}_channels.tsv"), "\n".join(channels) + "\n")
    _write_json(
        stem.with_name(f"{stem.name}_eeg.json"),
        {
            "TaskName": task,
            "SamplingFrequency": rate_hz,
            "EEGReference": "Cz",
            "PowerLineFrequency": 60,
            "SoftwareFilters": "n/a",
            "EEGChannelCount": len(CHANNEL_NAMES),
            "RecordingType": "continuous",
            "RecordingDuration": story.duration_s,
        },
    )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _write_json(path: Path, value: dict[str, Any]) -> None:
    _write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
