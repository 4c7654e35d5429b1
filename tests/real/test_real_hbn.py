"""HBN-EEG release 1: real events, people and lengths of 40 people give the trials and targets of the challenge.

The signals are not published with the tables; sparse BDF files of the stated lengths stand for them.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neuroarena.families.eeg2025.examples import crop_examples, trial_examples
from neuroarena.families.eeg2025.hbn import HBN

NAMES = [f"E{number}" for number in range(1, 129)] + ["Cz"]
TASK = "contrastChangeDetection"


def sparse_bdf(path: Path, seconds: int) -> None:
    """Write a BDF file of zeros at 100 Hz that takes no room on disk."""
    count = len(NAMES)
    fields = [
        (NAMES, 16),
        ([""] * count, 80),
        (["uV"] * count, 8),
        (["-8388608"] * count, 8),
        (["8388607"] * count, 8),
        (["-8388608"] * count, 8),
        (["8388607"] * count, 8),
        ([""] * count, 80),
        (["100"] * count, 8),
        ([""] * count, 32),
    ]
    head = b"\xffBIOSEMI" + b"".join(
        text.ljust(size).encode()
        for text, size in (
            ("X", 80), ("X", 80), ("01.01.01", 8), ("00.00.00", 8), (str(256 * (count + 1)), 8),
            ("24BIT", 44), (str(seconds), 8), ("1", 8), (str(count), 4),
        )
    )  # fmt: skip
    body = b"".join(value.ljust(size).encode() for values, size in fields for value in values)
    with open(path, "wb") as file:
        file.write(head + body)
        file.truncate(len(head) + len(body) + seconds * count * 100 * 3)


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def release(real: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contrast change recordings of release 1, under the name of the copy that the challenge reads."""
    source = real("hbn_eeg2025/ds005505")
    root = tmp_path_factory.mktemp("hbn") / "R1_L100_bdf"
    root.mkdir()
    (root / "participants.tsv").symlink_to(source / "participants.tsv")
    for events in sorted(source.glob(f"sub-*/eeg/*_task-{TASK}_run-*_events.tsv")):
        folder = root / events.parent.relative_to(source)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / events.name).symlink_to(events)
        said = json.loads(events.with_name(events.name.replace("_events.tsv", "_eeg.json")).read_text())
        sparse_bdf(folder / events.name.replace("_events.tsv", "_eeg.bdf"), int(said["RecordingDuration"]))
    return root


def trials_by_hand(path: Path, seconds: int) -> list[tuple[int, float]]:
    """First sample and response time of each trial, by the rule of the paper, with lists and floats alone."""
    events = sorted((float(row["onset"]), at, row["value"]) for at, row in enumerate(rows_of(path)))
    starts = [onset for onset, _, value in events if value == "contrastTrial_start"]
    found = []
    for start, stop in itertools.pairwise(starts):
        inside = [(onset, value) for onset, _, value in events if start <= onset < stop]
        targets = [onset for onset, value in inside if value in ("left_target", "right_target")]
        if not targets:
            continue
        presses = [onset for onset, value in inside if value.endswith("_buttonPress") and onset >= targets[0]]
        first = round((targets[0] + 0.5) * 100)
        if presses and first >= 0 and first + 200 <= 100 * seconds:
            found.append((first, presses[0] - targets[0]))
    return found


def test_the_trials_and_response_times_are_those_of_the_event_files(release: Path) -> None:
    examples = trial_examples(HBN(release))
    files = sorted(release.glob("sub-*/eeg/*_events.tsv"))
    assert len(files) == 94
    assert examples["subject"].nunique() == len({path.parts[-3] for path in files})
    total = 0
    for path in files:
        stem = path.name.removesuffix("_events.tsv").removeprefix("sub-").replace("_task-", "_")
        own = examples[examples["recording"] == f"R1/{stem}"]
        seconds = (
            path.with_name(path.name.replace("_events.tsv", "_eeg.bdf")).stat().st_size - 33280
        ) // 38700
        expected = trials_by_hand(path, seconds)
        np.testing.assert_allclose(own["target"], [target for _, target in expected], atol=1e-9)
        assert np.abs(own["start"].to_numpy() - [first for first, _ in expected]).max(initial=0) <= 1
        total += len(expected)
    assert len(examples) == total == 2352
    # As in the whole release: median 1.62 s, standard deviation 0.44 s.
    assert examples["target"].median() == pytest.approx(1.62, abs=0.05)
    assert examples["target"].std() == pytest.approx(0.44, abs=0.05)


@pytest.mark.parametrize("factor", ["externalizing", "p_factor"])
def test_the_factors_are_those_of_the_list_of_people(release: Path, factor: str) -> None:
    people = {
        row["participant_id"].removeprefix("sub-"): row for row in rows_of(release / "participants.tsv")
    }
    assert len(people) == 136
    examples = crop_examples(HBN(release), factor)
    lengths: dict[str, int] = {}
    for path in release.glob("sub-*/eeg/*_eeg.bdf"):
        samples = (path.stat().st_size - 33280) // 387
        subject = path.parts[-3].removeprefix("sub-")
        if people[subject][factor] != "n/a":
            # Windows of four seconds, one every two.
            lengths[subject] = lengths.get(subject, 0) + math.floor((samples - 400) / 200) + 1
    assert examples.groupby("subject").size().to_dict() == lengths
    for subject, target in examples.groupby("subject")["target"].unique().items():
        assert target.tolist() == [float(people[str(subject)][factor])]
    known = people[next(iter(lengths))]
    row = examples[examples["subject"] == next(iter(lengths))].iloc[0]
    assert row["age"] == float(known["age"])
