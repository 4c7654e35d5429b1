"""What a cell writes: the columns of predictions, and what comes back out of the cache."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.cache import CellCache, join_cells
from neuroarena.evaluation.prediction_table import prediction_columns, prediction_table
from toy import toy_manifest

IDS = np.array(["b", "é", "a"], dtype=object)
KINDS = {
    "probabilities": ({}, np.array([[0.1, 0.9], [0.5, 0.5], [1.0, 0.0]])),
    "label": ({"metric": "accuracy"}, np.array(["1", "0", "1"])),
    "number": ({"metric": "mae", "classes": (), "prediction_column": "x"}, np.array([1.5, 2.5, 3.5])),
    "vector": ({"metric": "top1", "classes": ()}, np.arange(6.0).reshape(3, 2)),
    "text": ({"metric": "cer", "classes": ()}, ["one", "two", ""]),
}


def manifest_of(kind):
    return toy_manifest(prediction=kind, **KINDS[kind][0])


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_sorted_by_id_and_come_back_from_the_cache_as_pandas_would_store_them(kind, tmp_path):
    predicted, manifest = KINDS[kind][1], manifest_of(kind)
    columns = prediction_columns(predicted, IDS, manifest)
    assert list(columns["id"]) == ["a", "b", "é"]
    table = prediction_table(predicted, IDS, manifest)
    CellCache(tmp_path).write("0" * 64, columns, {"drew": False})
    found, note = CellCache(tmp_path).read("0" * 64)
    pd.testing.assert_frame_equal(join_cells([found]), table)
    assert note == {"drew": False}


@pytest.mark.parametrize("said", [[1, 2, 3], ["a", None, "b"]])
def test_a_text_that_is_none_is_a_named_failure(said):
    with pytest.raises(NeuroarenaError, match="expected texts"):
        prediction_columns(said, IDS, manifest_of("text"))
