"""Scoring: manifests, checks, metrics and score(). Pure, auditable, and free of torch and web code."""

from __future__ import annotations

from neuroarena.scoring.checks import (
    check_metadata,
    check_possible,
    check_prediction_table,
    check_predictions,
    check_truth,
)
from neuroarena.scoring.combiners import COMBINERS, Combiner, columns_of, combine, track_score
from neuroarena.scoring.files import read_metadata, read_predictions, write_predictions
from neuroarena.scoring.manifest import Manifest, StreamRule, higher_is_better, manifests_from_toml
from neuroarena.scoring.metrics import METRICS, Metric, WholeTable
from neuroarena.scoring.overalls import Overall
from neuroarena.scoring.score import SCORER_VERSION, Aligned, align, score, score_aligned
from neuroarena.scoring.submissions import (
    Submission,
    check_name,
    check_submission,
    read_words,
    submission_words,
    write_submission,
)
from neuroarena.scoring.unit_scores import UnitScores, reported_value

__all__ = [
    "COMBINERS",
    "METRICS",
    "SCORER_VERSION",
    "Aligned",
    "Combiner",
    "Manifest",
    "Metric",
    "Overall",
    "StreamRule",
    "Submission",
    "UnitScores",
    "WholeTable",
    "align",
    "check_metadata",
    "check_name",
    "check_possible",
    "check_prediction_table",
    "check_predictions",
    "check_submission",
    "check_truth",
    "columns_of",
    "combine",
    "higher_is_better",
    "manifests_from_toml",
    "read_metadata",
    "read_predictions",
    "read_words",
    "reported_value",
    "score",
    "score_aligned",
    "submission_words",
    "track_score",
    "write_predictions",
    "write_submission",
]
