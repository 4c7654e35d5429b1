from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuroarena.benchmarks import Benchmark
from neuroarena.decoders import Context, StreamDecoder
from neuroarena.decoders.streams import Playback, StreamMeta, drive
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation import evaluate
from neuroarena.families.sleep import FAMILY
from neuroarena.families.sleep.decoders import (
    BandPower,
    BandpowerStager,
    ConvStager,
    SleepChance,
    SleepMedian,
    TrainedStager,
    conv_stager,
    load_stager,
)
from neuroarena.families.sleep.decoders.onset_rule import OnsetFinder, OnsetRule
from neuroarena.families.sleep.decoders.training_windows import stages_at
from sleep_streams import TASKS, errors, make_benchmark, parts

pytest.importorskip("edfio")
pytest.importorskip("pybv")
TINY = {"filters": 6, "hidden": 4, "max_epochs": 6, "thin": 3, "stride": 16}


def tiny_conv() -> ConvStager:
    pytest.importorskip("torch")
    return ConvStager(**TINY)


@pytest.fixture(scope="module")
def strong(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return make_benchmark(tmp_path_factory.mktemp("strong") / "twin", "muse", strength=3.0, seed=1)


@pytest.fixture(scope="module")
def fitted(strong: Benchmark) -> BandpowerStager:
    return BandpowerStager().fit(parts(strong, strong.split("other-people").folds[0].train))


def played(benchmark: Benchmark, row: int = 0, seed: int = 0) -> tuple[Playback, pd.Series]:
    example = benchmark.examples.iloc[row]
    recording, rule = benchmark.recording(example["recording"]), benchmark.manifest.stream
    assert rule is not None
    rng = np.random.default_rng(seed)
    return Playback(recording, int(example["start"]), int(example["stop"]), rule, rng), example


def answers(decoder: StreamDecoder, windows: list[np.ndarray], benchmark: Benchmark) -> list[float]:
    recording = benchmark.recording(benchmark.examples["recording"].iloc[0])
    listener = copy.deepcopy(decoder)
    listener.start(StreamMeta(recording.channels, recording.rate_hz))
    said = []
    for window in windows:
        signals, _ = listener.features(window[np.newaxis], recording.channels, recording.rate_hz)
        said.append(listener.step(signals[0]))
    return said


def test_all_of_them_are_stream_decoders():
    for decoder in (SleepMedian(), SleepChance(), BandpowerStager(), ConvStager()):
        assert isinstance(decoder, StreamDecoder)
    assert (SleepMedian.role, SleepChance.role, BandpowerStager.role) == ("dummy", "chance", "classical")


def test_the_median_is_the_median_of_the_training_part(strong: Benchmark):
    ids = strong.split("other-people").folds[0].train
    expected = strong.examples.set_index("id").loc[list(ids), "target"].median()
    assert SleepMedian().fit(parts(strong, ids)).step(np.zeros((4, 10))) == pytest.approx(expected)


def test_a_strong_planted_signal_is_found(strong: Benchmark):
    """At three times the usual strength the ideal error is near zero, and chance about 50 s."""
    found = errors(BandpowerStager(), strong, folds=2)
    assert np.median(found) < 20
    assert found.mean() < 0.6 * errors(SleepMedian(), strong).mean()


@pytest.mark.drill
def test_a_small_network_finds_a_strong_planted_signal_in_most_nights(tmp_path: Path):
    """Chance is 300 s. Trained on four or five nights the network has false starts: the median is judged."""
    pytest.importorskip("torch")
    nights = make_benchmark(tmp_path / "twin", "sleep-edf", strength=3.0, seed=2)
    small = ConvStager(filters=8, hidden=8, max_epochs=12, stride=8)
    assert np.median(errors(small, nights, folds=3)) < 60 < 0.3 * np.median(errors(SleepMedian(), nights))


@pytest.mark.drill
@pytest.mark.parametrize("make", [BandpowerStager, tiny_conv])
def test_at_strength_zero_nobody_beats_the_median_by_much(tmp_path: Path, make):
    nothing = make_benchmark(tmp_path / "twin", "muse", strength=0.0, people=8, recordings=1)
    assert errors(make(), nothing).mean() > 0.75 * errors(SleepMedian(), nothing).mean()


@pytest.mark.parametrize("make", [BandpowerStager, tiny_conv])
def test_what_is_to_come_changes_no_answer_that_was_given(strong: Benchmark, make):
    """Trap 4: a scaler that had seen the whole recording would answer otherwise when its end is another."""
    decoder = make().fit(parts(strong, strong.split("other-people").folds[0].train))
    windows = list(played(strong)[0])
    other = [*windows[:15], *[50.0 * window for window in windows[15:]]]
    before, after = answers(decoder, windows, strong), answers(decoder, other, strong)
    assert before[:15] == after[:15]


def test_a_stream_gets_a_fresh_copy_and_leaves_the_decoder_as_it_was(
    strong: Benchmark, fitted: BandpowerStager
):
    """Trap 5: what one stream was like is forgotten before the next."""
    rule = strong.manifest.stream
    assert rule is not None

    def play(row: int) -> float:
        example = strong.examples.iloc[row]
        recording = strong.recording(example["recording"])
        return drive(
            fitted, recording, int(example["start"]), int(example["stop"]), rule, np.random.default_rng(row)
        )

    alone = play(0)
    for row in (3, 2, 1):
        play(row)
    assert play(0) == alone
    assert not hasattr(fitted, "baseline_")


def test_a_longer_delay_before_a_stream_does_not_move_the_answer_much(
    strong: Benchmark, fitted: BandpowerStager
):
    rule = strong.manifest.stream
    assert rule is not None
    example = strong.examples.iloc[1]
    recording = strong.recording(example["recording"])
    said = [
        drive(
            fitted, recording, int(example["start"]), int(example["stop"]), rule, np.random.default_rng(seed)
        )
        for seed in range(4)
    ]
    assert np.ptp(said) <= 60


def test_hypnograms_and_a_single_onset_are_both_learned_from():
    hypnogram = pd.DataFrame(
        {"onset_s": [0.0, 30.0, 60.0, 120.0], "duration_s": 30.0, "value": ["W", "?", "N2", "N3"]}
    )
    times = np.array([-1.0, 15.0, 45.0, 60.0, 100.0, 130.0, 200.0])
    assert stages_at(hypnogram, times) == ["?", "W", "?", "N2", "?", "N3", "?"]


@pytest.mark.parametrize("make", [BandpowerStager, ConvStager])
def test_a_training_part_without_stages_is_refused(strong: Benchmark, make):
    (group,) = parts(strong, strong.split("other-people").folds[0].train[:1])
    from dataclasses import replace

    with pytest.raises(InputError, match="learns from recordings with events"):
        make().fit([replace(group, events=None)])
    wake = pd.DataFrame({"onset_s": [0.0], "duration_s": [9e4], "value": ["W"]})
    with pytest.raises(InputError, match="needs N2 and at least one other stage"):
        make().fit([replace(group, events=wake)])


def finder(**changes: float) -> OnsetFinder:
    return OnsetFinder(
        OnsetRule(**{"hop_s": 10.0, "smoothing": 1, "threshold": 0.5, "fallback_s": 99.0, **changes})
    )


def test_the_rule_waits_for_the_epoch_that_follows():
    rule = finder()
    said = [rule.add(p) for p in (0.1, 0.9, 0.9, 0.1, 0.9, 0.9, 0.9, 0.9, 0.1)]
    assert said == [99.0] * 7 + [40.0, 40.0]  # four windows in a row: one epoch and one more


def test_the_rule_averages_backwards_shifts_and_leaves_the_first_seconds_out():
    smooth = finder(smoothing=2, k=0)
    assert [smooth.add(p) for p in (0.2, 0.6, 0.6)] == [99.0, 99.0, 20.0]
    assert finder(k=0, shift_s=-50.0).add(1.0) == 0.0
    early = finder(k=0, earliest_s=15.0)
    assert [early.add(1.0) for _ in range(3)] == [99.0, 99.0, 20.0]


def test_a_rule_is_tuned_to_the_streams_it_is_shown():
    rng = np.random.default_rng(0)
    onsets = rng.integers(30, 120, 12)
    streams = [np.clip(0.2 + 0.6 * (np.arange(180) >= at) + rng.normal(0, 0.05, 180), 0, 1) for at in onsets]
    rule = OnsetRule.tuned(streams, onsets * 10.0 + 7.0, 10.0)
    said = [rule.first(stream) for stream in streams]
    assert [at * 10 + rule.shift_s for at in said if at is not None] == pytest.approx(
        list(onsets * 10.0 + 7), abs=10
    )
    silent = OnsetRule.tuned([np.zeros(50)] * 3, np.array([100.0, 200.0, 400.0]), 10.0)
    assert OnsetFinder(silent).add(0.0) == 200.0


def test_band_power_finds_a_tone_and_no_offset():
    time = np.arange(3000) / 100
    tone = (10 * np.sin(2 * np.pi * 10 * time))[np.newaxis, np.newaxis].astype(np.float32)
    channels = pd.DataFrame({"name": ["a"]})
    power, _ = BandPower()(tone, channels, 100.0)
    assert power[0, 0].argmax() == 2
    moved, _ = BandPower()(tone + 800.0, channels, 100.0)
    assert np.isfinite(BandPower()(0 * tone, channels, 100.0)[0]).all()
    np.testing.assert_allclose(moved[0, 0, 2], power[0, 0, 2], rtol=1e-3)
    with pytest.raises(InputError, match="shorter than a segment"):
        BandPower()(tone[..., :100], channels, 100.0)
    with pytest.raises(InputError, match="beyond half the rate"):
        BandPower()(tone, channels, 50.0)


def test_a_network_is_saved_and_loaded_with_its_rule_and_answers_alike(strong: Benchmark, tmp_path: Path):
    pytest.importorskip("safetensors")
    trained = tiny_conv().fit(parts(strong, strong.split("other-people").folds[0].train), None, Context())
    trained.save(tmp_path / "stager.safetensors", trained_on="simulated")
    shape, rule, _ = load_stager(tmp_path / "stager.safetensors")
    assert (shape, rule) == (trained.shape_, trained.rule_)
    loaded = conv_stager(weights=str(tmp_path / "stager.safetensors"))
    assert isinstance(loaded, TrainedStager)
    loaded.fit([])
    windows = list(played(strong)[0])[:12]
    assert answers(loaded, windows, strong) == answers(trained, windows, strong)
    assert (tmp_path / "stager.safetensors").stat().st_size < 2 * 2**20
    with pytest.raises(InputError, match="was trained on 4 channels, this stream has 2"):
        loaded.start(StreamMeta(pd.DataFrame({"name": ["a", "b"]}), 128.0))
    loaded.start(StreamMeta(pd.DataFrame({"name": list("abcd")}), 128.0))
    with pytest.raises(InputError, match="windows of 3840 samples, this one has 100"):
        loaded.step(np.zeros((4, 100), dtype=np.float32))


def test_the_same_seed_trains_the_same_network(strong: Benchmark):
    group = parts(strong, strong.split("other-people").folds[0].train)
    first, second = (
        tiny_conv().fit(group, None, Context(rng=np.random.default_rng(4))).network_.state_dict()
        for _ in range(2)
    )
    assert all(first[name].equal(second[name]) for name in first)


@pytest.mark.parametrize("content", [None, b"", b"\x00" * 64, b'{"a": 1}'])
def test_weights_that_are_none_are_refused(tmp_path: Path, content: bytes | None):
    pytest.importorskip("safetensors")
    pytest.importorskip("torch")
    path = tmp_path / "weights.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"weights\.safetensors: (this file does not exist|cannot be read)"):
        load_stager(path)


def test_weights_of_something_else_are_refused_and_nothing_is_saved_before_fit(tmp_path: Path):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    pytest.importorskip("torch")
    save_file({"a": np.zeros(3)}, str(tmp_path / "other.safetensors"))
    with pytest.raises(InputError, match="does not state that it holds a conv-stager"):
        load_stager(tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="nothing to save; call fit"):
        ConvStager().save(tmp_path / "nothing.safetensors")
    assert not (tmp_path / "nothing.safetensors").exists()


def test_who_never_answers_is_an_error(strong: Benchmark):
    class Mute(SleepMedian):
        def step(self, window):
            return None

    playback, example = played(strong)
    with pytest.raises(NeuroarenaError, match="returned no answer"):
        drive(
            Mute(), strong.recording(example["recording"]), int(example["start"]), int(example["stop"]),
            playback.rule, np.random.default_rng(0),
        )  # fmt: skip


@pytest.mark.drill
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("make", [BandpowerStager, ConvStager])
def test_on_a_twin_of_ten_people_a_stager_is_between_the_ideal_and_chance(tmp_path: Path, task: str, make):
    """The stated band: above the ideal error, and below 65 % of guessing; a network on Muse only below guessing."""
    band = 1.0 if (task, make) == ("muse", ConvStager) else 0.75
    benchmark = make_benchmark(
        tmp_path / "twin",
        task,
        **({"people": 10, "minutes": 60} if task == "sleep-edf" else {"people": 10, "longest": 20}),
    )
    chance = FAMILY.manifest(task, "2026").chance
    assert chance is not None
    result = evaluate(make(), benchmark, cache=tmp_path / "cache")
    assert result.score is not None
    assert 2.9 < result.score < band * chance
