"""The simulated Sleep-EDF beside real nights: what is learned from it holds for people who were recorded."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuroarena.decoders import Context
from neuroarena.decoders.streams import StreamMeta
from neuroarena.families.sleep import FAMILY
from neuroarena.families.sleep.decoders import BandPower, BandpowerStager
from neuroarena.families.sleep.family import stretch_rule
from neuroarena.families.sleep.sleep_edf import twin_sleep
from neuroarena.features import FeatureChain
from neuroarena.scoring import StreamRule
from shared_data import SHARED
from sleep_streams import make_benchmark, parts

pytest.importorskip("edfio")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import fit_sleep_twin

BANDPOWERS = SHARED / "data" / "real" / "sleep_edf" / "bandpowers.npz"
pytestmark = pytest.mark.skipif(
    not BANDPOWERS.is_file(), reason="no band powers of real nights beside the project (../shared/data/real)"
)
RATE_HZ, EPOCH_S = 100.0, 30.0
STAGES = np.array(["W", "N1", "N2", "N3", "R"])
# Log of what turns µV²/Hz into the unit of BandPower: squared Fourier coefficients of 4 s under a Hann window.
UNIT = float(np.log(RATE_HZ * (np.hanning(400) ** 2).sum() / 2))


def streams() -> dict[str, tuple[np.ndarray, float]]:
    """Cut the task's streams out of the real nights: log powers (epochs, 2, 5), and the seconds to stable N2.

    The onset is found here by reading the rule aloud, not by the package's own function.
    """
    found = {}
    rule = stretch_rule(FAMILY.manifest("sleep-edf", "2026"))
    with np.load(BANDPOWERS, allow_pickle=False) as held:
        for key in sorted({name.partition("_")[0] for name in held}):
            stages = STAGES[held[f"{key}_stage"]]
            onset = next(
                at for at in range(len(stages) - 1) if stages[at] == "N2" and stages[at + 1] in ("N2", "N3")
            )
            start, _, _ = rule.stretch(key, onset * EPOCH_S, RATE_HZ, round(len(stages) * EPOCH_S * RATE_HZ))
            first = int(np.ceil(start / RATE_HZ / EPOCH_S))
            powers = held[f"{key}_uv2_per_hz"][first : first + 60].reshape(-1, 2, 5)
            found[key] = np.log(powers) + UNIT, (onset - first) * EPOCH_S
    return found


def train_on_a_twin(folder: Path) -> BandpowerStager:
    """Train the classical stager on the simulated nights of ten people, in the bands of the real file."""
    twin = make_benchmark(folder, "sleep-edf", people=10, minutes=60, seed=1)
    rule = StreamRule(window_s=EPOCH_S, hop_s=EPOCH_S, answer="last")
    stager = BandpowerStager(features=FeatureChain((BandPower(twin_sleep.BANDS_HZ),)))
    context = Context(rng=np.random.default_rng(0), kind="number", stream=rule)
    return stager.fit(parts(twin, tuple(twin.examples["id"])), None, context)


def error_s(stager: BandpowerStager, powers: np.ndarray, target: float) -> float:
    listener = copy.deepcopy(stager)
    listener.start(StreamMeta(pd.DataFrame({"name": twin_sleep.SITES}), RATE_HZ))
    answers = [listener.step(window) for window in powers]
    return abs(answers[-1] - target)


@pytest.mark.drill
def test_a_stager_trained_on_a_twin_halves_the_error_of_guessing_on_people_it_was_not_fitted_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin is fitted to some people and judged on the others, both ways round: no night is on both sides."""
    nights, real = fit_sleep_twin.read_nights(BANDPOWERS), streams()
    people = sorted({night.key[:5] for night in nights})
    errors: list[float] = []
    for number, judged in enumerate((people[::2], people[1::2])):
        table = tmp_path / f"{number}.toml"
        kept = [night for night in nights if night.key[:5] not in judged]
        fit_sleep_twin.write(fit_sleep_twin.fit(kept), len(kept), table)
        numbers = twin_sleep.read_fitted(table.read_text(encoding="utf-8"))
        monkeypatch.setattr(twin_sleep, "fitted", lambda numbers=numbers: numbers)
        twin_sleep.ideal_error.cache_clear()
        stager = train_on_a_twin(tmp_path / f"twin-{number}")
        errors += [error_s(stager, *real[key]) for key in real if key[:5] in judged]
    targets = np.array([target for _, target in real.values()])
    guessing = float(np.abs(targets - np.median(targets)).mean())
    assert len(errors) == len(targets) == 14
    assert 2 * np.mean(errors) < guessing


def test_the_table_in_the_package_is_the_one_that_the_tool_fits(tmp_path: Path) -> None:
    nights = fit_sleep_twin.read_nights(BANDPOWERS)
    fit_sleep_twin.write(fit_sleep_twin.fit(nights), len(nights), tmp_path / "again.toml")
    again = twin_sleep.read_fitted((tmp_path / "again.toml").read_text(encoding="utf-8"))
    shipped: Any = twin_sleep.fitted()
    for name in ("means", "spreads", "mixing", "night_mixing", "before", "after"):
        np.testing.assert_allclose(getattr(again, name), getattr(shipped, name), atol=0.02, err_msg=name)
