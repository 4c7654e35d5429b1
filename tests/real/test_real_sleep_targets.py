"""Targets of real Sleep-EDF hypnograms, against a reading of the EDF+ bytes that shares nothing with the package."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from neuroarena.families.sleep.sleep_edf import first_stable_n2, stage_epochs
from neuroarena.families.sleep.sleep_edf.hypnogram import slept_before_the_night
from neuroarena.families.sleep.sleep_edf.reader import read_annotations

pytest.importorskip("mne")
ROW = re.compile(rb"\+(\d+(?:\.\d+)?)\x15(\d+(?:\.\d+)?)\x14(?:Sleep stage (.)|Movement time)\x14")


@pytest.fixture(scope="module")
def hypnograms(real: Callable[[str], Path]) -> list[Path]:
    return sorted(real("sleep_edf/sleep-cassette").glob("*-Hypnogram.edf"))


def plain_letters(path: Path) -> str:
    """Read the stages of a hypnogram, one letter for each 30 s, straight from its bytes."""
    rows = [
        (float(onset), float(lasts), stage.decode() or "?")
        for onset, lasts, stage in ROW.findall(path.read_bytes())
    ]
    assert all(onset + lasts == then for (onset, lasts, _), (then, *_) in itertools.pairwise(rows)), path.name
    return "".join(stage * round(lasts / 30) for _, lasts, stage in rows)


def package_stages(path: Path) -> list[str]:
    return stage_epochs(read_annotations(path), path.name)["stage"].tolist()


def test_the_first_stable_n2_of_every_real_hypnogram_is_that_of_a_plain_reading(
    hypnograms: list[Path],
) -> None:
    assert len(hypnograms) == 26
    for path in hypnograms:
        found = re.search("2(?=[234])", plain_letters(path))
        assert found is not None
        assert first_stable_n2(package_stages(path)) == found.start(), path.name


def test_the_two_naps_before_real_nights_are_the_target_and_are_named(hypnograms: list[Path]) -> None:
    """A nap, by a plain reading: stable N2, then two hours in which nothing but wake is scored, then stable N2."""
    nap = re.compile("^[^234]*2[234].*?[W?]{240}.*2[234]")
    plain = {path.name[:6] for path in hypnograms if nap.search(plain_letters(path))}
    said = {path.name[:6]: package_stages(path) for path in hypnograms}
    assert plain == {key for key, stages in said.items() if slept_before_the_night(stages)}
    assert {key: first_stable_n2(said[key]) for key in sorted(plain)} == {"SC4152": 347, "SC4172": 342}


def test_k_zero_asks_for_the_same_targets_as_k_one_on_every_real_hypnogram(hypnograms: list[Path]) -> None:
    for path in hypnograms:
        stages = package_stages(path)
        assert first_stable_n2(stages, 0) == first_stable_n2(stages, 1), path.name
