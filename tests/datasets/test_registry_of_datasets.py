from __future__ import annotations

from pathlib import Path

import pytest

from neuroarena.datasets import DATASETS, load_dataset, locate
from neuroarena.errors import InputError, UnknownName
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank
from track_twins import twin


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROOT_DIR_BRAINTREEBANK", "NEUROARENA_DATA"):
        monkeypatch.delenv(name, raising=False)


def test_braintreebank_is_registered_and_opens_a_folder() -> None:
    folder = twin("braintreebank")
    assert "braintreebank" in DATASETS.names()
    dataset = load_dataset("braintreebank")
    assert isinstance(dataset.open(folder), BrainTreebank)
    assert dataset.verify(folder) == []
    assert {"subjects", "seed", "ideal"} <= set(dataset.simulate_options)


def test_an_unknown_dataset_is_answered_with_a_close_one() -> None:
    with pytest.raises(UnknownName, match='Did you mean "braintreebank"'):
        load_dataset("braintreebnk")


def test_the_given_folder_comes_before_the_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, variable, data = tmp_path / "given", tmp_path / "variable", tmp_path / "data" / "braintreebank"
    for folder in (given, variable, data):
        folder.mkdir(parents=True)
    monkeypatch.setenv("NEUROARENA_DATA", str(tmp_path / "data"))
    assert locate("braintreebank") == data
    monkeypatch.setenv("ROOT_DIR_BRAINTREEBANK", str(variable))
    assert locate("braintreebank") == variable
    assert locate("braintreebank", given) == given


def test_a_variable_that_points_nowhere_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "braintreebank").mkdir()
    monkeypatch.setenv("NEUROARENA_DATA", str(tmp_path))
    monkeypatch.setenv("ROOT_DIR_BRAINTREEBANK", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"\$ROOT_DIR_BRAINTREEBANK is .*nowhere, which is not a folder"):
        locate("braintreebank")


def test_a_missing_dataset_is_refused_with_every_way_to_name_or_make_it() -> None:
    with pytest.raises(InputError) as refusal:
        locate("braintreebank")
    for way in (
        "Name its folder",
        "$ROOT_DIR_BRAINTREEBANK",
        "$NEUROARENA_DATA",
        "neuroarena data simulate braintreebank DIR",
    ):
        assert way in str(refusal.value)
