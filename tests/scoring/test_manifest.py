"""Manifests: read from TOML, checked, hashed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pydantic
import pytest

from neuroarena.errors import InputError
from neuroarena.scoring import METRICS, Manifest, higher_is_better, manifests_from_toml

from .tables import LABELS, NUMBERS, RULES, make_manifest

ONE = """
name = "example/faces"
definition = "1"
title = "Faces"
question = "Is there a face?"
metric = "auroc"
prediction = "probabilities"
classes = ["no", "yes"]
unit = "session"
cluster = "subject"
split_rule = "within session"
licence = "CC0"
chance = 0.5
notes = ["Simulated."]
[split_hashes]
within = "abc"
"""

FAMILY = """
family = "example"
definition = "1"
question = "Is it there?"
metric = "auroc"
prediction = "probabilities"
classes = ["0", "1"]
unit = "session"
split_rule = "within session"
licence = "CC0"

[tasks.onset]
title = "Onset"

[tasks.face_num]
title = "Number of faces"
question = "How many faces?"
classes = ["0", "1", "2"]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_manifest_is_read_from_toml(tmp_path: Path) -> None:
    manifest = Manifest.from_toml(written(tmp_path, ONE))
    assert manifest.name == "example/faces"
    assert manifest.classes == ("no", "yes")
    assert manifest.split_hashes == {"within": "abc"}
    assert manifest.direction == "higher"
    assert manifest.prediction_columns == ("p_no", "p_yes")
    assert "auroc" in manifest.undefined_rules


def test_a_family_file_shares_its_top_level_and_tasks_override_it(tmp_path: Path) -> None:
    manifests = manifests_from_toml(written(tmp_path, FAMILY))
    assert list(manifests) == ["onset", "face_num"]
    assert manifests["onset"].name == "example/onset"
    assert manifests["onset"].question == "Is it there?"
    assert manifests["face_num"].question == "How many faces?"
    assert manifests["face_num"].classes == ("0", "1", "2")


def test_the_direction_comes_from_the_metric() -> None:
    assert (LABELS.direction, LABELS.sign, higher_is_better(LABELS)) == ("higher", 1.0, True)
    assert (NUMBERS.direction, NUMBERS.sign, higher_is_better(NUMBERS)) == ("lower", -1.0, False)


def test_a_manifest_cannot_be_changed_in_place() -> None:
    with pytest.raises(pydantic.ValidationError):
        LABELS.metric = "auroc"  # type: ignore[misc]


def test_the_hash_follows_every_rule_and_nothing_else() -> None:
    assert make_manifest().hash == LABELS.hash
    assert Manifest(**dict(reversed(RULES.items()))).hash == LABELS.hash
    assert make_manifest(tie_break=None, notes=(), combiner="mean").hash == LABELS.hash
    changes: list[dict[str, Any]] = [
        {"definition": "2"},
        {"tie_break": "macro_f1"},
        {"classes": ("house", "face", "tool")},
        {"combiner": "ratio"},
        {"split_hashes": {"a": "b"}},
        {"notes": ("one",)},
        {"sigma": 0.1},
    ]
    hashes = {make_manifest(**change).hash for change in changes}
    assert len(hashes | {LABELS.hash}) == len(changes) + 1


def test_the_hash_of_a_published_manifest_stays_what_it_was() -> None:
    # A change of this number orphans every prediction file and every result made so far.
    assert LABELS.hash == "60aab4e506280c08d9f34aa3bca697856e13405ce99c1e0f4140fc26072428a3"


def test_a_replaced_value_is_checked_like_any_other() -> None:
    assert LABELS.replace(title="Other").title == "Other"
    with pytest.raises(InputError, match=r'^manifest example/faces: field "metric": "auroc" judges'):
        LABELS.replace(metric="auroc")


def test_the_combiner_left_out_is_the_one_of_the_metric() -> None:
    METRICS.register("test_pooled")(
        METRICS.get("accuracy").__class__(
            **{**vars(METRICS.get("accuracy")), "name": "test_pooled", "combiner": "ratio"}
        )
    )
    assert make_manifest(metric="test_pooled").combiner == "ratio"
    assert make_manifest(metric="test_pooled", combiner="mean").combiner == "mean"


def test_every_metric_is_computed_once() -> None:
    manifest = make_manifest(tie_break="macro_f1", additional_metrics=("macro_f1", "balanced_accuracy"))
    assert manifest.metrics == ("accuracy", "macro_f1", "balanced_accuracy")


MANIFEST_REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": ({"metrik": "auroc"}, 'field "metrik" is unknown'),
    "a number for text": ({"title": 3}, 'field "title"'),
    "an empty title": ({"title": " "}, 'field "title"'),
    "an unknown metric": ({"metric": "acuracy"}, 'Did you mean "accuracy"'),
    "an unknown tie-break": ({"tie_break": "macro_f2"}, 'Did you mean "macro_f1"'),
    "an unknown combiner": ({"combiner": "meen"}, 'No combiner "meen"'),
    "a metric that is an address": ({"metric": "os:getcwd"}, 'field "metric"'),
    "a combiner that is an address": ({"combiner": "os:getcwd"}, 'field "combiner"'),
    "a metric of another kind": ({"metric": "auroc"}, '"auroc" judges probabilities, not "label"'),
    "a tie-break of another kind": ({"tie_break": "auroc"}, 'field "tie_break": "auroc" judges'),
    "an additional metric of another kind": (
        {"additional_metrics": ("auroc",)},
        'field "additional_metrics": "auroc" judges',
    ),
    "a tie-break that is the metric": ({"tie_break": "accuracy"}, "repeats the metric"),
    "an additional metric twice": ({"additional_metrics": ("macro_f1", "macro_f1")}, "already a column"),
    "a combiner without its columns": (
        {"metric": "macro_f1", "combiner": "ratio"},
        'the combiner "ratio" needs the column "numerator"',
    ),
    "no classes": ({"classes": ()}, 'field "classes" needs two or more'),
    "one class": ({"classes": ("face",)}, 'field "classes" needs two or more'),
    "a class twice": ({"classes": ("face", "face")}, 'field "classes" names "face" twice'),
    "classes where there are none": (
        {"prediction": "text", "metric": "test_exact"},
        'field "classes" must be left out',
    ),
    "an unknown kind of prediction": ({"prediction": "picture"}, 'field "prediction"'),
    "a name without a task": ({"name": "faces"}, 'field "name"'),
    "a name with a definition": ({"name": "example@1/faces"}, 'field "name"'),
    "a sigma of zero": ({"sigma": 0.0}, 'field "sigma"'),
    "an infinite ceiling": ({"ceiling": float("inf")}, 'field "ceiling"'),
    "a negative cap": ({"caps": {"daily": -1}}, 'field "caps.daily"'),
    "an unknown state": ({"state": "some"}, 'field "state"'),
    "another schema": ({"schema_version": 2}, 'field "schema_version"'),
}


@pytest.mark.parametrize(("change", "phrase"), MANIFEST_REFUSALS.values(), ids=MANIFEST_REFUSALS.keys())
def test_a_manifest_that_contradicts_itself_is_refused(change: dict[str, Any], phrase: str) -> None:
    with pytest.raises(InputError) as refusal:
        LABELS.replace(**change)
    message = str(refusal.value)
    assert message.startswith("manifest example/faces: ")
    assert phrase in message
    assert "\n" not in message


FILE_REFUSALS: dict[str, tuple[str, str]] = {
    "no TOML": ("name = ", "cannot be read as TOML"),
    "a missing field": (ONE.replace('unit = "session"\n', ""), 'field "unit" is missing.'),
    "two missing fields": (
        ONE.replace('unit = "session"\n', "").replace('title = "Faces"\n', ""),
        'field "title" is missing. (1 more problem in it.)',
    ),
}


@pytest.mark.parametrize(("text", "phrase"), FILE_REFUSALS.values(), ids=FILE_REFUSALS.keys())
def test_a_bad_manifest_file_is_refused_by_name(tmp_path: Path, text: str, phrase: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refusal:
        Manifest.from_toml(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert phrase in str(refusal.value)


FAMILY_REFUSALS: dict[str, tuple[str, str]] = {
    "no family": (FAMILY.replace('family = "example"', ""), 'field "family" is missing'),
    "no tasks": (FAMILY.partition("[tasks")[0], 'field "tasks" is missing'),
    "a task that is no table": (FAMILY.partition("[tasks")[0] + "[tasks]\nonset = 1", "expected a table"),
    "a task that names itself": (FAMILY + 'name = "example/x"', 'task face_num: field "name" is made from'),
    "a bad field in a task": (FAMILY + "sigma = -1.0", 'task face_num: field "sigma"'),
}


@pytest.mark.parametrize(("text", "phrase"), FAMILY_REFUSALS.values(), ids=FAMILY_REFUSALS.keys())
def test_a_bad_family_file_is_refused_by_file_and_task(tmp_path: Path, text: str, phrase: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refusal:
        manifests_from_toml(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert phrase in str(refusal.value)


def test_a_missing_manifest_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        Manifest.from_toml(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read"):
        Manifest.from_toml(tmp_path)
