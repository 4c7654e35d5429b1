"""The tables "statistic, real, twin" of the pages: their form everywhere, their numbers where the real files are."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from neuroarena.datasets import DATASETS
from neuroarena.datasets.likeness import HEAD, NOT_AT_HAND, measure_distance, measure_slope
from shared_data import SHARED

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import twin_tables

NAMES = list(twin_tables.COMPARISONS)
# Simulated in a second or two each; the others are drills.
QUICK = ("ssvep_exo", "things_eeg2", "muse_sleep")
needs_real = pytest.mark.skipif(
    not (SHARED / "data/real").is_dir(), reason="the real data are not beside this clone (../shared/data)"
)


def read_rows(name: str) -> dict[str, tuple[str, str]]:
    """Read the table of a page: statistic -> (real, twin)."""
    lines = [line for line in twin_tables.read_section(name).splitlines() if line.startswith("|")]
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert cells[0] == HEAD, name
    assert all(len(row) == 3 and all(row) for row in cells), name
    rows = {statistic: (real, twin) for statistic, real, twin in cells[2:]}
    assert len(rows) == len(cells) - 2, f"{name}: a statistic stands twice"
    return rows


NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?")


def assert_same(shown: dict[str, str], measured: dict[str, str]) -> None:
    """Fail unless two columns say the same; the last digit may differ by one, as processors do."""
    assert shown.keys() == measured.keys()
    for statistic, said in shown.items():
        assert NUMBER.sub("#", said) == NUMBER.sub("#", measured[statistic]), statistic
        for first, second in zip(NUMBER.findall(said), NUMBER.findall(measured[statistic]), strict=True):
            unit = 10.0 ** -len(first.partition(".")[2])
            values = [float(each.replace(",", "")) for each in (first, second)]
            assert values[0] == pytest.approx(values[1], abs=1.01 * unit), (
                statistic,
                said,
                measured[statistic],
            )


def test_every_dataset_with_a_twin_has_a_table_on_its_page():
    assert set(NAMES) == set(DATASETS.names())


@pytest.mark.parametrize("name", NAMES)
def test_a_table_has_numbers_of_the_twin_and_says_what_is_not_at_hand(name):
    rows = read_rows(name)
    assert len(rows) >= 5
    for statistic, (real, twin) in rows.items():
        assert re.search(r"\d|TP9|C3", twin) or twin == "-", statistic
        assert real == NOT_AT_HAND or re.search(r"\d|C3", real), statistic
    text = twin_tables.read_section(name)
    assert "\nReal: " in text
    assert f"`neuroarena data simulate {name} DIR" in text


@needs_real
@pytest.mark.parametrize("name", NAMES)
def test_the_real_column_is_what_the_real_files_say(name):
    shown = {statistic: real for statistic, (real, _) in read_rows(name).items() if real != NOT_AT_HAND}
    assert_same(shown, twin_tables.measure_real(name))


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.drill) for name in NAMES]
)
def test_the_twin_column_is_what_the_twin_says(name):
    shown = {statistic: twin for statistic, (_, twin) in read_rows(name).items() if twin != "-"}
    assert_same(shown, twin_tables.measure_twin(name))


@needs_real
def test_the_sleep_twin_separates_stages_as_real_nights_do():
    """Delta told N2 from wake by d 3.1, N1 had the wrong sign, and both sites were alike."""
    rows = {statistic: twin for statistic, (_, twin) in read_rows("sleep_edf").items()}
    real = {statistic: real for statistic, (real, _) in read_rows("sleep_edf").items()}
    for site in ("EEG Fpz-Cz", "EEG Pz-Oz"):
        for statistic in (f"{site}, delta: d of N2 against W", f"{site}, 30 to 50 Hz: d of N2 against W"):
            assert abs(float(rows[statistic]) - float(real[statistic])) < 1.0, statistic
        first = f"{site}, delta: d of N1 against W"
        assert np.sign(float(rows[first])) == np.sign(float(real[first])), first


def test_a_page_without_a_place_for_its_table_is_refused(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/track-img.md").write_text("# A page\n")
    monkeypatch.setattr(twin_tables, "PROJECT", tmp_path)
    with pytest.raises(ValueError, match=r"track-img\.md: lacks the lines"):
        twin_tables.replace_section("things_eeg2", "x")


def test_distances_and_slopes_are_those_of_known_signals():
    rng = np.random.default_rng(0)
    assert measure_distance(rng.normal(3, 2, 20000), rng.normal(0, 2, 20000)) == pytest.approx(1.5, abs=0.03)
    frequencies = np.arange(1.0, 50.0)
    assert measure_slope(frequencies, 7 * frequencies**-1.3, 2, 40) == pytest.approx(-1.3)
