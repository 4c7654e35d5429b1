"""The golden numbers of the verdicts, which lie beside the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shared_data import SHARED

PATH = SHARED / "data/statistics/inference_golden.json"
needs_golden = pytest.mark.skipif(
    not PATH.exists(), reason="the golden file lies beside the project, not in it"
)


def golden(name: str) -> Any:
    """Return one part of the golden file."""
    return json.loads(Path(PATH).read_text())[name]


def assert_rows_equal(rows: pd.DataFrame, expected: list[dict[str, Any]]) -> None:
    """Compare rows with golden ones, field by field: numbers to 1e-8, and small ones to eight digits."""
    assert len(rows) == len(expected)
    for row, wanted in zip(rows.to_dict("records"), expected, strict=True):
        for field, value in wanted.items():
            if isinstance(value, str):
                assert row[field] == value, (row["a"], row["c"], field)
            else:
                np.testing.assert_allclose(
                    row[field], value, rtol=1e-8, atol=1e-11, err_msg=f"{row['a']} {row['c']} {field}"
                )


def negative_nrmse(sums: dict[str, np.ndarray]) -> np.ndarray:
    """Combine pooled sums into an nRMSE, turned round so that higher is better."""
    nrmse: np.ndarray = np.sqrt(sums["sse"] / (sums["sum_y2"] - sums["sum_y"] ** 2 / sums["n"]))
    return -nrmse
