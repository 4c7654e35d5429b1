"""Neuroprobe on the published tables of all twelve lite sessions, against a reading of the test's own.

The folder is what a person has: the published tables beside recordings. The recordings here are empty datasets of
the right length, because no item depends on a sample.
"""

from __future__ import annotations

import bisect
import csv
import functools
import hashlib
import json
import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from neuroarena import load_benchmark
from neuroarena.families.neuroprobe.item_locks import ITEMS_DIFFER, find_lock
from shared_data import SHARED

PUBLISHED = SHARED / "data" / "neuroprobe"
pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(),
    reason="the published tables are not beside this clone (../shared/data/neuroprobe)",
)

FILMS = {
    "1_1": "the-martian", "1_2": "thor-ragnarok", "2_0": "venom", "2_4": "avengers-infinity-war", "3_0": "cars-2",
    "3_1": "lotr-1", "4_0": "shrek-the-third", "4_1": "megamind", "7_0": "cars-2", "7_1": "megamind", "10_0": "cars-2",
    "10_1": "spider-man-far-from-home",
}  # fmt: skip
SESSIONS = list(FILMS)
WITH_PITCH = ("1_2", "2_0", "2_4", "4_0", "4_1", "7_1")
N_SAMPLES = 30_000_000


def table_path(session: str, kind: str) -> Path:
    subject, trial = session.split("_")
    return PUBLISHED / "annotations" / f"subject{subject}_trial{trial}_{kind}_df.csv"


@functools.cache
def read_column(session: str, kind: str, column: str) -> list[float]:
    """Read a column with the csv module: no code of ours, no pandas."""
    with table_path(session, kind).open(newline="") as file:
        return [float(row[column]) for row in csv.DictReader(file)]


def contacts(runs: str) -> list[str]:
    """Spell out "T1cIf1-14" and the like."""
    found = []
    for run in runs.split():
        stem, first, last = re.fullmatch(r"(.*?)(\d+)(?:-(\d+))?", run).groups()
        found += [f"{stem}{number}" for number in range(int(first), int(last or first) + 1)]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BrainTreebank folder with the published tables and no transcripts."""
    root = tmp_path_factory.mktemp("real") / "braintreebank"
    lists = json.loads((PUBLISHED / "electrodes.json").read_text())["lite"]
    subjects = sorted({int(session.split("_")[0]) for session in SESSIONS})
    shutil.copytree(PUBLISHED / "annotations", root / "braintreebank_features_time_alignment")
    shutil.copytree(PUBLISHED / "pitch", root / "pitch_volume_features")
    (root / "corrupted_elec.json").write_text(json.dumps({f"sub_{subject}": [] for subject in subjects}))
    places = ["Subject,Electrode,X,Y,Z"]
    for subject in subjects:
        labels = contacts(lists[str(subject)])
        for name in ("electrode_labels", "localization"):
            (root / name / f"sub_{subject}").mkdir(parents=True)
        (root / f"electrode_labels/sub_{subject}/electrode_labels.json").write_text(json.dumps(labels))
        depth = "".join(f"{label},ctx-lh-insula\n" for label in labels)
        (root / f"localization/sub_{subject}/depth-wm.csv").write_text(f"Electrode,DesikanKilliany\n{depth}")
        places += [f"sub_{subject},{label},0,0,0" for label in labels]
    (root / "localization/elec_coords_full.csv").write_text("\n".join(places) + "\n")
    for session in SESSIONS:
        subject, trial = session.split("_")
        with h5py.File(root / f"sub_{subject}_trial{int(trial):03d}.h5", "w") as file:
            for number in range(len(contacts(lists[subject]))):
                file.create_dataset(
                    f"data/electrode_{number}", shape=(N_SAMPLES,), dtype="f8"
                )  # takes no space
    return root


def expected_items(classes: Sequence[Sequence[int]], onsets: Sequence[Sequence[float]]) -> list[str]:
    """Draw and interleave items as the specification says, with the permutation of a legacy generator."""
    k = len(classes)
    n = min(*(len(rows) for rows in classes), 3500 // k)
    generator = np.random.RandomState(42)
    drawn: dict[int, list[int]] = {}
    for label in range(k - 1, -1, -1):
        order = generator.permutation(len(classes[label]))[:n].tolist()
        drawn[label] = sorted(classes[label][place] for place in order)
    lines = []
    for item in range(n * k):
        label = (item + 1) % k
        start = int(onsets[label][drawn[label][item // k]])
        lines.append(f"{start},{start + 2048},{label}\n")
    return lines


@functools.cache
def speech_items(session: str) -> list[str]:
    silent, spoken = (read_column(session, kind, "est_idx") for kind in ("nonverbal", "words"))
    return expected_items([range(len(silent)), range(len(spoken))], [silent, spoken])


@functools.cache
def pitch_ranks(session: str) -> list[float]:
    """Rank the pitch of every word: the share of words that are strictly lower."""
    table = json.loads((PUBLISHED / "pitch" / f"{FILMS[session]}_pitch_volume_features.json").read_text())
    pitches = {f"{float(key):.5f}": entry["enhanced_pitch"] for key, entry in table.items()}
    values = [pitches[f"{start:.5f}"] for start in read_column(session, "words", "start")]
    in_order = sorted(values)
    return [bisect.bisect_left(in_order, value) / len(values) for value in values]


def pitch_items(session: str, n_classes: int) -> list[str]:
    ranks = pitch_ranks(session)
    low = [row for row, rank in enumerate(ranks) if rank < 0.25]
    if n_classes == 2:
        classes = [low, [row for row, rank in enumerate(ranks) if rank > 0.75]]
    else:
        middle = [row for row, rank in enumerate(ranks) if 0.375 <= rank < 0.625]
        classes = [low, middle, [row for row, rank in enumerate(ranks) if rank >= 0.75]]
    return expected_items(classes, [read_column(session, "words", "est_idx")] * n_classes)


def sha256(lines: Sequence[str]) -> str:
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def made_items(benchmark: Any, session: str) -> list[str]:
    table = benchmark.examples
    own = table[table["session"] == f"btbank{session}"]
    return [f"{a},{b},{c}\n" for a, b, c in zip(own["start"], own["stop"], own["target"], strict=True)]


@pytest.mark.parametrize("definition", ["2025.10", "2025.09"])
def test_the_speech_items_of_all_twelve_sessions_are_the_published_ones(
    folder: Path, definition: str
) -> None:
    benchmark = load_benchmark(f"neuroprobe@{definition}/speech", data=str(folder))
    for session in SESSIONS:
        expected = speech_items(session)
        assert made_items(benchmark, session) == expected
        lock = find_lock("speech", definition, 2, f"btbank{session}")
        assert (lock.sha256, lock.count) == (sha256(expected), len(expected))
    (note,) = [note for note in benchmark.split("cross-session").notes if note.startswith("Items:")]
    keys = ", ".join(f"btbank{session}" for session in SESSIONS)
    assert note == f"Items: their hash is the published one in {keys}."
    assert f"Words: from the published tables in {keys}." in benchmark.notes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_pitch_items_of_six_sessions_are_the_published_ones(folder: Path, n_classes: int) -> None:
    options = {"sessions": list(WITH_PITCH), "multiclass": n_classes == 3}
    benchmark = load_benchmark("neuroprobe/pitch", data=str(folder), **options)
    for session in WITH_PITCH:
        expected = pitch_items(session, n_classes)
        assert made_items(benchmark, session) == expected
        lock = find_lock("pitch", "2025.10", n_classes, f"btbank{session}")
        assert (lock.sha256, lock.count) == (sha256(expected), len(expected))
    assert not [note for note in benchmark.split("within-session").notes if ITEMS_DIFFER in note]


def test_the_locked_hashes_include_those_of_the_published_package() -> None:
    golden = json.loads((PUBLISHED / "golden" / "real_annotations.json").read_text())
    assert len(golden) == 12
    for name, entry in golden.items():
        session, task, form = name.split("/")
        lock = find_lock(task, "2025.10", 2 if form == "binary" else 3, session)
        assert (lock.sha256, lock.count) == (entry["sha256"], entry["N"])


def test_one_word_less_is_noticed_by_its_session(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "changed"
    shutil.copytree(folder, root, symlinks=True, ignore=shutil.ignore_patterns("*.h5"))
    for path in folder.glob("sub_3_*.h5"):
        (root / path.name).symlink_to(path)
    path = root / "braintreebank_features_time_alignment" / "subject3_trial1_words_df.csv"
    lines = path.read_text().splitlines(keepends=True)
    del lines[random.Random(0).randrange(1, len(lines))]
    path.write_text("".join(lines))
    benchmark = load_benchmark("neuroprobe/speech", data=str(root), sessions=["3_0", "3_1"])
    (note,) = [note for note in benchmark.split("within-session").notes if ITEMS_DIFFER in note]
    assert "btbank3_1 has other items" in note
    assert "btbank3_0" not in note
