"""Boards of models show the ceiling: its band, the share that a model reaches, and when it lies within."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from tiny_recordings import PixelModel, recordings

from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.evaluation import evaluate
from neuroarena.families.brainscore import NeuralBenchmark, RSABenchmark, Score, load_metric
from neuroarena.families.brainscore.comparison import NeuralComparison

QUICK = Rules(n_draws=100)


class Oracle(PixelModel):
    """Answers with the recordings themselves."""

    identifier = "oracle"

    def __init__(self, target):
        super().__init__()
        self.target = target

    def look_at(self, stimuli, number_of_trials=1):
        seen = super().look_at(stimuli, number_of_trials)
        values = self.target.transpose("presentation", "neuroid").values[:, :, None]
        kept = {name: each for name, each in seen.coords.items() if "neuroid" not in each.dims}
        return xr.DataArray(values, dims=seen.dims, coords=kept).assign_coords(
            neuroid_id=("neuroid", np.arange(values.shape[1]))
        )


def board(benchmark, *models):
    results = [evaluate(model, NeuralComparison(benchmark)) for model in models]
    return Board(entries_from_results(results), QUICK).rankings[0].table.set_index("team")


def test_rsa_shows_lower_and_upper_bound_and_who_lies_between():
    target = recordings(neuroids=40, noise=1.0)
    benchmark = RSABenchmark("Tiny.IT-rsa", target, visual_degrees=8, number_of_trials=1)
    table = board(benchmark, PixelModel(), Oracle(target))
    lower, upper = benchmark.ceiling.attrs["lower_bound"], float(benchmark.ceiling)
    assert set(table["ceiling"]) == {f"{lower:.3f} to {upper:.3f}"}
    for team in table.index:
        row = table.loc[team]
        assert row["raw"] / upper == pytest.approx(row["score"])
        assert row["of_the_ceiling"].startswith(f"{row['score']:.0%}".rstrip("%"))
        assert row["of_the_ceiling"].endswith("within it") == (row["raw"] >= lower)
    assert table.loc["oracle", "of_the_ceiling"].endswith("within it")


@pytest.mark.parametrize(("ceiling", "shown"), [(Score(0.9, error=0.01), "0.900 ± 0.010"), (0.9, "0.900")])
def test_a_reliability_shows_its_error_where_it_has_one(ceiling, shown):
    target = recordings(neuroids=7, noise=0.1)
    benchmark = NeuralBenchmark("Tiny.IT", target, load_metric("ridge"), 8, 1, ceiling_func=lambda: ceiling)
    table = board(benchmark, PixelModel(), Oracle(target))
    assert set(table["ceiling"]) == {shown}
    assert table.loc["oracle", "of_the_ceiling"].endswith("within it")
