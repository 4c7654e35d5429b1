"""torch networks and models of the braindecode zoo as decoders."""

from __future__ import annotations

import numpy as np
import pytest

from command_line import neuroarena_in
from neuroarena.decoders import check_decoder, from_braindecode, from_torch, load_decoder
from neuroarena.decoders.zoo import zoo_models
from neuroarena.errors import InputError, UnknownName
from neuroarena.recordings import channel_table

pytest.importorskip("torch")
CHANNELS = channel_table(["C3", "Cz", "C4"], kind="eeg")
ASKED = {
    "probabilities": {"classes": ("a", "b", "c")},
    "label": {"classes": ("a", "b")},
    "number": {},
    "vector": {"vector_length": 5},
}
zoo = pytest.mark.skipif(not zoo_models(), reason="braindecode is not installed")


def small_network(input_shape, n_outputs):
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(input_shape)), n_outputs))


def failed(decoder, kind, n_samples=64):
    checks = check_decoder(decoder, CHANNELS, 128.0, n_samples, kind=kind, **ASKED[kind])
    return [check for check in checks if not check.passed]


@pytest.mark.parametrize("kind", ASKED)
def test_a_torch_network_keeps_the_contract_for_every_kind_of_prediction(kind):
    assert failed(from_torch(small_network, epochs=2), kind) == []


@pytest.mark.parametrize("kind", ASKED)
def test_a_module_is_trained_as_a_copy_of_itself(kind):
    import torch

    n_outputs = {"probabilities": 3, "label": 2, "number": 1, "vector": 5}[kind]
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LazyLinear(8), torch.nn.Linear(8, n_outputs))
    before = {name: value.clone() for name, value in module[2].state_dict().items()}
    assert failed(from_torch(module, epochs=1), kind) == []
    assert all(torch.equal(before[name], value) for name, value in module[2].state_dict().items())


@zoo
@pytest.mark.parametrize("kind", ["probabilities", "number"])
def test_a_model_of_the_zoo_keeps_the_contract(kind):
    assert failed(from_braindecode("EEGNet", epochs=1), kind, n_samples=128) == []


def test_training_stops_when_the_validation_loss_no_longer_falls():
    from test_decoders import CLASSES, group

    from neuroarena.decoders import Context

    train, validation = [group(["A", "B"], seed=1)], [group(["A", "B"], seed=3)]
    decoder = from_torch(small_network, epochs=200, learning_rate=0.5, patience=2)
    decoder.fit(train, validation, Context(CLASSES))
    assert len(decoder.course_.scores) < 200
    assert len(decoder.course_.scores) == decoder.course_.best_epoch + 3


REFUSED = {
    "a network for other windows": (
        lambda: from_torch(lambda shape, n: small_network((3, 3), n)),
        r"Sequential cannot take examples \(examples, channels, \.\.\.\) of \(2, 2, \d+\): mat1",
    ),
    "a device that is not there": (lambda: from_torch(small_network, device="cuda:7"), "cannot be used"),
    "outputs of a wrong number": (
        lambda: from_torch(lambda shape, n: small_network(shape, n + 1)),
        r"expected \(2, 2\): one per class",
    ),
    "a name": (lambda: from_torch("eegnet"), r"takes a torch\.nn\.Module, or a function .* got str"),
    "a function of other arguments": (
        lambda: from_torch(lambda: None),
        r"\(input_shape, n_outputs\), which it cannot take\. Pass a module",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_trained_is_refused_in_a_sentence(case):
    from test_decoders import CLASSES, group

    from neuroarena.decoders import Context

    make, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence):
        make().fit([group(["A", "B"])], None, Context(CLASSES))


@zoo
def test_models_of_the_zoo_are_listed_and_found_by_name(tmp_path):
    listed = neuroarena_in(tmp_path, "list", "decoders", "--json").stdout
    assert '"braindecode/EEGNeX"' in listed
    assert load_decoder("braindecode/EEGNeX").build == "EEGNeX"
    with pytest.raises(UnknownName, match=r'No model of braindecode "EEGNexx"\. Did you mean .*"EEGNeX"'):
        load_decoder("braindecode/EEGNexx")


@zoo
def test_a_model_that_does_not_fit_the_windows_is_refused_with_its_own_reason():
    from test_decoders import CLASSES, group

    from neuroarena.decoders import Context

    with pytest.raises(
        InputError, match="AttnSleep of braindecode cannot be made for 2 channels and 32 samples"
    ):
        from_braindecode("AttnSleep").fit([group(["A", "B"])], None, Context(CLASSES))
