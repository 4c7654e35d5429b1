"""Small manifests and tables that the tests of the scoring room start from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from neuroarena.scoring import METRICS, Manifest, Metric

RULES: dict[str, Any] = {
    "name": "example/faces",
    "definition": "1",
    "title": "Faces",
    "question": "Is there a face?",
    "metric": "accuracy",
    "prediction": "label",
    "classes": ("face", "house", "tool"),
    "unit": "session",
    "split_rule": "none",
    "licence": "CC0",
}


def make_manifest(**changes: Any) -> Manifest:
    """A manifest of labels of three classes, with changes."""
    return Manifest(**{**RULES, **changes})


def _rmse(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:
    sse = float(((prediction - target) ** 2).sum())
    return {
        "score": float(np.sqrt(sse / target.shape[0])),
        "sse": sse,
        "sum_y": float(target.sum()),
        "sum_y2": float((target**2).sum()),
    }


def _exact_match(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:
    return {"score": float((prediction == target).mean())}


def _hole(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:
    return {"score": float("nan")}


def _no_empty_reference(target: np.ndarray, manifest: Manifest) -> str | None:
    return "the reference is empty" if not any(target) else None


# Metrics of the kinds whose own come with their benchmarks.
RMSE = METRICS.register("test_rmse")(
    Metric(
        name="test_rmse",
        direction="lower",
        predictions=("number", "vector"),
        function=_rmse,
        title="RMSE",
        unit_label="s",
        undefined="Always defined.",
        columns=("n", "sse", "sum_y", "sum_y2"),
    )
)
EXACT = METRICS.register("test_exact")(
    Metric(
        name="test_exact",
        direction="higher",
        predictions=("text",),
        function=_exact_match,
        title="Exact match",
        unit_label="",
        undefined="A unit without any reference text is refused.",
        truth_rule=_no_empty_reference,
    )
)
HOLE = METRICS.register("test_hole")(
    Metric("test_hole", "higher", ("label", "number"), _hole, "Hole", "", "A metric whose rules have a hole.")
)

LABELS = make_manifest()
PROBABILITIES = make_manifest(
    name="example/onset", metric="auroc", prediction="probabilities", classes=("no", "yes")
)
NUMBERS = make_manifest(name="example/onset-time", metric="test_rmse", prediction="number", classes=())
VECTORS = make_manifest(name="example/image", metric="test_rmse", prediction="vector", classes=())
TEXTS = make_manifest(name="example/typing", metric="test_exact", prediction="text", classes=())

IDS = ["a", "b", "c", "d", "e", "f"]
TARGETS: dict[str, list[Any]] = {
    "label": ["face", "house", "tool", "face", "house", "tool"],
    "probabilities": ["no", "yes", "no", "yes", "no", "yes"],
    "number": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "vector": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]],
    "text": ["one", "two", "three", "four", "five", "six"],
}


def make_truth(manifest: Manifest) -> pd.DataFrame:
    """Six examples in two units, u1 and u2, one fold each."""
    return pd.DataFrame(
        {
            "id": IDS,
            "fold": ["0"] * 6,
            "unit": ["u1"] * 3 + ["u2"] * 3,
            "cluster": ["p1"] * 6,
            "target": TARGETS[manifest.prediction],
        }
    )


def make_predictions(manifest: Manifest) -> pd.DataFrame:
    """Predictions that are accepted, of the kind the manifest asks for."""
    table = pd.DataFrame({"id": IDS})
    if manifest.prediction == "probabilities":
        second = np.array([0.1, 0.9, 0.3, 0.6, 0.5, 0.5])
        return table.assign(p_no=1 - second, p_yes=second)
    return table.assign(**{manifest.prediction: TARGETS[manifest.prediction]})
