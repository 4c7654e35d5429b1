"""The verdict on submission folders: the official rules and ours, each with a folder that breaks it."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from damaged_submissions import FIELD, OFFICIAL, ONSET, OURS, fold, second
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submission_folders import block, edit, write_submission
from typer.testing import CliRunner

from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.submission_rules import RULES
from neuroarena.families.neuroprobe.submission_verdict import Verdict, check_submission
from neuroarena.families.neuroprobe.submissions import read_submission
from neuroarena.families.neuroprobe.tasks import TASKS
from shared_data import SHARED

REAL = SHARED / "data" / "neuroprobe" / "submissions"
NAME = "Complete_Ada_Example_25_09_2025"
needs_submissions = pytest.mark.skipif(
    not REAL.is_dir(), reason="the public submissions are not beside the project"
)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_submission(tmp_path_factory.mktemp("leaderboard") / NAME, ("Cross-Session",))


@pytest.fixture(scope="module")
def within(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_submission(tmp_path_factory.mktemp("leaderboard") / NAME, ("Within-Session",))


@pytest.fixture
def folder(complete: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(complete, tmp_path / complete.name))


def test_a_whole_folder_is_accepted_by_both(complete: Path, within: Path):
    for folder in (complete, within):
        verdict = check_submission(folder)
        assert verdict.accepted, verdict.findings
        assert verdict.official
        assert not verdict.official_only
        assert verdict.sentence == "Accepted by the official rules and by ours."


@pytest.mark.parametrize(
    "name",
    ["Complete_25_09_2025", "Model_Ada_Example_25_09_25", "Model_Ada_Example", "Ada_Example_25_09_2025"],
)
def test_a_folder_of_another_name_is_refused_by_the_official_rules(complete: Path, name: str):
    verdict = check_submission(complete, name)
    assert [(one.rule, one.kind, one.file) for one in verdict.findings] == [("folder-name", "official", ".")]
    assert not verdict.official


@pytest.mark.parametrize("name", ["Model_Ada_Example_1_1_2025", "A_b_(c)_Ada_O'Example_01_12_2026"])
def test_the_days_and_months_of_a_name_have_one_or_two_digits(complete: Path, name: str):
    assert check_submission(complete, name).accepted


@pytest.mark.parametrize("case", OFFICIAL)
def test_what_the_official_validator_refuses_is_refused_with_file_and_field(case: str, folder: Path):
    damage, rule, file, field = OFFICIAL[case]
    damage(folder)
    verdict = check_submission(folder)
    assert [(one.rule, one.file, one.field) for one in verdict.findings] == [(rule, file, field)]
    assert RULES[rule][0] == "official"
    assert not verdict.official
    assert not verdict.accepted
    assert "the official validator would refuse it too" in verdict.sentence


def test_every_official_rule_is_broken_by_some_folder():
    broken = {rule for _, rule, _, _ in OFFICIAL.values()} | {"folder-name"}
    assert broken == {rule for rule, (kind, _) in RULES.items() if kind == "official"}
    assert len(broken) == 8


@pytest.mark.parametrize("case", OURS)
def test_what_only_ours_refuses_is_named_and_both_verdicts_are_shown(case: str, folder: Path):
    damage, rule, file, field, words = OURS[case]
    damage(folder)
    verdict = check_submission(folder)
    (found, *more) = [one for one in verdict.findings if one.rule == rule]
    assert (found.kind, found.file, found.field) == ("ours", file, field)
    assert words in found.words
    assert not more
    assert verdict.official
    assert verdict.official_only
    assert verdict.sentence.startswith("The official validator would accept this; ours refuses because of")


def test_every_rule_of_ours_is_broken_by_some_folder():
    assert {rule for _, rule, *_ in OURS.values()} == {
        rule for rule, (kind, _) in RULES.items() if kind == "ours"
    }


def test_a_fold_that_is_numbered_twice_is_a_duplicate(within: Path, tmp_path: Path):
    folder = Path(shutil.copytree(within, tmp_path / within.name))

    def number(data: dict[str, Any]) -> None:
        for one in second(data)["folds"]:
            one["fold_idx"] = 0

    edit(folder / "Within-Session" / "population_onset.json", number)
    (found,) = check_submission(folder).findings
    assert (found.rule, found.field, found.words) == ("duplicates", f"{FIELD}.folds", "fold 0 occurs twice")


def test_equal_scores_of_a_constant_answer_are_no_copies(tmp_path: Path):
    folder = write_submission(tmp_path / NAME, ("Cross-Session",))
    for task in TASKS:

        def constant(data: dict[str, Any]) -> None:
            for one in data["evaluation_results"].values():
                one["population"] = block({"test_roc_auc": 0.5})

        edit(folder / "Cross-Session" / f"population_{task}.json", constant)
    assert check_submission(folder).accepted


def test_a_definition_that_the_accuracies_contradict_is_refused(tmp_path: Path):
    folder = write_submission(tmp_path / NAME, ("Cross-Session",), definition="2025.09")
    assert check_submission(folder).definition == "2025.09"
    edit(folder / "metadata.json", lambda data: data.update(definition="2025.10"))
    (found,) = check_submission(folder).findings
    assert (found.rule, found.file, found.field) == ("definition", "metadata.json", "definition")
    edit(folder / "metadata.json", lambda data: data.update(simulated=True))
    assert check_submission(folder).accepted  # the counts are those of the recordings


def test_many_problems_are_all_found(folder: Path):
    (folder / "ATTESTATION.txt").unlink()
    edit(folder / ONSET, lambda data: fold(data).update(test_roc_auc=2))
    edit(
        folder / "Cross-Session/population_pitch.json",
        lambda data: data["evaluation_results"].pop("btbank1_2"),
    )
    verdict = check_submission(folder)
    assert [one.rule for one in verdict.findings] == ["files", "population", "sessions"]
    assert [one["passed"] for one in verdict.to_dict()["rules"]].count(False) == 3


@needs_submissions
def test_the_real_submissions_pass_the_official_rules_and_one_has_single_folds():
    verdicts = {folder.name.partition("_")[0]: check_submission(folder) for folder in sorted(REAL.iterdir())}
    assert all(verdict.official for verdict in verdicts.values())
    assert all(verdict.definition == "2025.09" for verdict in verdicts.values())
    assert verdicts["Linear"].accepted
    popt = verdicts["PopulationTransformer"]
    assert popt.official_only
    assert {one.rule for one in popt.findings} == {"folds"}
    assert [one.file for one in popt.findings] == [f"Within-Session/population_{task}.json" for task in TASKS]
    assert "1 fold where 2 are expected, in 12 of 12 sessions" in popt.sentence


def test_the_command_leaves_with_two_and_says_both_verdicts(folder: Path):
    edit(folder / ONSET, lambda data: data["evaluation_results"].pop("btbank1_2"))
    words = ["check", "submission", "neuroprobe", str(folder)]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 2
    assert "FAIL  ours      sessions" in shown.stdout
    assert "ok    official  population" in shown.stdout
    assert f"{ONSET}: evaluation_results: 1 of 12 sessions missing: btbank1_2" in shown.stdout
    assert "The official validator would accept this" in shown.stdout
    plain = CliRunner().invoke(app, [*words, "--json"])
    assert plain.exit_code == 2
    said = json.loads(plain.stdout)
    assert (said["accepted"], said["official_accepts"], said["official_only"]) == (False, True, True)
    assert said["findings"][0]["file"] == ONSET
    assert said["findings"][0]["kind"] == "ours"


def test_names_in_a_folder_cannot_steer_a_terminal(folder: Path):
    edit(folder / ONSET, lambda data: data["evaluation_results"].update({"\x1b[2J": {}}))
    shown = CliRunner().invoke(app, ["check", "submission", "neuroprobe", str(folder)])
    assert shown.exit_code == 2
    assert "\x1b" not in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["neuroprobe", "nowhere"], "this folder does not exist"),
        (["nosuch", "."], 'No benchmark "nosuch"'),
    ],
)
def test_a_wrong_question_is_an_input_error(words: list[str], message: str):
    asked = CliRunner().invoke(app, ["check", "submission", *words])
    assert isinstance(asked.exception, InputError)
    assert message in str(asked.exception)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PATHS = (
    ("evaluation_results",),
    ("evaluation_results", "btbank1_1"),
    ("evaluation_results", "btbank1_1", "population"),
    ("evaluation_results", "btbank1_1", "electrode"),
    ("evaluation_results", "btbank1_1", "population", "one_second_after_onset"),
    ("evaluation_results", "btbank1_1", "population", "one_second_after_onset", "folds"),
    ("evaluation_results", "btbank1_1", "population", "one_second_after_onset", "folds", 0),
    ("evaluation_results", "btbank1_1", "population", "one_second_after_onset", "folds", 0, "fold_idx"),
    ("timestamp",),
    ("model_name",),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(at=st.sampled_from(PATHS), value=ANYTHING)
def test_whatever_a_file_holds_there_is_a_verdict_and_ours_accepts_only_what_can_be_read(
    folder: Path, at: tuple[Any, ...], value: Any
):
    keep = json.loads((folder / ONSET).read_text())
    data = copy.deepcopy(keep)
    inner = data
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    (folder / ONSET).write_text(json.dumps(data))
    try:
        verdict = check_submission(folder)
        assert isinstance(verdict, Verdict)
        json.dumps(verdict.to_dict(), allow_nan=False)
        if verdict.accepted:
            assert not [
                words for words in read_submission(folder).problems if "split is missing" not in words
            ]
    finally:
        (folder / ONSET).write_text(json.dumps(keep))
