"""Metrics and ceilings against numbers that were computed by others."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xarray as xr
from bsm_arrays import assembly, shuffled, trials

from neuroarena.families.brainscore.ceilings import CEILING_FACTORIES
from neuroarena.families.brainscore.metrics import METRIC_FACTORIES
from shared_data import SHARED

GOLDEN = SHARED / "data" / "brainscore"
needs_golden = pytest.mark.skipif(not GOLDEN.exists(), reason="the shared golden file is not there")
METRICS = ("pls", "ridge", "linear_predictivity", "neuron_to_neuron", "rdm", "rdm_cv", "cka", "cka_cv")


def golden() -> tuple[xr.DataArray, xr.DataArray, xr.DataArray, dict[str, Any]]:
    with np.load(GOLDEN / "golden.npz", allow_pickle=False) as file:
        rows = {
            "stimulus_id": ("presentation", file["stimulus_id"]),
            "object_name": ("presentation", file["object_name"]),
        }
        source, target = (assembly(file[name], **rows) for name in ("source", "target"))
        single = trials(file["trials"])
    expected: dict[str, Any] = json.loads((GOLDEN / "golden.json").read_text())
    return source, target, single, expected


@needs_golden
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_gives_the_golden_score_error_and_raw_values(name: str):
    source, target, _, expected = golden()
    score = METRIC_FACTORIES[name]()(source, target)
    assert float(score) == pytest.approx(expected[name]["score"], abs=1e-6)
    assert score.n_neuroids_used == score.n_neuroids_total == 9
    if "error" in expected[name]:
        assert score.error == pytest.approx(expected[name]["error"], abs=1e-6)
        assert score.n_splits == 10
    if "raw_split_by_neuroid" in expected[name]:
        assert score.raw.dims == ("split", "neuroid")
        np.testing.assert_allclose(score.raw.values, expected[name]["raw_split_by_neuroid"], atol=1e-6)


@needs_golden
def test_the_internal_consistency_gives_the_golden_score_and_error():
    _, _, single, expected = golden()
    score = CEILING_FACTORIES["internal_consistency"]()(single)
    assert float(score) == pytest.approx(expected["internal_consistency"]["score"], abs=1e-6)
    assert score.error == pytest.approx(expected["internal_consistency"]["error"], abs=1e-6)
    assert score.raw.shape == (10, 9)


@needs_golden
@pytest.mark.parametrize("name", METRICS)
def test_the_order_of_rows_changes_nothing_on_either_side(name: str):
    source, target, _, expected = golden()
    score = METRIC_FACTORIES[name]()(shuffled(source, 1), shuffled(target, 2))
    assert float(score) == pytest.approx(expected[name]["score"], abs=1e-6)


@needs_golden
@pytest.mark.parametrize("name", [name for name in METRICS if name not in ("rdm", "cka")])
def test_splits_as_given_reproduce_the_golden_file_and_follow_the_rows_of_the_target(name: str):
    source, target, _, expected = golden()
    as_given = METRIC_FACTORIES[name](crossvalidation_kwargs={"split_order": "as_given"})
    assert float(as_given(shuffled(source, 1), target)) == pytest.approx(expected[name]["score"], abs=1e-6)
    assert abs(float(as_given(source, shuffled(target, 2))) - expected[name]["score"]) > 1e-6


@needs_golden
def test_the_order_of_trials_changes_nothing():
    _, _, single, expected = golden()
    score = CEILING_FACTORIES["internal_consistency"]()(shuffled(single, 3))
    assert float(score) == pytest.approx(expected["internal_consistency"]["score"], abs=1e-9)
    per_stimulus = CEILING_FACTORIES["internal_consistency_per_stimulus"]()
    assert float(per_stimulus(shuffled(single, 3))) == pytest.approx(float(per_stimulus(single)), abs=1e-9)
