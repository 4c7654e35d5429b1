"""Broken submissions to the Neuroprobe leaderboard are refused with file and field."""

from __future__ import annotations

import copy
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submission_folders import block, edit, metadata, population_file, write_submission

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.submissions import Submission, read_submission


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_submission(tmp_path_factory.mktemp("leaderboard") / "Complete_Ada_Example_25_09_2025")


@pytest.fixture
def folder(complete: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(complete, tmp_path / complete.name))


def fold_of(data: dict[str, Any]) -> dict[str, Any]:
    return data["evaluation_results"]["btbank1_1"]["population"]["one_second_after_onset"]["folds"][0]


def block_of(data: dict[str, Any]) -> dict[str, Any]:
    return data["evaluation_results"]["btbank1_1"]["population"]["one_second_after_onset"]


def results_of(data: dict[str, Any]) -> dict[str, Any]:
    return data["evaluation_results"]


def levels_of(data: dict[str, Any]) -> dict[str, Any]:
    return data["evaluation_results"]["btbank1_1"]


def one_electrode(label: str, auroc: float) -> dict[str, Any]:
    return {label: block({"test_roc_auc": auroc})}


BROKEN_SCORES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no auroc": (lambda d: fold_of(d).pop("test_roc_auc"), r"folds\[0\].test_roc_auc\" is missing"),
    "auroc above 1": (lambda d: fold_of(d).update(test_roc_auc=1.01), r"a number in \[0, 1\], got 1.01"),
    "auroc below 0": (lambda d: fold_of(d).update(test_roc_auc=-1), r"in \[0, 1\], got -1"),
    "auroc true": (lambda d: fold_of(d).update(test_roc_auc=True), "got true"),
    "auroc text": (lambda d: fold_of(d).update(test_roc_auc="0.5"), 'got "0.5"'),
    "auroc null": (lambda d: fold_of(d).update(test_roc_auc=None), "got null"),
    "auroc NaN": (lambda d: fold_of(d).update(test_roc_auc=math.nan), "holds NaN"),
    "auroc inf": (lambda d: fold_of(d).update(test_roc_auc=math.inf), "holds Infinity"),
    "accuracy 2": (lambda d: fold_of(d).update(test_accuracy=2), r"folds\[0\].test_accuracy"),
    "train accuracy": (lambda d: fold_of(d).update(train_accuracy=False), "train_accuracy.* got false"),
    "fold is a number": (lambda d: block_of(d).update(folds=[0.5]), r"folds\[0\]\" must be an object"),
    "no folds": (lambda d: block_of(d).pop("folds"), 'folds" is missing'),
    "folds empty": (lambda d: block_of(d).update(folds=[]), "one or more folds"),
    "folds an object": (lambda d: block_of(d).update(folds={"0": 1}), "must be a list"),
    "no start": (lambda d: block_of(d).pop("time_bin_start"), 'time_bin_start" is missing'),
    "start false": (lambda d: block_of(d).update(time_bin_start=False), "finite number, got false"),
    "another second": (lambda d: block_of(d).update(time_bin_end=2.0), "from 0 to 2 s; expected 0 to 1 s"),
    "list of bins": (
        lambda d: levels_of(d)["population"].update(time_bins=[]),
        "time_bins.* must be an object",
    ),
    "no block": (lambda d: levels_of(d).update(population={}), "holds no time bin"),
    "no population": (lambda d: levels_of(d).pop("population"), 'btbank1_1.population" is missing'),
    "electrode": (lambda d: levels_of(d).update(electrode=one_electrode("T1", 3)), "electrode.T1.one_second"),
    "unlabelled": (lambda d: levels_of(d).update(electrode=one_electrode(" ", 0.5)), "without a label"),
    "session is a list": (lambda d: results_of(d).update(btbank1_1=[]), "must be an object"),
    "session unknown": (lambda d: results_of(d).update(btbank5_0={}), "not tested in this split"),
    "session misspelt": (lambda d: results_of(d).update(sub1={}), '"sub1" is not a session'),
    "no session": (lambda d: d.update(evaluation_results={}), "holds no session"),
    "results a list": (lambda d: d.update(evaluation_results=[]), "evaluation_results.* must be an object"),
    "no results": (lambda d: d.pop("evaluation_results"), 'field "evaluation_results" is missing'),
}


@pytest.mark.parametrize("case", BROKEN_SCORES)
def test_broken_scores_are_refused_with_file_and_field(case: str, folder: Path):
    change, words = BROKEN_SCORES[case]
    edit(folder / "Cross-Session" / "population_word_gap.json", change)
    with pytest.raises(InputError, match=words) as refusal:
        read_submission(folder)
    assert str(refusal.value).startswith(f"{folder.name}/Cross-Session/population_word_gap.json: ")


def test_subject_two_is_refused_across_subjects(folder: Path):
    path = folder / "Cross-Subject" / "population_onset.json"
    edit(path, lambda data: data["evaluation_results"].update(btbank2_0={}))
    with pytest.raises(InputError, match='"btbank2_0" is not tested in this split'):
        read_submission(folder)


BROKEN_METADATA: dict[str, tuple[dict[str, Any], str]] = {
    "author number": ({"author": 3}, 'field "author" must be text, got 3'),
    "model empty": ({"model_name": " "}, 'field "model_name" is empty'),
    "model with escapes": (
        {"model_name": "a\u001b[2Jb"},
        '"model_name" holds characters that cannot be printed',
    ),
    "time text": ({"timestamp": "2025-09-25"}, 'field "timestamp" must be a finite number'),
    "time true": ({"timestamp": True}, "finite number, got true"),
    "time in milliseconds": ({"timestamp": 1758846454000}, "must be seconds since 1970"),
    "time beyond floats": ({"timestamp": 10**400}, "must be a finite number"),
    "definition unknown": ({"definition": "2024.01"}, '"2024.01"; expected 2025.09 or 2025.10'),
    "definition number": ({"definition": 2025.09}, 'field "definition" must be text'),
}


@pytest.mark.parametrize("case", BROKEN_METADATA)
def test_broken_metadata_are_refused_with_the_field(case: str, tmp_path: Path):
    changes, words = BROKEN_METADATA[case]
    folder = write_submission(tmp_path / "a", ("Cross-Session",), ("onset",))
    (folder / "metadata.json").write_text(json.dumps(metadata(**changes)))
    with pytest.raises(InputError, match=words) as refusal:
        read_submission(folder)
    assert str(refusal.value).startswith("a/metadata.json: ")


@pytest.mark.parametrize("field", sorted(metadata()))
def test_a_missing_field_of_the_metadata_is_named(field: str, tmp_path: Path):
    folder = write_submission(tmp_path / "a", ("Cross-Session",), ("onset",))
    edit(folder / "metadata.json", lambda data: data.pop(field))
    with pytest.raises(InputError, match=f'a/metadata.json: field "{field}" is missing'):
        read_submission(folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read as JSON"),
        (b"{", "cannot be read as JSON"),
        (b"[]", "the file must be an object"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b'{"a": 1, "a": 2}', 'the key "a" occurs twice'),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"evaluation_results": {"btbank1_1": NaN}}', "holds NaN"),
        (b'{"evaluation_results": ' + b"9" * 5000 + b"}", "cannot be read as JSON"),
    ],
)
def test_files_that_are_not_proper_json_are_refused_by_name(content: bytes, words: str, folder: Path):
    (folder / "Within-Session" / "population_onset.json").write_bytes(content)
    with pytest.raises(InputError, match=f"Within-Session/population_onset.json: .*{words}"):
        read_submission(folder)


def test_folders_without_a_submission_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="this folder does not exist"):
        read_submission(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty/metadata\.json: the file does not exist"):
        read_submission(tmp_path / "empty")
    (tmp_path / "empty" / "metadata.json").write_text(json.dumps(metadata()))
    with pytest.raises(
        InputError, match="at least one folder of Within-Session, Cross-Session, Cross-Subject"
    ):
        read_submission(tmp_path / "empty")
    (tmp_path / "empty" / "Cross-Session").mkdir()
    with pytest.raises(InputError, match=r"no file population_TASK\.json"):
        read_submission(tmp_path / "empty")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=6,
)
SESSION_PATH = ("evaluation_results", "btbank1_1", "population", "one_second_after_onset", "folds")
PATHS = st.sampled_from(
    [*(SESSION_PATH[:depth] for depth in range(1, 6)), ("model_name",), (*SESSION_PATH[:2], "electrode")]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(path=PATHS, value=JSON_VALUES)
def test_whatever_stands_in_a_file_is_read_whole_or_refused(
    path: tuple[str, ...], value: Any, tmp_path: Path
):
    folder = tmp_path / "a"
    if not folder.exists():
        write_submission(folder, ("Cross-Session",), ("onset",))
    data = copy.deepcopy(population_file("Cross-Session", "onset"))
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    (folder / "Cross-Session" / "population_onset.json").write_text(json.dumps(data))
    outcome: Submission | str
    try:
        outcome = read_submission(folder)
    except InputError as refusal:
        outcome = str(refusal)
    if isinstance(outcome, str):
        assert outcome.startswith("a/Cross-Session/population_onset.json: ")
    else:
        assert outcome.scores["auroc"].between(0, 1).all()
