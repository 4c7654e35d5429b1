"""Positions of a template, for channels named as people name them."""

from __future__ import annotations

from pathlib import Path

import edfio
import numpy as np
import pytest

from neuroarena.errors import InputError, UnknownName
from neuroarena.recordings import open_file
from neuroarena.recordings.positions import site_names, template_positions

SITES = ["FC5", "Fp1", "Cz", "T7", "T3", "M1", "E12", "Oz"]


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("Fc5.", "FC5"),
        ("Cz..", "Cz"),
        ("EEG Fp1-REF", "Fp1"),
        ("EEG FP1-LE", "Fp1"),
        ("EEG T3-A1", "T3"),
        ("cz", "Cz"),
        ("  OZ ", "Oz"),
        ("M1", "M1"),
        ("E12", "E12"),
    ],
)
def test_a_name_as_people_write_it_finds_its_site(name: str, site: str) -> None:
    assert site_names([name], SITES) == {name: site}


@pytest.mark.parametrize("name", ["EEG Fpz-Cz", "Cz-Oz", "EMG1", "", "Status", "Fc55", "C z", "EEG"])
def test_what_is_not_at_a_site_finds_none(name: str) -> None:
    assert site_names([name], SITES) == {}


def test_only_channels_of_the_template_are_placed(tmp_path: Path) -> None:
    path = tmp_path / "mixed.edf"
    labels = ("Fc5.", "EEG FC5-REF", "label")
    edfio.Edf(
        [
            edfio.EdfSignal(
                np.arange(100.0), 100, label=label, physical_dimension="uV", physical_range=(0, 100)
            )
            for label in labels
        ]
    ).write(path)
    table = open_file(path, montage="colin27_1005").channels.set_index("name")
    np.testing.assert_array_equal(
        table.loc["Fc5.", ["x", "y", "z"]], table.loc["EEG FC5-REF", ["x", "y", "z"]]
    )
    assert table.loc["Fc5.", "x"] < 0 < table.loc["Fc5.", "y"]  # left, and in front of the ears
    assert table.loc["label", ["x", "y", "z"]].isna().all()
    assert open_file(path).channels["x"].isna().all()


def test_an_unknown_template_and_channels_of_no_template_are_refused() -> None:
    with pytest.raises(
        UnknownName, match=r'night: MNE-Python has no montage "biosemi65"\. Did you mean "biosemi64"\?'
    ):
        template_positions(["Cz"], "biosemi65", "night")
    with pytest.raises(
        InputError, match="night: none of its 2 channels without a position is a site of biosemi64"
    ):
        template_positions(["LA1", "LA2"], "biosemi64", "night")
