"""Prediction files damaged at random: scored, or refused in one sentence that names them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from byte_damage import mutate
from neuroarena.errors import InputError
from neuroarena.scoring import read_predictions, score, write_predictions

from .tables import LABELS, NUMBERS, PROBABILITIES, TEXTS, VECTORS, make_predictions, make_truth


def check(folder: Path, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = (LABELS, PROBABILITIES, NUMBERS, VECTORS, TEXTS)
    originals = []
    for manifest in kinds:
        write_predictions(folder / "whole.parquet", make_predictions(manifest), manifest, model="m")
        originals.append((folder / "whole.parquet").read_bytes())
    path = folder / "mutant.parquet"
    refused = 0
    for number in range(count):
        manifest, content = kinds[number % len(kinds)], originals[number % len(kinds)]
        # Pages begin near the beginning; what describes them is at the end, and is read first.
        damaged = mutate(rng, content) if rng.random() < 0.3 else mutate(rng, content[::-1], header=600)[::-1]
        path.write_bytes(damaged)
        try:
            score(read_predictions(path, manifest, expected_rows=6), make_truth(manifest), manifest)
        except InputError as error:
            refused += 1
            assert "\n" not in str(error).strip()
    assert refused > count / 4


def test_damaged_prediction_files_are_scored_or_refused(tmp_path: Path) -> None:
    check(tmp_path, seed=1, count=60)


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(3))
def test_fifteen_hundred_damaged_prediction_files_are_scored_or_refused(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed=10 + seed, count=500)
