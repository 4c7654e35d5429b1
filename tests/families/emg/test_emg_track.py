"""Track emg: its rules, its split by people, and its way through the engine to a score."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import jiwer
import numpy as np
import pandas as pd
import pytest

from emg_sessions import hand_made, load, press, small_twin
from neuroarena.benchmarks import load_benchmark
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from neuroarena.evaluation.plan import plan_runs
from neuroarena.families.emg import FAMILY
from neuroarena.families.emg.decoders import CtcLinear, MostFrequentKey
from neuroarena.families.emg.emg2qwerty import Emg2Qwerty
from neuroarena.features import FeatureChain
from neuroarena.scoring import StreamRule, score
from neuroarena.statistics import meets_resolution, required_units

MANIFEST = FAMILY.manifest("emg2qwerty", "2026")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "track-emg.md"


@pytest.fixture(scope="module")
def root() -> Path:
    return small_twin()


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root, tmp_path / "copy")
    return tmp_path / "copy"


def edit(root: Path, old: str, new: str) -> None:
    path = root / "generic.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# --- rules -----------------------------------------------------------------------------------------


def test_the_manifest_says_what_the_challenge_says():
    assert (MANIFEST.metric, MANIFEST.tie_break, MANIFEST.direction) == ("cer", "wer", "lower")
    assert MANIFEST.additional_metrics == ("corpus_cer",)
    assert (MANIFEST.prediction, MANIFEST.prediction_columns) == ("text", ("text",))
    assert (MANIFEST.state, MANIFEST.combiner, MANIFEST.cluster) == ("stream", "mean", "user")
    assert MANIFEST.stream == StreamRule(window_s=4, hop_s=4, before_s=0.9, after_s=0.1, answer="joined")
    assert {"empty_reference", "empty_answer", "no_answer"} <= set(MANIFEST.undefined_rules)
    assert FAMILY.splits("emg2qwerty", "2026") == ("other-people",)
    assert FAMILY.window("emg2qwerty", "2026").n_samples == 10_000


def test_one_block_is_one_session_of_one_user_and_one_text(root):
    benchmark, data = load(root), Emg2Qwerty(root)
    examples = benchmark.examples
    assert benchmark.simulated
    assert examples["id"].tolist() == examples["unit"].tolist() == examples["session"].tolist()
    for row in examples.itertuples():
        assert row.target == data.text(row.id)
        assert (row.start, row.stop) == (0, data.recording(row.id).n_samples)
        assert row.cluster == row.subject == data.about(row.id)[0]


# --- the split -------------------------------------------------------------------------------------


def test_nobody_is_both_trained_on_and_judged(root):
    benchmark = load(root)
    (fold,) = benchmark.split("other-people").folds
    who = benchmark.examples.set_index("id")["subject"]
    assert set(who[list(fold.test)]).isdisjoint(who[list(fold.train + fold.validation)])
    assert set(fold.train + fold.validation + fold.test) == set(benchmark.examples["id"])


def test_the_hash_depends_on_the_lists_and_on_no_order(copied):
    before = load(copied).split("other-people").hash
    path = copied / "generic.yaml"
    lines = path.read_text().splitlines()
    first = lines.index("  train:") + 1
    lines[first : first + 4] = [*lines[first + 2 : first + 4], *lines[first : first + 2]]
    path.write_text("\n".join(lines) + "\n")
    assert load(copied).split("other-people").hash == before
    del lines[first : first + 2]
    path.write_text("\n".join(lines) + "\n")
    assert load(copied).split("other-people").hash != before


def test_a_missing_person_is_an_error_and_never_another_split(copied):
    victim = load(copied).split("other-people").folds[0].test[0]
    (copied / f"{victim}.hdf5").unlink()
    with pytest.raises(InputError, match=f'there is no session "{victim}"'):
        load(copied)


def test_a_session_of_another_user_than_listed_is_refused(copied):
    user = Emg2Qwerty(copied).split_file().train[0][0]
    edit(copied, f"user: {user}", "user: 12345678")
    with pytest.raises(
        InputError, match=f"belongs to user {user}, but the split file lists it for user 12345678"
    ):
        load(copied)


def test_a_user_on_both_sides_is_refused(copied):
    split = Emg2Qwerty(copied).split_file()
    user, session = split.test[0]
    edit(copied, f"  - user: {user}\n    session: {session}\n", "")
    edit(copied, "  val:\n", f"  - user: {user}\n    session: {session}\n  val:\n")
    with pytest.raises(InputError, match=f"user {user} is both in test and in training"):
        load(copied)


def test_without_a_split_file_nothing_is_drawn_by_chance(copied, tmp_path):
    (copied / "generic.yaml").rename(tmp_path / "mine.yaml")
    with pytest.raises(InputError, match=r"there is no generic\.yaml, the published list"):
        load(copied)
    given = load_benchmark("emg/emg2qwerty", str(copied), split_file=str(tmp_path / "mine.yaml"))
    assert given.options == {"split_file": "mine.yaml"}


def test_a_session_without_text_is_refused_and_one_without_a_keyboard_left_out_and_said(copied):
    data = Emg2Qwerty(copied)
    user, session = data.split_file().train[0]
    hand_made(copied / f"{session}.hdf5", [press("Key.tab", 0.5)], attributes={"user": user})
    with pytest.raises(InputError, match="no key of the set was pressed in this session"):
        load(copied).examples  # noqa: B018
    away = {"user": user, "condition": "on_table"}
    hand_made(copied / f"{session}.hdf5", [press("a", 0.5)], attributes=away)
    benchmark = load(copied)
    assert session not in set(benchmark.examples["id"])
    assert benchmark.notes == (
        f"1 listed sessions were not typed on a keyboard and are left out, the first {session}.",
    )


# --- the score -------------------------------------------------------------------------------------


def scored(answers: dict[str, str], references: dict[str, str]) -> pd.DataFrame:
    truth = pd.DataFrame(
        [(block, "f", block, "user", text) for block, text in references.items()],
        columns=["id", "fold", "unit", "cluster", "target"],
    )
    predictions = pd.DataFrame(list(answers.items()), columns=["id", "text"])
    return score(predictions, truth, MANIFEST).table.set_index("unit")


def test_the_worked_example_of_the_page():
    answers = {"a": "helo\u23ce", "b": "x\u232bok go"}
    references = {"a": "hello\u23ce", "b": "xx\u232bok go"}
    table = scored(answers, references)
    # One character of six is missing, and one of eight.
    assert table["score"].to_dict() == {"a": pytest.approx(100 / 6), "b": pytest.approx(12.5)}
    assert table["score"].mean() == pytest.approx(14.583, abs=1e-3)
    assert table["tie_break"].to_dict() == {"a": 100.0, "b": 50.0}
    for block in answers:
        assert table.loc[block, "score"] == pytest.approx(100 * jiwer.cer(references[block], answers[block]))


def test_no_text_scores_one_hundred_and_an_empty_reference_is_refused():
    assert scored({"a": ""}, {"a": "hello"})["score"].tolist() == [100.0]
    with pytest.raises(InputError, match="the reference text is empty"):
        scored({"a": "x"}, {"a": ""})


def test_backspace_is_compared_and_not_applied():
    assert scored({"a": "b"}, {"a": "a\u232bb"})["score"].tolist() == [pytest.approx(200 / 3)]


def test_the_published_test_set_is_large_enough_for_nu():
    assert required_units(MANIFEST.sigma, MANIFEST.nu) == 12
    # Sixteen test sessions are published.
    assert meets_resolution(MANIFEST.sigma, 16, MANIFEST.nu)


# --- through the engine ----------------------------------------------------------------------------


class Silent:
    """Says nothing, ever."""

    features = FeatureChain()

    def fit(self, train, validation=None, context=None):
        self.saw_ = [(group.events is not None, group.recording is not None) for group in train]
        return self

    def start(self, meta):
        self.window_ = None

    def step(self, window):
        return None


class Watcher(Silent):
    """Answers with nothing but an empty text, and checks what it is shown."""

    def fit(self, train, validation=None, context=None):
        for group in [*train, *(validation or [])]:
            assert list(group.events.columns) == ["onset_s", "duration_s", "value"]
            assert "".join(group.events["value"]) == group.targets[0]
            assert group.signals.shape == (1, 32, 0)
        assert context.stream == MANIFEST.stream
        assert context.kind == "text"
        return self

    def step(self, window):
        assert window.shape == (32, 10_000)
        return ""


def test_the_engine_plays_streams_and_the_score_is_the_scorers(root, tmp_path):
    benchmark = load(root)
    results = {
        decoder: evaluate(decoder(), benchmark, out=tmp_path / "results", cache=tmp_path / "cache")
        for decoder in (MostFrequentKey, CtcLinear, Watcher)
    }
    means = {
        decoder.__name__: result.unit_scores.table["score"].mean() for decoder, result in results.items()
    }
    assert means["Watcher"] == 100.0
    assert means["CtcLinear"] < 30 < means["MostFrequentKey"]


def test_a_decoder_that_never_answers_fails_and_is_not_scored(root, tmp_path):
    result = evaluate(Silent(), load(root), out=tmp_path / "results", cache=tmp_path / "cache")
    assert result.record.status == "failed"
    assert "returned no answer in 8 windows" in result.record.cells[0].error


def test_test_recordings_are_told_no_keystrokes(root):
    benchmark = load(root)
    (plan,) = plan_runs([("ctc-linear", CtcLinear())], [benchmark], ["other-people"])
    (cell,) = plan.cells
    assert all(streams.events is not None for streams in (*cell.train, *cell.validation))
    assert all(streams.events is None and streams.targets is None for streams in cell.test)


def test_events_and_recordings_of_training_agree(root):
    benchmark = load(root)
    example = benchmark.examples["id"][0]
    events = benchmark.read_events(example)
    assert events["onset_s"].between(0, benchmark.recording(example).duration_s).all()
    assert np.isfinite(events["duration_s"]).all()


# --- the page --------------------------------------------------------------------------------------


def test_every_test_the_page_names_exists():
    cited = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE.read_text(encoding="utf-8"))
    assert len(cited) > 20
    for path, name in cited:
        text = (PAGE.parents[1] / path).read_text(encoding="utf-8")
        assert f"def {name}(" in text, f"{path}::{name}"
