"""``neuroarena run --notch ... --downsample ...``: signals are filtered first, and the result says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import track_twins
from neuroarena import load_decoder
from neuroarena.cli import main
from neuroarena.cli.app import app
from neuroarena.decoders import Linear
from neuroarena.decoders.grid import decoder_grid, parse_grid
from neuroarena.decoders.preparing import prepare_decoder
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from neuroarena.evaluation.identity import identify
from neuroarena.families.neuroprobe.encoders import brainbert_linear, popt_frozen
from neuroarena.features import Downsample, FeatureChain, Notch

QUESTION = "neuroprobe/onset"
NO_DATACLASS = """
from neuroarena import load_decoder

class Plain:
    features = load_decoder("linear").features
    def fit(self, train, validation=None, context=None): return self
    def predict(self, test): return None

decoder = Plain()
"""


@pytest.fixture(scope="module")
def twin() -> str:
    return str(track_twins.twin("braintreebank", minutes=2, subjects=1))


def run(twin: str, out: Path, *words: str) -> Result:
    asked = [
        "run",
        QUESTION,
        "--data",
        twin,
        "--split",
        "cross-session",
        "-O",
        "judged=1_2",
        "--workers",
        "1",
    ]
    return CliRunner().invoke(app, [*asked, "--out", str(out), "--json", *words])


def rows(ran: Result) -> list[dict]:
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def test_the_switches_put_their_steps_before_the_features_of_the_decoder(twin, tmp_path):
    words = ("--decoder", "linear", "--notch", "60,120", "--downsample", "512")
    (row,) = rows(run(twin, tmp_path, *words))
    assert row["decoder"] == "linear[notch=60+120,rate=512]"
    found = pd.read_parquet(Path(row["folder"]) / "predictions.parquet")
    by_hand = Linear(FeatureChain((Notch((60.0, 120.0)), Downsample(512.0))))
    options = {"data": twin, "judged": ["1_2"]}
    pd.testing.assert_frame_equal(
        found, evaluate(by_hand, QUESTION, "cross-session", **options).predictions, check_dtype=False
    )
    plain = evaluate("linear", QUESTION, "cross-session", **options).predictions
    assert not plain.equals(found)
    record = json.loads((Path(row["folder"]) / "record.json").read_text())
    steps = json.dumps(record["decoder"]["parameters"]["features"])
    assert steps.index("Notch") < steps.index("Downsample")


def test_every_decoder_of_a_grid_is_prepared_alike(twin, tmp_path):
    words = ("--decoder", "linear-spectrogram", "--grid", "features.nperseg=256,512", "--notch", "60")
    assert [row["decoder"] for row in rows(run(twin, tmp_path, *words))] == [
        "linear-spectrogram[nperseg=256][notch=60]",
        "linear-spectrogram[nperseg=512][notch=60]",
    ]


def test_each_switch_works_alone_and_none_leaves_the_decoder_as_it_is():
    decoder = load_decoder("linear-laplacian-spectrogram")
    assert prepare_decoder("lls", decoder) == ("lls", decoder)
    for options, name in (
        ({"notch_hz": (60.0, 50.5)}, "lls[notch=60+50.5]"),
        ({"downsample_hz": 1024.0}, "lls[rate=1024]"),
    ):
        given, changed = prepare_decoder("lls", decoder, **options)
        assert given == name
        assert changed.features.steps[1:] == decoder.features.steps
        assert identify(changed).key != identify(decoder).key
    assert len(decoder.features.steps) == 2, "the decoder that was given is not changed"


def test_an_encoder_that_makes_its_own_features_can_be_prepared_and_gridded_too():
    decoder = brainbert_linear(size="tiny")
    name, changed = prepare_decoder("bb", decoder, notch_hz=(60.0,))
    assert (name, len(changed.features.steps), len(decoder.features.steps)) == ("bb[notch=60]", 3, 2)
    assert changed.features.steps[0] == Notch((60.0,))
    assert identify(changed).key != identify(decoder).key
    ((_, changed),) = decoder_grid("bb", decoder, parse_grid(["features.laplacian=as_published"]))
    assert changed.features.steps[0].laplacian == "as_published"
    assert decoder.features.steps[0].laplacian == "clean"


def test_a_grid_reaches_into_the_schedule_of_a_decoder():
    made = dict(decoder_grid("popt", popt_frozen(size="tiny"), parse_grid(["schedule.steps=1000,2000"])))
    assert {name: decoder.schedule.steps for name, decoder in made.items()} == {
        "popt[steps=1000]": 1000,
        "popt[steps=2000]": 2000,
    }
    with pytest.raises(InputError, match='"popt: schedule" has no field "stpes"; it has steps, batch_size'):
        decoder_grid("popt", popt_frozen(size="tiny"), parse_grid(["schedule.stpes=1"]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--notch", "sixty"), '"sixty" is not a list of frequencies. Expected numbers, as in 60,120.'),
        (("--notch", ""), '"" is not a list of frequencies'),
        (("--notch", "60,,120"), '"60,,120" is not a list of frequencies'),
        (("--notch", "-60"), "frequencies_hz must be positive, got -60.0"),
        (("--notch", "nan"), "frequencies_hz must be positive, got nan"),
        (("--downsample", "0"), "to_hz must be a positive number, got 0.0"),
        (("--notch", "1024"), "1024 Hz is not below half the sampling rate of 2048 Hz"),
        (("--downsample", "4096"), "to_hz=4096 is above the sampling rate of 2048 Hz"),
    ],
)
def test_what_cannot_be_filtered_is_refused_by_name(words, message, twin, tmp_path, monkeypatch, capsys):
    out = str(tmp_path / "out")
    asked = ["run", QUESTION, "--data", twin, "--decoder", "linear", "--workers", "1", "--out", out, *words]
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["neuroarena", *asked])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_decoder_that_is_no_dataclass_cannot_be_prepared(twin, tmp_path, monkeypatch):
    (tmp_path / "plain_decoder.py").write_text(NO_DATACLASS)
    monkeypatch.syspath_prepend(tmp_path)
    ran = run(twin, tmp_path / "out", "--decoder", "plain_decoder:decoder", "--notch", "60")
    assert isinstance(ran.exception, InputError)
    assert "is not a dataclass, so no step can be put before its features" in str(ran.exception)
