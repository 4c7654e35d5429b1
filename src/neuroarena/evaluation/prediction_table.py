"""Turn what a decoder returns into the predictions table of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.decoders.probabilities import share_of_ties
from neuroarena.errors import NeuroarenaError
from neuroarena.scoring import Manifest

# Exact ties between probabilities above this share cost a metric that ranks more than its rounding does.
MOST_TIES = 0.01


def prediction_table(predicted: Any, ids: np.ndarray, manifest: Manifest) -> pd.DataFrame:
    """Make the table of predictions that the manifest asks for, sorted by id.

    Raises
    ------
    NeuroarenaError
        As :func:`prediction_columns` does.
    """
    return pd.DataFrame(prediction_columns(predicted, ids, manifest))


def prediction_columns(predicted: Any, ids: np.ndarray, manifest: Manifest) -> dict[str, Any]:
    """Make the columns of predictions that the manifest asks for, ``id`` first, sorted by id.

    Raises
    ------
    NeuroarenaError
        When the decoder returned a different shape, or numbers that are not finite.
    """
    n, column = len(ids), manifest.prediction_columns[0]
    if manifest.prediction == "text":
        texts = list(predicted)
        _expect(len(texts) == n, f"{n} texts", f"{len(texts)}")
        others = [text for text in texts if not isinstance(text, str)]
        _expect(not others, "texts", f"{others[:1]!r:.40}")
        return _sort_by_id(ids, {column: texts})
    values = np.asarray(predicted)
    if manifest.prediction == "label":
        if values.ndim == 2:
            _expect(
                values.shape == (n, len(manifest.classes)),
                f"shape ({n}, {len(manifest.classes)})",
                values.shape,
            )
            # An argmax would make a class of NaN.
            _expect(bool(np.isfinite(values.astype(np.float64)).all()), "finite numbers", "NaN or infinity")
            values = np.asarray(manifest.classes)[values.argmax(axis=1)]
        _expect(values.shape == (n,), f"{n} labels", values.shape)
        return _sort_by_id(ids, {column: values.astype(str)})
    values = values.astype(np.float64)
    _expect(bool(np.isfinite(values).all()), "finite numbers", "NaN or infinity")
    if manifest.prediction == "probabilities":
        _expect(
            values.shape == (n, len(manifest.classes)), f"shape ({n}, {len(manifest.classes)})", values.shape
        )
        return _sort_by_id(ids, {f"p_{name}": values[:, at] for at, name in enumerate(manifest.classes)})
    if manifest.prediction == "number":
        _expect(values.shape == (n,), f"shape ({n},)", values.shape)
        return _sort_by_id(ids, {column: values})
    _expect(values.ndim == 2 and len(values) == n, f"shape ({n}, length of a vector)", values.shape)
    return _sort_by_id(ids, {column: list(values.astype(np.float32))})


def describe_ties(columns: Mapping[str, Any], manifest: Manifest) -> str | None:
    """Return a warning where many examples got exactly the same probabilities; None where they did not."""
    n = len(columns["id"])
    if manifest.prediction != "probabilities" or n < 2:
        return None
    tied = share_of_ties(np.column_stack([columns[name] for name in manifest.prediction_columns]))
    if tied <= MOST_TIES:
        return None
    return (
        f"Ties: {tied:.0%} of {n} examples got exactly the same probabilities as another one. A metric that "
        "ranks, such as AUROC, cannot tell them apart: predict probabilities in double precision rather than labels."
    )


def _sort_by_id(ids: np.ndarray, columns: dict[str, Any]) -> dict[str, Any]:
    columns = {"id": ids, **columns}
    # One recording's examples come sorted already.
    if bool((ids[:-1] <= ids[1:]).all()):
        return columns
    order = np.argsort(ids, kind="stable")
    return {
        name: values[order] if isinstance(values, np.ndarray) else [values[at] for at in order]
        for name, values in columns.items()
    }


def _expect(holds: bool, expected: str, got: Any) -> None:
    if not holds:
        raise NeuroarenaError(f"predict() returned {got}; expected {expected}.")
