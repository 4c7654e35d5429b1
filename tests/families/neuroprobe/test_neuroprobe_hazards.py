"""What goes wrong in the published package and must not in ours; the numbers are those of the specification.

docs/neuroprobe-clauses.md lists all thirteen with the tests that hold them, here and elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from twin_copies import copy_twin

import track_twins
from neuroarena import evaluate, load_benchmark
from neuroarena.families.neuroprobe import FAMILY, examples
from neuroarena.families.neuroprobe.binding import film_notes
from neuroarena.families.neuroprobe.folds import CROSS_SUBJECT_TRAINING
from neuroarena.families.neuroprobe.sessions import FULL, LITE, film_of, recurring_films, session_key
from neuroarena.features import FeatureChain

PAGE = Path(__file__).resolve().parents[3] / "docs" / "neuroprobe-clauses.md"


def test_every_hazard_is_listed_with_the_tests_that_ours_does_not_have_it():
    section = PAGE.read_text(encoding="utf-8").partition("## What goes wrong in the published package")[2]
    lines = re.findall(r"^(\d+)\. (.+(?:\n   .+)*)", section.partition("\n## ")[0], re.M)
    assert [int(number) for number, _ in lines] == list(range(1, 14))
    assert [number for number, words in lines if "::test_" not in words] == []


def digests(windows: np.ndarray) -> list[str]:
    return sorted(hashlib.sha256(np.ascontiguousarray(window).tobytes()).hexdigest() for window in windows)


@dataclass
class Witness:
    """Notes in a file every window that it is shown, and in which part."""

    log: str
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train, validation=None, context=None):
        self.classes_ = context.classes
        self.cell_ = self.note({}, train=train, validation=validation or ())
        return self

    def predict(self, test):
        self.note(self.cell_, test=test)
        n = sum(len(group) for group in test)
        return np.full((n, len(self.classes_)), 1 / len(self.classes_))

    def note(self, known: dict, **parts) -> dict:
        noted = {
            name: digests(np.concatenate([group.signals for group in part])) for name, part in parts.items()
        }
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(json.dumps({**known, **noted}) + "\n")
        return {**known, **noted}


def shown(log: Path) -> list[dict[str, list[str]]]:
    """Give the windows of each cell by part; a test part may come in several batches."""
    cells: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for line in log.read_text().splitlines():
        noted = json.loads(line)
        batch = noted.pop("test", [])
        cell = cells.setdefault(tuple(noted["train"]), {**noted, "test": []})
        cell["test"] = sorted([*cell["test"], *batch])
    return sorted(cells.values(), key=lambda cell: cell["train"])


def written_windows(root: Path, benchmark, ids: tuple[str, ...]) -> list[str]:
    """Cut windows out of the files themselves, without any code of ours."""
    rows = benchmark.examples.set_index("id").loc[list(ids)]
    (key,) = rows["session"].unique()
    labels = json.loads((root / "electrode_labels" / "sub_1" / "electrode_labels.json").read_text())
    places = {label.replace("*", "").replace("#", ""): place for place, label in enumerate(labels)}
    with h5py.File(root / f"sub_1_trial{int(key.partition('_')[2]):03d}.h5") as file:
        names = benchmark.recording(key).channels["name"]
        signal = np.stack([file["data"][f"electrode_{places[name]}"][:] for name in names])
    return digests(
        np.stack([signal[:, a:b] for a, b in zip(rows["start"], rows["stop"], strict=True)]).astype("f4")
    )


def test_1_a_second_cross_session_pass_shows_the_windows_of_the_first(twin, tmp_path):
    root = copy_twin(twin, tmp_path / "longer", "sub_1_trial002.h5")
    # A test session that is longer than the training session.
    with h5py.File(root / "sub_1_trial002.h5", "a") as file:
        for name, signal in [(name, each[:]) for name, each in file["data"].items()]:
            del file["data"][name]
            file["data"][name] = np.concatenate([signal, signal[: 30 * 2048]])
    # The bins of a time course, then the first again.
    for number, offset_s in enumerate(((0.0, 1.0), (-0.25, 0.0), (0.0, 1.0))):
        benchmark = load_benchmark("neuroprobe/speech", data=str(root), offset_s=offset_s)
        split = benchmark.split("cross-session")
        parts = ("train", "validation", "test")
        expected = [
            {part: written_windows(root, benchmark, getattr(fold, part)) for part in parts}
            for fold in split.folds
        ]
        # A second pass over the same benchmark; another seed, so that nothing is taken from cells computed before.
        for seed in (0, 1) if number == 0 else (2,):
            log = tmp_path / f"{number}-{seed}.jsonl"
            assert evaluate(
                Witness(str(log)), benchmark, "cross-session", seed=seed, cache=tmp_path / "c"
            ).complete
            assert shown(log) == sorted(expected, key=lambda cell: cell["train"])


def many_words(n: int) -> dict:
    rng = np.random.default_rng(0)
    start = np.cumsum(rng.uniform(0.3, 0.6, n))
    words = pd.DataFrame({"original_index": range(n), "start": start, "end": start + 0.25})
    words["est_idx"] = (words["start"] * 2048).round()
    sentences = [f"sentence {row // 9}" for row in range(n)]
    features = pd.DataFrame({"rms": rng.random(n), "sentence": sentences})
    return {
        "words": words,
        "nonverbal": pd.DataFrame({"est_idx": 2048 * np.arange(n)}),
        "features": features,
    }


@pytest.mark.parametrize("task", ["volume", "word_gap", "speech"])
def test_3_nano_has_a_thousand_items_at_most_and_the_other_subsets_have_not(task):
    tables = many_words(8000)
    sizes = {subset: len(examples(task, **tables, subset=subset)) for subset in ("nano", "lite", "full")}
    assert (sizes["nano"], sizes["lite"]) == (1000, 3500)
    assert sizes["full"] > 3500
    assert len(examples("volume", **tables, subset="nano", multiclass=True)) == 999


def test_5_importing_needs_no_environment_variable_and_nothing_for_drawing():
    code = (
        "import json, sys; from neuroarena.families.neuroprobe import FAMILY, TASKS; "
        "from neuroarena.families.neuroprobe.sessions import LITE; "
        "print(json.dumps([len(TASKS), len(LITE), FAMILY.manifest('onset', '2025.10').title, "
        "[m for m in ('torch', 'torchvision', 'matplotlib', 'seaborn') if m in sys.modules]]))"
    )
    bare = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "HOME")}
    ran = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == [15, 12, "Sentence Onset", []]


def test_10_films_that_recur_between_sessions_are_named():
    lite = [session_key(session) for session in LITE]
    assert recurring_films(lite) == {
        "cars-2": ("btbank3_0", "btbank7_0", "btbank10_0"),
        "megamind": ("btbank4_1", "btbank7_1"),
    }
    notes = film_notes(LITE)
    assert any(
        note.startswith("The film cars-2 was watched in btbank3_0, btbank7_0, btbank10_0") for note in notes
    )
    assert any(
        note.startswith("btbank6_0, which is not part of these data, shows megamind") for note in notes
    )
    assert film_notes(LITE[:2]) == ()
    assert film_of("toy 1_0") is None


def test_10_no_published_split_trains_on_the_film_it_judges():
    for subject, trial in FULL:
        others = [session_key(each) for each in FULL if each[0] == subject and each[1] != trial]
        assert not recurring_films([session_key((subject, trial)), *others])
    trained = film_of(CROSS_SUBJECT_TRAINING)
    assert all(film_of(session_key(each)) != trained for each in FULL if each[0] != 2)


@pytest.fixture(scope="module")
def twin() -> str:
    return str(track_twins.twin("braintreebank", minutes=2, subjects=1))


def test_9_a_result_says_how_many_windows_its_folds_share(twin):
    said = {}
    for definition in ("2025.10", "strict"):
        result = evaluate("chance", f"neuroprobe@{definition}/onset", "within-session", data=twin)
        (said[definition],) = [
            note for note in result.record.benchmark.notes if "share samples with a training" in note
        ]
    assert re.match(r"Of \d+ test windows [1-9]\d* \(\d+\.\d %\) share samples", said["2025.10"])
    assert re.match(r"Of \d+ test windows 0 \(0\.0 %\) share .* and 0 \(0\.0 %\) lie", said["strict"])
    across = evaluate("chance", "neuroprobe/onset", "cross-session", data=twin).record
    assert not [note for note in across.benchmark.notes if "share samples" in note]


def count_calls(n_words: int) -> int:
    """Count the calls, of Python and of C, that the gaps of a session take."""
    tables, calls = many_words(n_words), 0

    def count(_frame, event, _what) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        examples("word_gap", **tables)
    finally:
        sys.setprofile(None)
    return calls


def test_11_the_gaps_of_a_session_are_worked_out_in_whole_columns():
    count_calls(500)  # imports, and what is remembered
    assert count_calls(1000) == count_calls(2000)  # the published package asks a table once per word


def test_11_reading_many_windows_does_not_open_the_file_for_each(twin, monkeypatch):
    benchmark = load_benchmark("neuroprobe/speech", data=twin)
    recording = benchmark.recording("btbank1_1")
    starts = benchmark.examples.loc[benchmark.examples["session"] == "btbank1_1", "start"].to_numpy()
    opened = []
    real = h5py.File.__init__

    def counted(self, name, *rest, **options):
        if not isinstance(name, h5py.h5f.FileID):  # else a handle on a file that is open
            opened.append(name)
        real(self, name, *rest, **options)

    monkeypatch.setattr(h5py.File, "__init__", counted)
    for _ in range(3):
        recording.windows(starts, 2048)
    assert len(starts) > 50
    assert len(opened) <= 3


def test_13_a_result_says_its_definition_and_no_two_definitions_look_alike(twin):
    records = {}
    for definition in FAMILY.definitions:
        result = evaluate("chance", f"neuroprobe@{definition}/onset", "within-session", data=twin)
        records[definition] = result.record
        assert result.record.benchmark.name == f"neuroprobe@{definition}/onset"
        assert result.record.manifest.definition == definition
    hashes = {record.benchmark.manifest_hash for record in records.values()}
    assert len(hashes) == len(FAMILY.definitions)
