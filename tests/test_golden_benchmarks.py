"""No number changes unawares: rules, twins, examples, splits and scores are those of the golden capture.

The whole proof, drills included: ``python -m pytest tests/test_golden_benchmarks.py -m "drill or not drill"``.
A name that the capture does not hold is free; one that it holds must stay. When a number is meant to change, name
the benchmarks in CHANGELOG.md and run ``tools/capture_golden.py``.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from golden_capture import (
    GOLDEN,
    REAL,
    brainscore_names,
    brainscore_twin,
    capture_benchmark,
    capture_code_submission,
    capture_comparison,
    capture_files,
    capture_machine,
    capture_manifests,
    cases,
    find_differences,
)
from neuroarena.benchmarks import resolve
from track_twins import dataset_of, twin

CAPTURED: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
CASES = [
    pytest.param(names, id=case, marks=() if quick else pytest.mark.drill)
    for case, (quick, names) in cases(list(CAPTURED["benchmarks"])).items()
]


def find_changed_files(dataset: str, folder: Any) -> dict[str, tuple[Any, Any]]:
    """Compare the bytes of a twin where they can be compared: with the same libraries, processor and threads."""
    if capture_machine() != CAPTURED["machine"]:
        warnings.warn(
            f"The bytes of the twin of {dataset} are not compared: other libraries, processor or threads.",
            stacklevel=2,
        )
        return {}
    return find_differences(CAPTURED["twins"][dataset], capture_files(folder), dataset)


def test_every_published_manifest_keeps_its_hash():
    assert find_differences(CAPTURED["manifests"], capture_manifests(list(CAPTURED["manifests"]))) == {}


def test_every_definition_lists_the_splits_that_its_twin_had():
    listed = {}
    for name in CAPTURED["benchmarks"]:
        family, definition, (task,) = resolve(name)
        listed[name] = family.splits(task, definition)
    assert listed == {name: tuple(each["splits"]) for name, each in CAPTURED["benchmarks"].items()}


@pytest.mark.parametrize("names", CASES)
def test_a_twin_its_tables_its_splits_and_its_scores_are_as_they_were(names):
    dataset = dataset_of(names[0])
    changed = find_changed_files(dataset, twin(dataset))
    for name in names:
        changed |= find_differences(CAPTURED["benchmarks"][name], capture_benchmark(name), name)
    assert changed == {}


@pytest.mark.drill
def test_models_of_vision_score_on_their_twin_as_they_did():
    changed = find_changed_files("brainscore_vision", brainscore_twin())
    found: dict[str, Any] = {}
    for name, model in brainscore_names():
        found.setdefault(name, {})[model] = capture_comparison(name, model, brainscore_twin())
    expected = {name: each for name, each in CAPTURED["brainscore"].items() if name not in REAL}
    assert changed | find_differences(expected, found) == {}


@pytest.mark.parametrize("name", REAL)
def test_models_of_vision_score_on_real_recordings_as_they_did(name):
    if not REAL[name].is_dir():
        pytest.skip(f"{REAL[name].name} is not beside the project")
    expected = CAPTURED["brainscore"][name]
    found = {model: capture_comparison(name, model, REAL[name]) for model in expected}
    assert find_differences(expected, found) == {}


@pytest.mark.drill
def test_a_code_submission_scores_as_it_did():
    assert find_differences(CAPTURED["code_submission"], capture_code_submission()) == {}


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ({"a": {"score": 0.5 + 1e-8}, "units": [1.0, None]}, ["a > score"]),
        ({"a": {"score": 0.5}, "units": [1.0, 2.0]}, ["units[1]"]),
        ({"a": {"score": 0.5}, "units": [1.0]}, ["units"]),
        ({"a": {}, "units": [1.0, None], "new": 1}, ["a > score", "new"]),
        ({"a": {"score": 0.5 + 1e-11}, "units": [1.0, None]}, []),
    ],
)
def test_a_difference_is_found_where_it_is(found, where):
    assert sorted(find_differences({"a": {"score": 0.5}, "units": [1.0, None]}, found)) == where
