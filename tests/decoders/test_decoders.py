"""Decoders: adapters in a line, floors at chance, different electrodes joined by region."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from neuroarena.decoders import (
    Chance,
    Context,
    Dummy,
    Group,
    Linear,
    check_decoder,
    from_sklearn,
    from_torch,
    load_decoder,
)
from neuroarena.decoders.names import DECODERS, describe_decoder
from neuroarena.errors import InputError, UnknownName
from neuroarena.features import FeatureChain, Spectrogram
from neuroarena.recordings import channel_table

CLASSES = ("0", "1")


def group(names, regions=None, n=40, seed=0, with_targets=True, strength=2.0) -> Group:
    rng = np.random.default_rng(seed)
    targets = np.arange(n) % 2
    signals = rng.standard_normal((n, len(names), 32)).astype(np.float32)
    signals[targets == 1, 0] += strength
    table = pd.DataFrame({"id": [f"{seed}-{row}" for row in range(n)], "subject": "1", "session": str(seed)})
    channels = channel_table(names, region=regions)
    return Group(signals, channels, 100.0, table, targets.astype(str) if with_targets else None)


def accuracy(decoder, train, test) -> float:
    decoder.fit(train, None, Context(CLASSES, tuple(each.channels for each in test)))
    predicted = np.asarray(decoder.predict(test)).argmax(axis=1)
    return float((predicted == np.concatenate([np.arange(len(each)) % 2 for each in test])).mean())


def small_network(input_shape, n_classes):
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(input_shape)), n_classes))


DECODERS_THAT_LEARN = {
    "linear": lambda: Linear(),
    "pipeline": lambda: from_sklearn(make_pipeline(StandardScaler(), RidgeClassifier())),
    "forest": lambda: from_sklearn(RandomForestClassifier(20)),
    "torch": lambda: from_torch(small_network, epochs=20, learning_rate=3e-2),
}


@pytest.mark.parametrize("name", DECODERS_THAT_LEARN)
def test_a_decoder_learns_what_is_easy(name):
    train, test = [group(["A1", "A2"], seed=1)], [group(["A1", "A2"], seed=2, with_targets=False)]
    assert accuracy(DECODERS_THAT_LEARN[name](), train, test) > 0.9


@pytest.mark.parametrize("name", [*DECODERS_THAT_LEARN, "chance", "dummy"])
def test_every_decoder_of_ours_keeps_the_contract(name):
    make = {**DECODERS_THAT_LEARN, "chance": Chance, "dummy": Dummy}[name]
    checks = check_decoder(make(), channel_table(["A1", "A2", "A3"]), 100.0, 64, CLASSES)
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == 9


# The published encoders take hours; a tiny one of the same form keeps or breaks the contract alike.
_BRIEF = {"size": "tiny", "steps": 2, "batch_size": 8}
SMALL = {
    "brainbert-linear": {"size": "tiny"},
    "brainbert-finetuned": _BRIEF,
    "popt-frozen": _BRIEF,
    "popt-finetuned": _BRIEF,
}


# Made for one task: what they need besides windows (ages, an extra, the channels learned) is tested elsewhere.
MADE_FOR_ONE = ("demographics-ridge", "eegnex", "shipped-img", "shipped-bci")
# Made for predictions, or windows, of another kind; or slow on windows longer than the contract needs.
OTHER_SHAPES = {
    "eegnet": {"rate_hz": 128.0, "n_samples": 128},
    "cnn-raw": {"rate_hz": 128.0, "n_samples": 128},
    "csp-lda": {"rate_hz": 256.0, "n_samples": 256},
    "fbcsp": {"rate_hz": 256.0, "n_samples": 256},
    "xdawn-tangent": {"rate_hz": 64.0, "n_samples": 64},
    "erp-mdm": {"rate_hz": 64.0, "n_samples": 64},
    "riemann-lr": {"rate_hz": 256.0, "n_samples": 256},
    "filterbank-lda": {"rate_hz": 256.0, "n_samples": 256},
    "encoder-random": {"rate_hz": 256.0, "n_samples": 256},
    "trca": {"rate_hz": 256.0, "n_samples": 256},
    "fbcca": {"rate_hz": 256.0, "n_samples": 256},
    "ridge-embedding": {"rate_hz": 100.0, "n_samples": 100, "kind": "vector"},
    "bandpower-ridge": {"rate_hz": 100.0, "n_samples": 200, "kind": "number"},
}


@pytest.mark.parametrize("name", DECODERS.names())
def test_every_registered_decoder_keeps_the_contract_and_is_described(name):
    assert describe_decoder(name).endswith(".")
    if name in MADE_FOR_ONE:
        return
    decoder = load_decoder(name, **SMALL.get(name, {}))
    if hasattr(decoder, "max_epochs"):
        decoder.max_epochs = 1  # the contract does not ask for learning
    channels = channel_table(["A1", "A2", "A3"], xyz=np.eye(3))
    shape = {"rate_hz": 2048.0, "n_samples": 2048, "classes": CLASSES} | OTHER_SHAPES.get(name, {})
    checks = check_decoder(decoder, channels, **shape, stream=not hasattr(decoder, "predict"))
    assert [check for check in checks if not check.passed] == []


@pytest.mark.parametrize("name", DECODERS_THAT_LEARN)
def test_people_with_different_electrodes_are_joined_by_region(name):
    train = [group(["A1", "A2", "A3"], ["x", "y", "z"], seed=1)]
    test = [group(["Q7", "Q8"], ["x", "y"], seed=2, with_targets=False)]
    assert accuracy(DECODERS_THAT_LEARN[name](), train, test) > 0.9


def test_people_without_a_shared_region_are_refused():
    train, test = [group(["A1"], ["x"], seed=1)], [group(["Q7"], ["y"], seed=2)]
    with pytest.raises(InputError, match="region"):
        accuracy(Linear(), train, test)


@pytest.mark.parametrize("name", DECODERS_THAT_LEARN)
def test_the_same_seed_gives_the_same_numbers_whatever_ran_before(name):
    train, test = (
        [group(["A1", "A2"], seed=1, strength=0.2)],
        [group(["A1", "A2"], seed=2, with_targets=False)],
    )

    def predicted():
        decoder = DECODERS_THAT_LEARN[name]()
        return decoder.fit(train, None, Context(CLASSES, rng=np.random.default_rng(3))).predict(test)

    first = predicted()
    np.random.seed(5)  # noqa: NPY002 - what other code may do to the global state
    np.random.rand(10)  # noqa: NPY002
    np.testing.assert_array_equal(first, predicted())


def test_torch_keeps_the_best_epoch_on_the_validation_part():
    train, validation = [group(["A1", "A2"], seed=1)], [group(["A1", "A2"], seed=3)]
    test = [group(["A1", "A2"], seed=2, with_targets=False)]
    decoder = from_torch(small_network, epochs=15, learning_rate=0.5)
    with_validation = decoder.fit(train, validation, Context(CLASSES)).predict(test)
    without = (
        from_torch(small_network, epochs=15, learning_rate=0.5)
        .fit(train, None, Context(CLASSES))
        .predict(test)
    )
    assert not np.array_equal(with_validation, without)


def test_a_torch_decoder_says_what_is_missing_when_torch_is():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from neuroarena import from_torch\n"
        "try:\n    from_torch(lambda shape, n: None).fit([])\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("MissingDependency")
    assert 'pip install "neuroarena[torch]"' in said


def test_dummy_answers_with_the_frequencies_of_the_training_part():
    one = group(["A1"], n=4)
    uneven = Group(one.signals, one.channels, one.rate_hz, one.table, np.array(["0", "0", "0", "1"]))
    predicted = Dummy().fit([uneven], None, Context(CLASSES)).predict([one])
    np.testing.assert_array_equal(predicted, [[0.75, 0.25]] * 4)


class _Bad(Linear):
    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def predict(self, test):
        good = super().predict(test)
        if self.how == "nan":
            good[0] = np.nan
        elif self.how == "sum":
            good *= 0.5
        elif self.how == "rows":
            good = good[:-1]
        elif self.how == "negative":
            good = good * 3 - 1
        elif self.how == "order":
            good = np.sort(good, axis=0)
            good[:, 1] = 1 - good[:, 0]
        elif self.how == "luck":
            good[:, 0] = np.random.rand(len(good))  # noqa: NPY002
            good[:, 1] = 1 - good[:, 0]
        elif self.how == "writes":
            test[0].signals[:] = 0
        elif self.how == "raises":
            raise RuntimeError("no idea")
        elif self.how == "needs many":
            assert len(good) > 1, "one is too few"
        return good

    def fit(self, train, validation=None, context=None):
        if self.how == "needs validation":
            assert validation is not None, "where is it"
        return super().fit(train, validation, context)


@pytest.mark.parametrize(
    ("how", "broken"),
    [
        ("nan", "predictions are what is asked for"),
        ("sum", "predictions are what is asked for"),
        ("negative", "predictions are what is asked for"),
        ("rows", "predict returns one row per example"),
        ("raises", "predict returns one row per example"),
        ("order", "the order of examples does not matter"),
        ("luck", "the same seed gives the same numbers"),
        ("writes", "inputs are left as they were"),
        ("needs many", "a single example can be predicted"),
        ("needs validation", "fit runs without a validation part"),
    ],
)
def test_the_check_finds_what_breaks_the_contract(how, broken):
    checks = check_decoder(_Bad(how), channel_table(["A1", "A2"]), 100.0, 64, CLASSES)
    assert broken in [check.name for check in checks if not check.passed]


def test_the_check_finds_what_cannot_travel_and_what_has_no_features():
    unsendable = from_sklearn(RidgeClassifier())
    unsendable.extra = lambda: None
    failed = [
        check.name
        for check in check_decoder(unsendable, channel_table(["A1"]), 100.0, 64, CLASSES)
        if not check.passed
    ]
    assert failed == ["it can be sent to a worker process"]
    plain = Linear()
    plain.features = None
    (only,) = check_decoder(plain, channel_table(["A1"]), 100.0, 64, CLASSES)
    assert not only.passed


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("linaer", UnknownName, 'Did you mean "linear"'),
        ("json:dumps", InputError, "cannot be made"),
        ("json:encoder", InputError, "not a decoder"),
        ("nowhere_at_all:thing", InputError, "cannot be loaded"),
    ],
)
def test_bad_names_of_decoders_are_refused(name, error, message):
    with pytest.raises(error, match=message):
        load_decoder(name)


def test_parameters_reach_the_decoder():
    assert load_decoder("neuroarena.decoders:Linear", C=0.5).C == 0.5
    with pytest.raises(InputError, match="cannot be made"):
        load_decoder("neuroarena.decoders:Linear", colour="red")


def test_spectrogram_features_reach_the_decoder_with_their_channels():
    decoder = from_sklearn(RidgeClassifier(), FeatureChain((Spectrogram(window_samples=16, max_hz=50.0),)))
    checks = check_decoder(decoder, channel_table(["A1", "A2"]), 100.0, 64, CLASSES)
    assert all(check.passed for check in checks)
