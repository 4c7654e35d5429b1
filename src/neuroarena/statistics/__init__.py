"""From unit scores to a ranking that says which differences are real.

`bootstrap` draws the units again, the same draw for every team; `compare`, `rank_stability`,
`tie_groups` and `transfer_score` read what it returns. `points` and `sizing` are plain arithmetic.
"""

from __future__ import annotations

from neuroarena.statistics.bootstrap import Draws, bootstrap
from neuroarena.statistics.pairs import compare, holm, tie_groups
from neuroarena.statistics.points import all_track_score, rank_points, submitted_score
from neuroarena.statistics.ranks import rank_probabilities, rank_stability, ranking, ranks
from neuroarena.statistics.sizing import half_width, meets_resolution, required_units
from neuroarena.statistics.transfer import TransferDraws, transfer_score, visible_transfer_score

__all__ = [
    "Draws",
    "TransferDraws",
    "all_track_score",
    "bootstrap",
    "compare",
    "half_width",
    "holm",
    "meets_resolution",
    "rank_points",
    "rank_probabilities",
    "rank_stability",
    "ranking",
    "ranks",
    "required_units",
    "submitted_score",
    "tie_groups",
    "transfer_score",
    "visible_transfer_score",
]
