"""``neuroarena export neuroprobe-run``: what cannot be submitted is refused before anything is computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import neuroarena_in

ADA = ("--author", "Ada Lovelace")
REFUSED = {
    "nothing to judge": (ADA, "either --encoder MODULE:NAME or --decoder NAME"),
    "both": ((*ADA, "-d", "linear", "--encoder", "tiny_encoder:Wide"), "either --encoder"),
    "an option of encoders": (
        (*ADA, "-d", "linear", "--finetune"),
        "--finetune cannot be used with --decoder",
    ),
    "half a name": (("--author", "Ada", "-d", "linear"), 'The author "Ada" must be a first and a last name'),
    "no card": ((*ADA, "-d", "linear", "--attest"), "which a pretraining card must show"),
    "a judged session": (
        (*ADA, "-d", "linear", "--attest", "--pretraining", "card.toml"),
        "session 3_0 is judged, so no model may be pretrained on it",
    ),
    "no such weights": (
        (*ADA, "--encoder", "tiny_encoder:Wide", "--checkpoint", "gone.pt"),
        "there is no such file. Expected the weights of tiny_encoder:Wide",
    ),
    "no such data": ((*ADA, "-d", "linear", "--data", "nowhere"), "nowhere"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_submitted_is_refused_before_anything_is_computed(case: str, tmp_path: Path):
    (tmp_path / "card.toml").write_text(
        'schema_version = 1\nmodel = "mine"\n[[pretraining]]\ndataset = "braintreebank"\nsessions = ["3_0"]\n'
    )
    words, sentence = REFUSED[case]
    ran = neuroarena_in(tmp_path, "export", "neuroprobe-run", *words, "--out", "submission")
    assert ran.returncode == 2
    assert sentence in ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == ["card.toml"]


def test_simulated_recordings_are_refused_unless_they_are_asked_for(tmp_path: Path, twin_root):
    ran = neuroarena_in(
        tmp_path, "export", "neuroprobe-run", *ADA, "-d", "chance", "--data", str(twin_root), "-o", "x"
    )
    assert ran.returncode == 2
    assert "These recordings are simulated" in ran.stderr
