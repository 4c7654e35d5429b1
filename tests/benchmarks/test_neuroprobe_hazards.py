"""What goes wrong in the published package and must not in ours; the numbers are those of the specification.

Hazards with tests elsewhere: 1, 2 and 3 in test_neuroprobe_options, 9 in test_neuroprobe_strict,
11 (gaps) in test_neuroprobe_labels, 12 (subject 6, empty classes) in test_splits and test_neuroprobe_family.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import h5py
import pytest

from neuroarena import evaluate, load_benchmark, load_dataset
from neuroarena.benchmarks.neuroprobe import FAMILY
from neuroarena.benchmarks.neuroprobe.binding import film_notes
from neuroarena.benchmarks.neuroprobe.folds import CROSS_SUBJECT_TRAINING
from neuroarena.benchmarks.neuroprobe.sessions import FULL, LITE, film_of, recurring_films, session_key


def test_5_importing_needs_no_environment_variable_and_nothing_for_drawing():
    code = (
        "import json, sys; from neuroarena.benchmarks.neuroprobe import FAMILY, TASKS; "
        "from neuroarena.benchmarks.neuroprobe.sessions import LITE; "
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
def twin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin") / "twin"
    load_dataset("braintreebank").simulate(folder, electrodes=16, minutes=2, subjects=1, sessions=2)
    return str(folder)


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
        assert result.record["benchmark"]["name"] == f"neuroprobe@{definition}/onset"
        assert result.record["manifest"]["definition"] == definition
    hashes = {record["benchmark"]["manifest_hash"] for record in records.values()}
    assert len(hashes) == len(FAMILY.definitions)
