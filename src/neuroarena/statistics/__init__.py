"""From unit scores to a ranking that says which differences are real.

The conclusions of a board come from `verdicts`, one row per pair of teams, and by `judge` where scores are
ratios, medians, or sampled in several ways at once: `leave_out_columns`, `crossed`, `moments_of_draws`,
`fix_tasks` and `add_seeds` bring such scores into the form that `judge` takes. `letters`, `rank_ranges` and
`sensitivity` read its rows; nothing else computes a p.

The seed's rule stands beside it, exact to the last digit: `bootstrap` draws the units again, the same draw for every
team; `compare`, `rank_stability`, `tie_groups` and `transfer_score` read what it returns. `points` and
`sizing` are plain arithmetic.
"""

from __future__ import annotations

from neuroarena.statistics.bootstrap import Draws, bootstrap
from neuroarena.statistics.cells import Cells, cells_of_arrays, cells_of_table
from neuroarena.statistics.critical_difference import critical_difference, critical_groups, nemenyi_q
from neuroarena.statistics.crossed import crossed, crossed_intervals, factor_variances
from neuroarena.statistics.crossed_draws import (
    CrossedDraws,
    crossed_draw_intervals,
    draw_crossed_means,
    draw_crossed_medians,
    draw_median_correlations,
    moments_of_crossed_draws,
)
from neuroarena.statistics.jackknife import jackknife, score_intervals
from neuroarena.statistics.left_out import MINIMUM_LEVELS, LeftOut, leave_out, leave_out_columns
from neuroarena.statistics.letters import insert_and_absorb, letter_groups, letters, rank_ranges
from neuroarena.statistics.level_draws import (
    LevelDraws,
    draw_intervals,
    draw_level_medians,
    draw_medians,
    draw_whole_levels,
    moments_of_draws,
    widen_draws,
)
from neuroarena.statistics.moments import Moments
from neuroarena.statistics.pairs import compare, holm, tie_groups
from neuroarena.statistics.points import all_track_score, rank_points, submitted_score
from neuroarena.statistics.power import (
    better_power,
    equivalent_power,
    units_for_better,
    units_for_equivalent,
)
from neuroarena.statistics.pseudovalues import (
    correlation_cells,
    left_out_correlations,
    left_out_rank_correlations,
    left_out_rdm_correlations,
    pseudovalues,
    signed_square,
)
from neuroarena.statistics.ranks import rank_probabilities, rank_stability, ranking, ranks
from neuroarena.statistics.seeds import add_seeds, add_seeds_to_intervals, seed_variances
from neuroarena.statistics.sensitivity import Sensitivity, kendall_tau_b, sensitivity
from neuroarena.statistics.signflip import sign_flip_p
from neuroarena.statistics.sizing import (
    half_width,
    meets_resolution,
    quantile_at,
    required_growth,
    required_units,
)
from neuroarena.statistics.tasks import average_ranks, count_tracks, fix_tasks
from neuroarena.statistics.transfer import TransferDraws, transfer_score, visible_transfer_score
from neuroarena.statistics.verdicts import caution, judge, judge_ends, judged_alphas, pair_ends, verdicts

__all__ = [
    "MINIMUM_LEVELS",
    "Cells",
    "CrossedDraws",
    "Draws",
    "LeftOut",
    "LevelDraws",
    "Moments",
    "Sensitivity",
    "TransferDraws",
    "add_seeds",
    "add_seeds_to_intervals",
    "all_track_score",
    "average_ranks",
    "better_power",
    "bootstrap",
    "caution",
    "cells_of_arrays",
    "cells_of_table",
    "compare",
    "correlation_cells",
    "count_tracks",
    "critical_difference",
    "critical_groups",
    "crossed",
    "crossed_draw_intervals",
    "crossed_intervals",
    "draw_crossed_means",
    "draw_crossed_medians",
    "draw_intervals",
    "draw_level_medians",
    "draw_median_correlations",
    "draw_medians",
    "draw_whole_levels",
    "equivalent_power",
    "factor_variances",
    "fix_tasks",
    "half_width",
    "holm",
    "insert_and_absorb",
    "jackknife",
    "judge",
    "judge_ends",
    "judged_alphas",
    "kendall_tau_b",
    "leave_out",
    "leave_out_columns",
    "left_out_correlations",
    "left_out_rank_correlations",
    "left_out_rdm_correlations",
    "letter_groups",
    "letters",
    "meets_resolution",
    "moments_of_crossed_draws",
    "moments_of_draws",
    "nemenyi_q",
    "pair_ends",
    "pseudovalues",
    "quantile_at",
    "rank_points",
    "rank_probabilities",
    "rank_ranges",
    "rank_stability",
    "ranking",
    "ranks",
    "required_growth",
    "required_units",
    "score_intervals",
    "seed_variances",
    "sensitivity",
    "sign_flip_p",
    "signed_square",
    "submitted_score",
    "tie_groups",
    "transfer_score",
    "units_for_better",
    "units_for_equivalent",
    "verdicts",
    "visible_transfer_score",
    "widen_draws",
]
