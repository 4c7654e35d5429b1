"""Baselines of the challenge: ridge on band power, ridge on demographics, EEGNeX behind its guard."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.preprocessing import StandardScaler

from neuroarena.decoders import Context, Group
from neuroarena.errors import InputError, MissingDependency
from neuroarena.families.eeg2025.decoders import BandPowerRidge, DemographicsRidge, LogBandPower
from neuroarena.families.eeg2025.decoders.ridge import Ridge
from neuroarena.families.eeg2025.decoders.zoo import EEGNeX, import_zoo
from neuroarena.recordings import channel_table


@pytest.mark.parametrize("shape", [(40, 7), (12, 60)], ids=["more rows", "more columns"])
def test_the_ridge_is_that_of_scikit_learn_on_standardised_columns(shape):
    rng = np.random.default_rng(1)
    matrix, targets = rng.normal(3, 2, shape), rng.normal(5, 1, shape[0])
    ours = Ridge((10.0,)).fit(matrix, targets, np.arange(shape[0]).astype(str))
    scaler = StandardScaler().fit(matrix)
    theirs = SklearnRidge(10.0).fit(scaler.transform(matrix), targets)
    fresh = rng.normal(3, 2, (9, shape[1]))
    np.testing.assert_allclose(ours.predict(fresh), theirs.predict(scaler.transform(fresh)), rtol=1e-8)


def test_the_penalty_is_chosen_by_leaving_people_out_not_rows():
    rng = np.random.default_rng(0)
    # Columns and target are the person's and have nothing to do with each other; rows of one person are alike.
    people = np.repeat([f"p{number:02d}" for number in range(20)], 10)
    traits = np.repeat(rng.normal(size=20), 10)
    matrix = np.repeat(rng.normal(size=(20, 40)), 10, axis=0)
    by_person = Ridge((0.01, 1e6)).fit(matrix, traits, people).penalty_
    by_row = Ridge((0.01, 1e6)).fit(matrix, traits, np.arange(200).astype(str)).penalty_
    assert (by_person, by_row) == (1e6, 0.01)


def test_a_flat_channel_changes_nothing():
    rng = np.random.default_rng(2)
    matrix, targets = rng.normal(size=(30, 4)), rng.normal(size=30)
    names = np.arange(30).astype(str)
    flat = np.hstack([matrix, np.full((30, 1), 7.0)])
    one, two = Ridge().fit(matrix, targets, names), Ridge().fit(flat, targets, names)
    np.testing.assert_allclose(one.predict(matrix), two.predict(flat))


def test_band_power_is_that_of_a_tone_in_its_band_and_of_the_floor_elsewhere():
    seconds = np.arange(1000) / 100
    block = np.stack([4 * np.sin(2 * np.pi * 10 * seconds), np.zeros(1000)])[None].astype(np.float32)
    powers, channels = LogBandPower()(block, channel_table(["E1", "Cz"], kind="eeg"), 100.0)
    assert powers.shape == (1, 2, 6)
    assert len(channels) == 2
    # A sine of amplitude 4 has the power 8; the band from 8 to 13 Hz is 5 Hz wide.
    assert np.exp(powers[0, 0, 2]) == pytest.approx(8 / 5, rel=0.02)
    np.testing.assert_allclose(powers[0, 1], np.log(1e-4), rtol=1e-6)


def test_band_power_of_many_frames_is_the_mean_over_them_and_short_windows_are_refused():
    rng = np.random.default_rng(3)
    block = rng.standard_normal((2, 3, 600)).astype(np.float32)
    table = channel_table(["a", "b", "c"])
    whole = LogBandPower()(block, table, 100.0)[0]
    parts = [LogBandPower()(block[:, :, start : start + 200], table, 100.0)[0] for start in (0, 200, 400)]
    np.testing.assert_allclose(np.exp(whole), np.mean(np.exp(parts), axis=0), rtol=1e-4)
    with pytest.raises(InputError, match="have no frequency from 1 to 4 Hz"):
        LogBandPower()(block[:, :, :10], table, 100.0)


def person(name: str, n: int, **known) -> Group:
    table = pd.DataFrame(
        {"id": [f"{name}-{row}" for row in range(n)], "subject": name, "session": name, **known}
    )
    signals = np.zeros((n, 2, 0), dtype=np.float32)
    return Group(signals, channel_table(["E1", "Cz"]), 100.0, table)


def with_targets(group: Group, value: float) -> Group:
    return Group(group.signals, group.channels, group.rate_hz, group.table, np.full(len(group), value))


def test_demographics_are_learned_and_what_is_unknown_takes_the_mean():
    ages = np.linspace(6, 20, 15)
    train = [
        with_targets(person(f"p{at:02d}", 2, age=age, sex="MF"[at % 2], ehq_total=50.0), 0.1 * age)
        for at, age in enumerate(ages)
    ]
    decoder = DemographicsRidge().fit(train, None, Context(kind="number"))
    old, young, unknown = (
        person("new", 1, age=age, sex=sex, ehq_total=np.nan)
        for age, sex in ((18.0, "M"), (8.0, "F"), (np.nan, None))
    )
    said = decoder.predict([old, young, unknown])
    np.testing.assert_allclose(said, [1.8, 0.8, 1.3], atol=0.05)
    with pytest.raises(InputError, match='demographics-ridge needs "age"'):
        decoder.predict([person("new", 1)])
    with pytest.raises(InputError, match="has no targets"):
        DemographicsRidge().fit([old], None, Context(kind="number"))


def test_the_band_power_ridge_tells_amplitude():
    rng = np.random.default_rng(4)
    table = channel_table(["E1", "E2"], kind="eeg")
    groups = []
    for name in range(12):
        levels = rng.normal(0, 0.5, 20)
        tone = np.sin(2 * np.pi * 10 * np.arange(200) / 100 + rng.random((20, 1, 1)) * 6)
        signals = (5 * np.exp(levels)[:, None, None] * tone + rng.standard_normal((20, 2, 200))).astype(
            np.float32
        )
        known = pd.DataFrame(
            {"id": [f"{name}-{row}" for row in range(20)], "subject": str(name), "session": "1"}
        )
        groups.append(Group(LogBandPower()(signals, table, 100.0)[0], table, 100.0, known, levels))
    decoder = BandPowerRidge().fit(groups[:8], None, Context(kind="number"))
    said, truth = decoder.predict(groups[8:]), np.concatenate([group.targets for group in groups[8:]])
    assert np.corrcoef(said, truth)[0, 1] > 0.95


def test_without_braindecode_the_zoo_says_which_extra_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"neuroarena\[zoo\]"):
        import_zoo("The decoder EEGNeX")


def test_without_braindecode_or_with_the_baselines_are_imported_without_torch():
    code = "import sys, neuroarena.families.eeg2025.decoders; "
    code += "print('torch' in sys.modules, 'braindecode' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "False"]


@pytest.mark.skipif(importlib.util.find_spec("braindecode") is None, reason="the extra zoo is not installed")
def test_eegnex_learns_numbers_from_windows():
    rng = np.random.default_rng(0)
    table = channel_table([f"E{number}" for number in range(1, 9)], kind="eeg")
    known = pd.DataFrame({"id": [str(row) for row in range(40)], "subject": "1", "session": "1"})
    signals = rng.standard_normal((40, 8, 200)).astype(np.float32)
    group = Group(signals, table, 100.0, known, signals[:, 0].std(axis=1))
    said = EEGNeX(max_epochs=2).fit([group], [group], Context(kind="number", rng=rng)).predict([group])
    assert said.shape == (40,)
    assert np.isfinite(said).all()


def test_eegnex_asks_for_raw_windows():
    with pytest.raises(InputError, match=r"expected items of the axes \(channel, time\)"):
        EEGNeX().build(np.zeros((2, 3, 4, 5), dtype=np.float32), 1)
