"""``neuroarena data preprocess``: raw releases become what the benchmarks read."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from neuroarena.cli.app import app
from neuroarena.datasets import load_dataset
from neuroarena.errors import InputError


@pytest.mark.drill
def test_raw_releases_are_preprocessed_once_and_then_kept(tmp_path):
    load_dataset("hbn").simulate(tmp_path / "raw", people=12, trials=3, seconds=4, releases="R5", raw=True)
    words = ["data", "preprocess", "hbn", str(tmp_path / "raw"), str(tmp_path / "out"), "--json"]
    first, second = (json.loads(CliRunner().invoke(app, words).stdout) for _ in range(2))
    assert first["written"] > 0
    assert (second["written"], second["kept"]) == (0, first["written"])


def test_a_dataset_that_needs_none_says_so(tmp_path):
    asked = CliRunner().invoke(
        app, ["data", "preprocess", "braintreebank", str(tmp_path), str(tmp_path / "o")]
    )
    assert isinstance(asked.exception, InputError)
    assert "needs no preprocessing" in str(asked.exception)
