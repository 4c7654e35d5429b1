"""emg2qwerty's network: the published numbers, the published checkpoint, and training on the twin."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from typer.testing import CliRunner

from emg_sessions import context, load, parts, small_twin
from neuroarena.decoders.pretrained import find_weights, load_module
from neuroarena.decoders.streams import StreamMeta, drive
from neuroarena.errors import InputError, MissingDependency, NeuroarenaError
from neuroarena.evaluation.identity import identify
from neuroarena.families.emg.decoders import CtcLinear, GreedyText, MostFrequentKey, convert_emg2qwerty
from neuroarena.families.emg.decoders.shapes import EMG2QWERTY, tds_tensors
from neuroarena.families.emg.decoders.spectra import log_spectrogram
from neuroarena.families.emg.decoders.stretches import (
    Stretch,
    masked,
    stretches,
    varied,
    window_item,
    window_starts,
)
from neuroarena.families.emg.decoders.tds import TdsCtc
from neuroarena.families.emg.emg2qwerty import DATASET
from neuroarena.families.emg.emg2qwerty.characters import BLANK
from neuroarena.recordings import from_array

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from neuroarena.families.emg.decoders.network import TdsNetwork  # noqa: E402
from neuroarena.families.emg.decoders.training import CtcSchedule, decode_stretch, judge, train_network  # noqa: E402

CLOSE = {"atol": 1e-3, "rtol": 0}
LARGE = EMG2QWERTY.shape("large")


def filled(module):
    """Give a module the weights of the self-check: a fixed sequence, ones added to the scales."""
    for number, (name, parameter) in enumerate(module.named_parameters()):
        k = np.arange(parameter.numel(), dtype=np.uint64) * np.uint64(2654435761) + np.uint64(number * 40503)
        values = 0.1 * ((k % np.uint64(2**32)).astype(float) / 2**32 - 0.5)
        if parameter.ndim == 1 and name.endswith("weight"):
            values += 1
        parameter.data = torch.tensor(values.reshape(parameter.shape), dtype=torch.float32)
    return module.eval()


def self_check_signal() -> np.ndarray:
    t = np.arange(10_000) / 2000
    return np.stack(
        [
            np.sin(2 * np.pi * (20 + 30 * c + 50 * b) * t) * (1 + 0.5 * np.sin(2 * np.pi * 1.5 * t + c))
            for b in range(2)
            for c in range(16)
        ]
    ).astype(np.float32)


@pytest.fixture(scope="module")
def twin() -> Path:
    return small_twin()


@pytest.fixture(scope="module")
def fitted(twin: Path) -> TdsCtc:
    torch.set_num_threads(1)
    return quick().fit(*parts(load(twin))[:2], context(3))


def quick(**options) -> TdsCtc:
    plain = {"size": "tiny", "max_epochs": 5, "aligned_epochs": 5, "learning_rate": 2e-2, "batch_size": 1}
    return TdsCtc(**{**plain, "augment": False, **options})


def answers(decoder, root: Path) -> list[str]:
    benchmark = load(root)
    return [
        drive(decoder, each, 0, each.n_samples, benchmark.manifest.stream, np.random.default_rng(0))
        for each in map(benchmark.recording, benchmark.split("other-people").folds[0].test)
    ]


# --- the published numbers -------------------------------------------------------------------------


def test_the_front_end_gives_the_published_spectra():
    spectra = log_spectrogram(self_check_signal())
    assert spectra.shape == (622, 2, 16, 33)
    np.testing.assert_allclose(spectra[0, 0, 0, :4], [1.36235, 1.07597, -0.15401, -2.17019], **CLOSE)


def test_the_front_end_is_torchs_short_time_fourier_transform():
    signal = np.random.default_rng(0).normal(0, 20, (32, 1000)).astype(np.float32)
    window = torch.hann_window(64, periodic=True)
    spectrum = torch.stft(torch.from_numpy(signal), 64, 16, window=window, center=False, return_complex=True)
    power = spectrum.abs() ** 2 / (window**2).sum()
    expected = torch.log10(power + 1e-6).permute(2, 0, 1).reshape(-1, 2, 16, 33).numpy()
    np.testing.assert_allclose(log_spectrogram(signal), expected, atol=1e-3)


def test_the_network_gives_the_published_numbers():
    network = filled(TdsNetwork(LARGE))
    with torch.no_grad():
        said = network(torch.from_numpy(log_spectrogram(self_check_signal()))[:, None]).numpy()
    assert said.shape == (498, 1, 99)
    np.testing.assert_allclose(said[0, 0, :4], [-2.20187, -8.71301, -9.13475, -3.25767], **CLOSE)
    np.testing.assert_allclose(said[497, 0, 95:], [-7.96938, -9.56567, -4.52125, -7.94836], **CLOSE)
    assert said.mean() == pytest.approx(-7.43852, abs=1e-3)


def test_the_network_has_the_published_tensors_and_as_many_parameters():
    network = TdsNetwork(LARGE)
    assert sum(parameter.numel() for parameter in network.parameters()) == 5_293_315
    found = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    assert found == tds_tensors(LARGE)
    assert list(found) == list(tds_tensors(LARGE))
    assert LARGE.lookback == 124


def test_turning_a_wristband_by_its_whole_circle_changes_nothing():
    network = TdsNetwork(EMG2QWERTY.shape("tiny")).eval()
    dense = network.model[1].mlps[0]
    frames = torch.randn(5, 1, 16, 33)
    by_hand = torch.stack([dense.mlp(frames.roll(turn, 2).flatten(2)) for turn in (-1, 0, 1)]).mean(0)
    torch.testing.assert_close(dense(frames), by_hand)
    torch.testing.assert_close(dense(frames.roll(16, 2)), by_hand)


# --- the published windows and their variations ----------------------------------------------------


def noise(n_samples: int, onsets=(100, 4000, 7999, 8000, 12_000)) -> Stretch:
    signal = np.random.default_rng(0).normal(0, 10, (32, n_samples)).astype(np.float32)
    recording = from_array(signal, 2000.0, [f"c{row}" for row in range(32)])
    return Stretch(recording, 0, n_samples, np.array(onsets), np.arange(len(onsets)), signal)


@pytest.mark.parametrize(("first", "frames"), [(0, 509), (8000, 622), (16_000, 622), (24_000, 609)])
def test_windows_are_the_published_ones_clipped_at_the_ends(first, frames):
    # 8200 samples at the start, 10000 inside, 9800 where nothing follows.
    assert len(window_item(noise(32_000), first, LARGE.lookback, None).frames) == frames


def test_labels_come_from_the_window_itself_and_not_from_its_surroundings():
    stretch = noise(32_000)
    assert window_item(stretch, 0, 124, None).labels.tolist() == [0, 1, 2]
    assert window_item(stretch, 8000, 124, None).labels.tolist() == [3, 4]
    assert window_item(stretch, 16_000, 124, None).labels.tolist() == []


def test_windows_stand_side_by_side_and_are_moved_by_what_is_left_over():
    assert window_starts(noise(32_000), None).tolist() == [0, 8000, 16_000, 24_000]
    assert window_starts(noise(7000), None).tolist() == [0]
    moved = {int(window_starts(noise(20_000), np.random.default_rng(seed))[0]) for seed in range(40)}
    assert max(moved) > 2000
    assert all(0 <= first < 4000 for first in moved)


def test_frames_are_taught_what_was_pressed_where_they_are():
    item = window_item(noise(32_000), 8000, 124, None)
    places = 8000 - 1800 + 16 * np.arange(124, 622)
    assert len(item.taught) == len(places)
    assert set(places[item.taught == 4]) == {p for p in places if 12_000 <= p < 12_080}
    assert (item.taught == BLANK).mean() > 0.98


def test_wristbands_are_turned_by_one_and_moved_against_each_other():
    signal = np.arange(32 * 1000, dtype=np.float32).reshape(32, 1000)
    rng, turns, shifts = np.random.default_rng(0), set(), set()
    for _ in range(60):
        result = varied(signal, rng)
        row, column = divmod(int(result[0, 0]), 1000)
        turns.add(row)
        other = int(result[16, 0]) % 1000
        shifts.add(column - other)
        assert result.shape[1] == 1000 - abs(column - other)
    assert turns == {0, 1, 15}
    assert min(shifts) < -60
    assert max(shifts) > 60
    assert max(map(abs, shifts)) <= 120
    assert varied(signal, rng, most_shift=0).shape == (32, 1000)


def test_masks_set_stretches_to_zero_for_each_electrode_by_itself():
    frames = np.ones((300, 2, 16, 33), np.float32)
    result = masked(frames, np.random.default_rng(0))
    assert frames.all()
    share = [(result[:, band, e] == 0).mean() for band in range(2) for e in range(16)]
    assert min(share) < 0.05 < max(share) < 0.6
    assert len(set(share)) > 20


def test_the_learning_rate_climbs_and_falls_as_published():
    schedule = CtcSchedule(150, 32, 1e-3)
    rates = [schedule.rate(epoch) for epoch in range(150)]
    assert rates[0] == 1e-8
    assert rates[10] == max(rates) == pytest.approx(1e-3)
    assert rates[-1] == pytest.approx(1e-6)
    assert rates[10:] == sorted(rates[10:], reverse=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_epochs": -1}, "max_epochs must be a whole number of at least 0"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1"),
        ({"learning_rate": float("nan")}, "learning_rate must be a number above 0"),
        ({"size": "huge"}, 'there is no size "huge"'),
    ],
)
def test_options_out_of_range_are_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        quick(**options).fit([], None, context())


@pytest.mark.parametrize(
    ("windows", "epochs", "aligned"), [(120, 6, 2), (60, 12, 4), (100_000, 6, 2), (7, 90, 30)]
)
def test_few_windows_are_passed_more_often(windows, epochs, aligned):
    schedule = TdsCtc()._schedule(windows)
    assert (schedule.max_epochs, schedule.aligned_epochs) == (epochs, aligned)


# --- training on the twin --------------------------------------------------------------------------


def test_a_tiny_network_learns_something_and_keeps_its_best_epoch(fitted, twin):
    course = fitted.course_
    assert len(course.losses) == len(course.cers) == 5
    assert course.cers[course.best_epoch] == min(course.cers) < 85 < course.cers[0]
    assert all(answers(fitted, twin))


def test_ctc_alone_brings_the_loss_down(twin):
    decoder = quick(aligned_epochs=0, max_epochs=2).fit(parts(load(twin))[0], None, context())
    assert decoder.course_.losses[1] < decoder.course_.losses[0]


def test_the_same_seed_gives_the_same_network_and_another_seed_another(twin):
    train_part, _, _ = parts(load(twin))
    before = torch.get_rng_state()
    one, again, other = (
        quick(max_epochs=1, augment=True).fit(train_part[:1], None, context(seed)) for seed in (3, 3, 4)
    )
    assert torch.equal(before, torch.get_rng_state())
    for name, value in one.network_.state_dict().items():
        assert torch.equal(value, again.network_.state_dict()[name])
    assert not torch.equal(other.network_.model[4].weight, one.network_.model[4].weight)


def test_a_network_decoded_window_by_window_is_decoded_as_a_whole(fitted, twin):
    lookback = EMG2QWERTY.shape("tiny").lookback
    benchmark = load(twin)
    for text, each in zip(answers(fitted, twin), benchmark.split("other-people").folds[0].test, strict=True):
        recording = benchmark.recording(each)
        frames = log_spectrogram(recording.read(0, recording.n_samples))
        assert GreedyText().take(judge(fitted.network_, frames)) == text
        whole = Stretch(recording, 0, recording.n_samples, np.array([], int), np.array([], int))
        assert decode_stretch(fitted.network_, lookback, whole) == text


def test_signals_are_read_when_due_where_they_do_not_fit_in_memory(twin, monkeypatch):
    train_part, _, _ = parts(load(twin))
    held = stretches(train_part)
    monkeypatch.setattr("neuroarena.families.emg.decoders.stretches._HELD_BYTES", 1)
    lazy = stretches(train_part)
    assert held[0].held is not None
    assert lazy[0].held is None
    np.testing.assert_array_equal(
        window_item(lazy[0], 8000, 30, None).frames, window_item(held[0], 8000, 30, None).frames
    )


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_loss_that_is_not_finite_stops_the_training():
    stretch = noise(20_000)
    stretch.held[:] = 1e30  # its power is beyond float32
    network = TdsNetwork(EMG2QWERTY.shape("tiny"))
    with pytest.raises(NeuroarenaError, match="the loss is not finite"):
        train_network(
            network, 14, CtcSchedule(1, 1, 1e-3, masks=False), [stretch], [], np.random.default_rng(0)
        )


def test_without_torch_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency) as refusal:
        TdsCtc().fit([], None, context())
    assert str(refusal.value) == (
        'The decoder tds-ctc needs PyTorch, which is not installed. Install it with: pip install "neuroarena[torch]"'
    )


# --- weights ---------------------------------------------------------------------------------------


def test_a_fitted_network_is_saved_and_answers_the_same_when_loaded(tmp_path, fitted, twin):
    fitted.save(tmp_path / "a.safetensors", simulated=True)
    fitted.save(tmp_path / "b.safetensors", simulated=True)
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    loaded = TdsCtc(weights=tmp_path / "a.safetensors").fit([], None, context())
    assert loaded.size == "tiny"
    assert answers(loaded, twin) == answers(fitted, twin)
    assert identify(loaded).key == identify(TdsCtc(weights=tmp_path / "b.safetensors")).key
    assert str(tmp_path) not in str(identify(loaded).parameters)
    with pytest.raises(NeuroarenaError, match="has no network yet"):
        TdsCtc().save(tmp_path / "c.safetensors")


def test_the_network_that_ships_is_below_two_megabytes():
    shapes = tds_tensors(EMG2QWERTY.shape("small"))
    assert 4 * sum(int(np.prod(shape)) for shape in shapes.values()) < 2_000_000


def lightning(state: dict) -> dict:
    """A checkpoint as Lightning 1.8 lays it out."""
    return {
        "epoch": 3,
        "global_step": 12,
        "pytorch-lightning_version": "1.8.6",
        "state_dict": state,
        "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"total": {"ready": 4}}}},
        "callbacks": {"ModelCheckpoint{'monitor': 'val/CER'}": {"best_model_score": torch.tensor(9.5)}},
        "optimizer_states": [
            {"state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.ones(4)}}, "param_groups": []}
        ],
        "lr_schedulers": [{"last_epoch": 3, "_last_lr": [1e-3]}],
        "hyper_parameters": {"in_features": 528, "mlp_features": [384], "kernel_width": 32},
    }


def tiny_state() -> dict:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return dict(TdsNetwork(EMG2QWERTY.shape("tiny")).state_dict())


@pytest.mark.parametrize("wrap", [lightning, lambda state: state], ids=["lightning", "bare"])
def test_a_published_checkpoint_is_converted_and_decodes(tmp_path, twin, wrap):
    state = tiny_state()
    torch.save(wrap(state), tmp_path / "generic.ckpt")
    said = convert_emg2qwerty(tmp_path / "generic.ckpt")
    assert (said["model"], said["size"], said["tensors"]) == ("emg2qwerty", "tiny", len(state))
    learned = sum(p.numel() for p in TdsNetwork(EMG2QWERTY.shape("tiny")).parameters())
    assert said["parameters"] == learned
    loaded = load_module(find_weights("emg2qwerty", said["target"])).state_dict()
    assert all(torch.equal(loaded[name], state[name]) for name in state)
    assert all(
        isinstance(text, str)
        for text in answers(TdsCtc(weights=said["target"]).fit([], None, context()), twin)
    )


def test_the_published_size_is_recognised(tmp_path):
    torch.save({"state_dict": TdsNetwork(LARGE).state_dict()}, tmp_path / "generic.ckpt")
    said = convert_emg2qwerty(tmp_path / "generic.ckpt", tmp_path / "out.safetensors")
    assert (said["size"], said["tensors"], said["parameters"]) == ("large", 51, 5_293_315)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s.pop("model.4.bias"), "missing: model.4.bias"),
        (
            lambda s: s.update({"model.4.bias": torch.ones(98)}),
            r"misshapen: model.4.bias \(expected \(99,\), got \(98,\)",
        ),
        (lambda s: s.update({"model.9.weight": torch.ones(2)}), "unexpected: model.9.weight"),
        (lambda s: s.update({"model.4.bias": torch.full((99,), float("nan"))}), "model.4.bias holds NaN"),
        (lambda s: s.update({"model.4.bias": torch.ones(99, dtype=torch.int64)}), "model.4.bias holds int64"),
        (lambda s: s.clear(), "missing: model.0.batch_norm.weight"),
    ],
    ids=["missing", "misshapen", "unexpected", "nan", "whole numbers", "empty"],
)
def test_a_wrong_checkpoint_names_the_tensors_that_are_wrong(tmp_path, change, sentence):
    state = tiny_state()
    change(state)
    torch.save({"state_dict": state}, tmp_path / "generic.ckpt")
    with pytest.raises(InputError, match=sentence):
        convert_emg2qwerty(tmp_path / "generic.ckpt")
    assert not (tmp_path / "generic.safetensors").exists()


def test_a_truncated_checkpoint_and_weights_of_another_model_are_refused(tmp_path):
    torch.save(lightning(tiny_state()), tmp_path / "generic.ckpt")
    whole = (tmp_path / "generic.ckpt").read_bytes()
    (tmp_path / "cut.ckpt").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"cut\.ckpt: not a complete torch checkpoint"):
        convert_emg2qwerty(tmp_path / "cut.ckpt")
    target = convert_emg2qwerty(tmp_path / "generic.ckpt")["target"]
    with pytest.raises(InputError, match="does not say that it holds brainbert"):
        find_weights("brainbert", target)
    with pytest.raises(InputError, match="weights of brainbert, and those of emg2qwerty are needed"):
        TdsCtc(weights=find_weights("brainbert", size="tiny"))


def test_the_command_converts(tmp_path):
    from neuroarena.cli.app import app

    torch.save(lightning(tiny_state()), tmp_path / "generic.ckpt")
    ran = CliRunner().invoke(app, ["data", "convert", "emg2qwerty", str(tmp_path / "generic.ckpt"), "--json"])
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "generic.safetensors").is_file()


def test_a_copy_of_a_fitted_decoder_listens_by_itself(fitted):
    one, two = copy.deepcopy(fitted), copy.deepcopy(fitted)
    for each in (one, two):
        each.start(StreamMeta(None, 2000.0))
    window = np.random.default_rng(0).normal(0, 12, (32, 10_000)).astype(np.float32)
    assert one.step(window) == two.step(window)
    assert not hasattr(fitted, "listener_")


@pytest.mark.drill
def test_on_the_whole_twin_the_network_beats_the_linear_decoder_and_both_the_floor(tmp_path):
    DATASET.simulate(tmp_path / "twin", minutes=0.5)
    benchmark = load(tmp_path / "twin")
    truth = [
        benchmark.examples.set_index("id").loc[each, "target"]
        for each in benchmark.split("other-people").folds[0].test
    ]
    found = {}
    for decoder in (MostFrequentKey(), CtcLinear(), TdsCtc()):
        decoder.fit(*parts(benchmark)[:2], context())
        rates = [
            Levenshtein.distance(said, right) / len(right)
            for said, right in zip(answers(decoder, tmp_path / "twin"), truth, strict=True)
        ]
        found[type(decoder).__name__] = 100 * float(np.mean(rates))
    assert found["TdsCtc"] < 12 < found["MostFrequentKey"]
    assert found["TdsCtc"] < found["CtcLinear"] < 30 < found["MostFrequentKey"]
