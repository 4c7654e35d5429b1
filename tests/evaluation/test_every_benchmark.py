"""On every registered benchmark only signals can answer: order, length, ids, counts and the future tell nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

from neuroarena.benchmarks import Benchmark, list_benchmarks, resolve
from neuroarena.benchmarks.names import FAMILIES
from neuroarena.decoders import Dummy, n_examples
from neuroarena.decoders.streams import Playback
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate, evaluate_all
from neuroarena.evaluation.asking import predict_streams
from neuroarena.evaluation.plan import plan_runs
from neuroarena.evaluation.prediction_table import prediction_table
from neuroarena.features import FeatureChain
from neuroarena.recordings import from_array
from neuroarena.scoring import score
from track_twins import bound, dataset_of, twin

SLOW = ("hbn", "braintreebank", "sleep_edf", "muse_sleep")
SEEDS = range(3)


def tasks(stream: bool) -> list[Any]:
    """Every registered task of one state, those with heavy twins as drills."""
    found = []
    for name in list_benchmarks(judges="decoders"):
        family, _, task = name.partition("/")
        manifest = FAMILIES.get(family).manifest(task, FAMILIES.get(family).definitions[0])
        if (manifest.stream is not None) is stream:
            slow = dataset_of(name) in SLOW or family == "transfer"
            found.append(pytest.param(name, marks=pytest.mark.drill if slow else ()))
    return found


WINDOWED, STREAMED = tasks(stream=False), tasks(stream=True)


def test_every_registered_family_has_a_twin_here():
    assert [dataset_of(name) for name in list_benchmarks(every_definition=True, judges="decoders")]


@pytest.mark.parametrize("task", [*WINDOWED, *STREAMED])
def test_the_splits_a_family_lists_for_a_task_are_those_its_data_have(task):
    family, definition, (name,) = resolve(task)
    assert family.splits(name, definition) == bound(task).splits


@dataclass
class Cheat:
    """Answers with training targets, chosen by anything but the signals."""

    by: str
    draw: int = 0
    blind: ClassVar[bool] = True
    features: FeatureChain = field(default_factory=FeatureChain)
    # Outside of any copy, where a clever cheat would keep its count.
    asked: ClassVar[list[int]] = []

    def fit(self, train, validation=None, context=None):
        Cheat.asked.clear()
        self.context_ = context
        self.targets_ = np.concatenate([group.targets for group in train])
        self.own_calls_ = 0
        return self

    def predict(self, test):
        n, before = n_examples(test), sum(Cheat.asked)
        Cheat.asked.append(n)
        self.own_calls_ += 1
        chosen = {
            "order": before + np.arange(n),
            "place in the batch": np.concatenate([np.arange(len(group)) for group in test]),
            "ids": np.array(
                [int("".join(filter(str.isdigit, text)) or 0) for group in test for text in group.table["id"]]
            ),
            "calls": np.full(n, self.own_calls_ + len(Cheat.asked)),
            "size of the batch": np.full(n, n),
            "random": np.random.default_rng([self.draw, before]).integers(10**6, size=n),
        }[self.by]
        answers = self.targets_[chosen % len(self.targets_)]
        if not self.context_.classes:
            return answers
        return np.array([[float(str(said) == name) for name in self.context_.classes] for said in answers])


def values(
    decoders: list[Any], benchmark: Benchmark, cache, seed: int = 0, split: str | None = None
) -> list[float]:
    """Scores in one plan, turned so that higher is better."""
    named = [(f"decoder {place}", decoder) for place, decoder in enumerate(decoders)]
    results = evaluate_all(named, [benchmark], [split], seed=seed, cache=cache)
    for result in results:
        assert result.complete, result.record.cells[0].error
    return [benchmark.manifest.sign * result.score for result in results]


CHEATS = ("order", "place in the batch", "ids", "calls", "size of the batch")


def cheated(benchmark: Benchmark, cache, split: str | None = None) -> tuple[dict[str, float], float]:
    """What cheats score in the mean, and what nobody should pass who does not decode.

    That is a fifth better than the best constant for numbers, and else four deviations above guessing.
    """
    cheats = [Cheat(by) for by in CHEATS]
    floors = [Cheat("random", draw) for draw in range(8)]
    if benchmark.manifest.prediction == "number":
        floors = [Dummy()]
    first = values([*cheats, *floors], benchmark, cache, 0, split)
    others = [values(cheats, benchmark, cache, seed, split) for seed in SEEDS[1:]]
    means = np.mean([first[: len(cheats)], *others], axis=0)
    guessed = np.array(first[len(cheats) :])
    limit = 0.8 * guessed[0] if len(guessed) == 1 else guessed.mean() + 4 * guessed.std()
    return dict(zip(CHEATS, means, strict=True)), float(limit)


@pytest.mark.parametrize("task", WINDOWED)
def test_who_answers_by_order_ids_or_counts_scores_as_chance(task, tmp_path):
    scores, limit = cheated(bound(task), tmp_path)
    assert {by: score for by, score in scores.items() if score > limit} == {}


LEAKY = [
    ("bci/commands", "later-sessions"),
    pytest.param("bci/ssvep-exo", "leave-one-subject-out", marks=pytest.mark.drill),
]


@pytest.mark.parametrize(("task", "split"), LEAKY)
def test_even_where_the_order_tells_everything_it_is_hidden(task, split, tmp_path):
    """With a control, so that this can fail: asked in the order of the files the same cheat knows it all."""
    benchmark = bound(task, plant_leak="order")
    scores, limit = cheated(benchmark, tmp_path, split)
    assert {by: score for by, score in scores.items() if score > limit} == {}
    assert unhidden(benchmark, split) > 0.95 > limit


def unhidden(benchmark: Benchmark, split: str) -> float:
    """Score the cheat that is asked in the order of the files."""
    (plan,) = plan_runs([("cheat", Cheat("order"))], [benchmark], [split])
    tables = []
    for cell in plan.cells:
        cheat = Cheat("order").fit(cell._groups(cell.train, None), None, cell._context())
        said = cheat.predict(cell._groups(cell.test, None))
        ids = np.concatenate([part.table["id"].to_numpy() for part in cell.test])
        tables.append(prediction_table(said, ids, benchmark.manifest))
    everything = type(tables[0])(
        np.concatenate([table.to_numpy() for table in tables]), columns=tables[0].columns
    )
    return score(everything, benchmark.truth(plan.split), benchmark.manifest).value


@dataclass
class Spy(Dummy):
    """A dummy that reads signals and looks at everything it is given."""

    blind: ClassVar[bool] = False
    ids: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    def fit(self, train, validation=None, context=None):
        assert not hasattr(self, "used_"), "fitted twice"
        self.samples_ = {group.signals.shape[2] for group in train}
        return super().fit(train, validation, context)

    def predict(self, test):
        assert not hasattr(self, "used_"), "a batch is asked of a copy that has answered another"
        self.used_ = True
        for group in test:
            assert group.targets is None
            assert group.recording is None
            assert group.events is None
            assert {group.signals.shape[2]} == self.samples_, "more samples than a window has"
            assert set(group.table.columns) <= {"id", "subject", "session", *self.known}
            assert not set(group.table["id"]) & set(self.ids)
        return super().predict(test)


@pytest.mark.parametrize("task", WINDOWED)
def test_a_window_comes_alone_without_target_id_recording_or_what_follows(task, tmp_path):
    benchmark = bound(task)
    spy = Spy(ids=tuple(benchmark.examples["id"]), known=benchmark.known)
    values([spy], benchmark, tmp_path)


@dataclass
class Deaf:
    """Answers a stream by what is not in it; `shift_` brings its answers to where training answers are."""

    by: str
    features: FeatureChain = field(default_factory=FeatureChain)
    heard: ClassVar[list[int]] = []

    def fit(self, train, validation=None, context=None):
        Deaf.heard.clear()
        self.rule_ = context.stream
        self.targets_ = [group.targets[0] for group in train]
        self.rate_ = [len(str(target)) for target in self.targets_]
        return self

    def start(self, meta):
        assert not hasattr(self, "calls_"), "a stream is played to a copy that has heard another"
        assert set(vars(meta)) == {"channels", "rate_hz"}
        self.calls_ = 0
        self.number_ = len(Deaf.heard)
        Deaf.heard.append(0)

    def step(self, window):
        self.calls_ += 1
        Deaf.heard[-1] = self.calls_
        chosen = {"calls": self.calls_, "streams heard": self.number_, "length": max(Deaf.heard)}[self.by]
        if self.rule_.answer == "joined":
            # By heart: what somebody typed in training at this time of a session.
            text = self.targets_[(chosen if self.by != "calls" else 0) % len(self.targets_)]
            return text[(self.calls_ - 1) * 10 : self.calls_ * 10]
        if self.by == "streams heard":
            return float(sorted(self.targets_)[chosen % len(self.targets_)])
        middle = float(np.median(self.targets_)) + self.rule_.start_jitter_s / 2
        return middle + self.rule_.hop_s * (chosen - self.rule_.horizon_s / self.rule_.hop_s)


@pytest.mark.parametrize("task", STREAMED)
def test_who_does_not_listen_to_a_stream_scores_as_chance(task, tmp_path):
    benchmark = bound(task)
    scores = values(
        [*(Deaf(by) for by in ("calls", "streams heard", "length")), Dummy()], benchmark, tmp_path
    )
    floor = scores.pop()
    if benchmark.manifest.prediction == "text":
        # The edit distance finds likenesses in a text that was drawn.
        floor = -json.loads((twin(dataset_of(task)) / "simulated.json").read_text())["random_text_cer"]
    assert max(scores) <= 0.8 * floor


@pytest.mark.parametrize("task", STREAMED)
def test_a_decoder_of_windows_is_refused_a_stream(task, tmp_path):
    with pytest.raises(InputError, match=r"needs a decoder with start\(\) and step\(\)"):
        evaluate(Cheat("order"), bound(task), cache=tmp_path)


@pytest.mark.parametrize("task", STREAMED)
def test_what_was_played_does_not_depend_on_what_follows(task):
    benchmark = bound(task)
    row = benchmark.examples.iloc[0]
    rule = benchmark.manifest.stream
    recording = benchmark.recording(row["recording"])
    signal = recording.read(0, recording.n_samples)
    begin, end = int(row["start"]), int(row["stop"])
    turn = (begin + end) // 2
    changed = signal.copy()
    changed[:, turn:] = 0.0
    other = from_array(changed, recording.rate_hz, recording.channels["name"].tolist(), name="changed")
    players = [Playback(each, begin, end, rule, np.random.default_rng(1)) for each in (recording, other)]
    rate = recording.rate_hz
    last = players[0].delay_s + (turn - begin) / rate - rule.window_s - rule.after_s
    before = int(last // rule.hop_s) + 1
    assert before >= 1
    for number, (one, same) in enumerate(zip(*players, strict=True)):
        assert one.shape == (
            len(recording.channels),
            round((rule.before_s + rule.window_s + rule.after_s) * rate),
        )
        if number < before:
            np.testing.assert_array_equal(one, same)
        if number >= before + 3 * rule.window_s / rule.hop_s:
            assert not np.array_equal(one, same)
            break


class Roll:
    """Calls the roll: which stream is played when, told by its first sample, kept outside any copy."""

    features = FeatureChain()
    heard: ClassVar[list[float]] = []

    def fit(self, train, validation=None, context=None):
        return self

    def start(self, meta):
        self.first_ = True

    def step(self, window):
        if self.first_:
            Roll.heard.append(float(window[0, round(0.9 * 2000)]))
            self.first_ = False
        return "a"


def test_streams_are_played_in_an_order_drawn_at_random():
    benchmark = bound("emg/emg2qwerty")
    (plan,) = plan_runs([("roll", Roll())], [benchmark], [None])
    orders = set()
    for seed in range(4):
        Roll.heard.clear()
        rule = benchmark.manifest.stream
        predict_streams(Roll(), plan.cells[0].test, rule, np.random.default_rng(seed))
        orders.add(tuple(Roll.heard))
    assert len(orders) > 1
    assert len({tuple(sorted(order)) for order in orders}) == 1
