"""An encoder of one's own that is trained on together with its head."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

import torch

import tiny_encoder
from neuroarena import evaluate
from neuroarena.decoders import Context, check_decoder
from neuroarena.decoders.decoder import Group
from neuroarena.decoders.encoders import from_encoder
from neuroarena.errors import InputError
from neuroarena.recordings import channel_table
from toy import toy_benchmark

QUICK = {"epochs": 8, "learning_rate": 0.02, "batch_size": 32}


def windows_of(n: int, channels: list[str], seed: int, planted: bool = True) -> Group:
    """Windows whose first channel is higher in the last quarter for class b, which a mean over time hides half of."""
    rng = np.random.default_rng(seed)
    signals = rng.standard_normal((n, len(channels), 40)).astype(np.float32)
    targets = np.array(["a", "b"] * (n // 2))
    if planted:
        signals[targets == "b", :, 30:] += 0.6
    table = pd.DataFrame({"id": [f"{seed}-{row}" for row in range(n)], "subject": "1", "session": "1"})
    return Group(signals, channel_table(channels), 100.0, table, targets)


CLASSES = Context(classes=("a", "b"))


def test_training_changes_a_copy_of_the_encoder_and_leaves_the_pretrained_weights_alone():
    decoder = from_encoder("tiny_encoder:Wide", finetune=True, **QUICK)
    before = {name: value.clone() for name, value in decoder.source.load().state_dict().items()}
    decoder.fit([windows_of(64, ["A1", "A2"], 0)], None, CLASSES)
    after = decoder.network_.encoder.state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert all(torch.equal(before[name], value) for name, value in decoder.source.load().state_dict().items())


def test_recordings_with_different_electrodes_are_trained_on_together_and_their_order_is_kept():
    decoder = from_encoder("tiny_encoder:Wide", finetune=True, **QUICK)
    decoder.fit([windows_of(40, ["A1", "A2"], 0), windows_of(40, ["B1", "B2", "B3"], 1)], None, CLASSES)
    test = [windows_of(40, ["C1"], 2), windows_of(20, ["A1", "A2"], 3)]
    said = decoder.predict(test)
    truth = np.concatenate([group.targets for group in test])
    assert np.mean((said[:, 1] > 0.5) == (truth == "b")) > 0.7
    one_by_one = np.concatenate([decoder.predict([group]) for group in test])
    np.testing.assert_allclose(said, one_by_one, atol=1e-6)


def test_training_stops_early_and_keeps_the_epoch_of_lowest_validation_loss():
    options = {**QUICK, "epochs": 60, "patience": 2}
    decoder = from_encoder("tiny_encoder:Wide", finetune=True, **options)
    # Nothing to find: the validation loss rises as soon as noise is learned by heart.
    noise = [windows_of(32, ["A1"], 0, planted=False)]
    decoder.fit(noise, [windows_of(32, ["A1"], 1, planted=False)], CLASSES)
    course = decoder.course_
    assert len(course.scores) == course.best_epoch + 3 < 60
    assert course.scores[course.best_epoch] == max(course.scores)


def test_a_fitted_one_travels_without_the_windows_it_learned_from():
    decoder = from_encoder("tiny_encoder:Wide", finetune=True, **QUICK)
    decoder.fit([windows_of(64, ["A1", "A2"], 0)], None, CLASSES)
    assert len(pickle.dumps(decoder)) < 40_000 < windows_of(64, ["A1", "A2"], 0).signals.nbytes * 2
    test = [windows_of(8, ["A1", "A2"], 5)]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(decoder)).predict(test), decoder.predict(test))


def test_it_is_evaluated_like_any_decoder(tmp_path):
    decoder = from_encoder("tiny_encoder:Tiny", finetune=True, **QUICK)
    result = evaluate(decoder, toy_benchmark(), "cross", cache=tmp_path)
    assert result.complete, result.record.cells[0].error
    assert result.score > 0.7


@pytest.mark.parametrize("kind", ["probabilities", "label", "number", "vector"])
def test_it_keeps_the_contract_for_every_kind_of_prediction(kind):
    decoder = from_encoder("tiny_encoder:Wide", finetune=True, epochs=2)
    classes = () if kind in ("number", "vector") else ("a", "b", "c")
    failed = [
        each
        for each in check_decoder(decoder, channel_table(["C3", "Cz"]), 100.0, 40, classes, kind=kind)
        if not each.passed
    ]
    assert not failed


def test_a_checkpoint_gives_an_encoder_its_weights_wherever_the_file_lies(tmp_path):
    module = tiny_encoder.Wide()
    with torch.no_grad():
        module.layer.weight.fill_(0.5)
    torch.save({"state_dict": module.state_dict()}, tmp_path / "a.pt")
    torch.save(module.state_dict(), tmp_path / "b.pt")
    one, two = (from_encoder("tiny_encoder:Wide", checkpoint=tmp_path / name) for name in ("a.pt", "b.pt"))
    assert one.features == two.features
    assert one.features != from_encoder("tiny_encoder:Wide").features
    assert float(one.features.steps[0].source.load().layer.weight[0, 0]) == 0.5


REFUSED = {
    "missing file": ("gone.pt", "there is no such file"),
    "not weights": ("text.pt", "cannot be read as weights"),
    "other tensors": ("other.pt", "does not fit tiny_encoder:Wide: .*Missing key"),
    "no table": ("list.pt", "expected a table of tensors"),
    "damaged safetensors": ("bad.safetensors", "cannot be read as weights"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_checkpoint_that_does_not_fit_is_refused(case, tmp_path):
    (tmp_path / "text.pt").write_text("weights")
    (tmp_path / "bad.safetensors").write_text("weights")
    torch.save({"other": torch.zeros(2)}, tmp_path / "other.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    name, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence):
        from_encoder("tiny_encoder:Wide", checkpoint=tmp_path / name)


def test_an_option_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(InputError, match=r"'epochs'. A frozen encoder takes batch_size, device"):
        from_encoder("tiny_encoder:Wide", epochs=3)
    with pytest.raises(InputError, match="takes batch_size, device, epochs"):
        from_encoder("tiny_encoder:Wide", finetune=True, epoch=3)
    with pytest.raises(InputError, match='head must be "linear"'):
        from_encoder("tiny_encoder:Wide", head="big", finetune=True)
