"""Constant answers: the submission that knows nothing, made from the rules alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.scoring import Manifest


def answer_constantly(manifest: Manifest, ids: pd.DataFrame) -> pd.DataFrame:
    """Return the same answer for every id; neither signals nor truth are looked at.

    The first class, equal probabilities, the number of the allowed range that is nearest to zero, a vector
    of ones, or no text.

    Examples
    --------
    >>> manifest = Manifest(
    ...     name="example/sides", definition="1", title="Sides", question="Left or right?", metric="accuracy",
    ...     prediction="label", classes=("left", "right"), unit="session", split_rule="none", licence="CC0",
    ... )
    >>> answer_constantly(manifest, pd.DataFrame({"id": ["a", "b"]})).to_dict("list")
    {'id': ['a', 'b'], 'label': ['left', 'left']}
    """
    answers = pd.DataFrame({"id": ids["id"].astype(str)})
    columns = manifest.prediction_columns
    if manifest.prediction == "probabilities":
        for name in columns:
            answers[name] = 1 / len(columns)
    elif manifest.prediction == "label":
        answers[columns[0]] = manifest.classes[0]
    elif manifest.prediction == "vector":
        ones = np.ones(manifest.caps.get("vector_length", 1))
        answers[columns[0]] = pd.Series([ones] * len(answers), dtype=object)
    elif manifest.prediction == "text":
        answers[columns[0]] = ""
    else:
        low, high = manifest.allowed_range or (0.0, 0.0)
        answers[columns[0]] = min(max(0.0, low), high)
    return answers
