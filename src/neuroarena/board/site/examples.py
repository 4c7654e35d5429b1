"""A worked example of a ranking: how its leader's score and first verdict come about, in its own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from neuroarena.board.ranking import Ranking
from neuroarena.board.wording import (
    alpha_words,
    bounds_text,
    clean_name,
    is_known,
    pair_p_text,
    rows_of,
    score_text,
    verdict_words,
)
from neuroarena.scoring import COMBINERS, METRICS

MOST_UNITS = 12


def work_example(ranking: Ranking, question: str) -> dict[str, Any] | None:
    """Return a worked example; None where nobody is ranked. The `question` of a suite says how its tasks are combined.

    Returns
    -------
    dict or None
        `team`; `units`, the first unit scores with their names; `more`, how many follow; `combined`, how they become
        the score; `score`; `pair`, how the difference from the next team was judged, line by line.
    """
    if ranking.table.empty:
        return None
    top = ranking.table.iloc[0]
    own = ranking.unit_scores[top["team"]]
    finite = own[np.isfinite(own.to_numpy(dtype=float))]
    combiner = COMBINERS.get(ranking.manifest.combiner)
    return {
        "team": clean_name(top["team"]),
        "metric": METRICS.get(ranking.manifest.metric).title,
        "units": [(clean_name(unit), score_text(value)) for unit, value in finite.iloc[:MOST_UNITS].items()],
        "more": max(0, len(finite) - MOST_UNITS),
        "combined": combiner.title
        if ranking.kind == "task"
        else f"{question[:1].lower()}{question[1:]}".rstrip("."),
        "score": score_text(top["score"]),
        "pair": _work_pair(ranking),
    }


def _work_pair(ranking: Ranking) -> list[tuple[str, str]]:
    if ranking.pairs.empty or not ranking.decides:
        return []
    row = rows_of(ranking.pairs.head(1))[0]
    steps = [("Pair", f"{clean_name(row.team_a)} and {clean_name(row.team_c)}")]
    steps.append(("Difference", score_text(row.delta)))
    if is_known(row.se) and is_known(row.df):
        steps.append(
            (
                "Standard error",
                f"{row.se:.4f} over {row.n_levels} {ranking.levels}, {row.df:.1f} degrees of freedom",
            )
        )
    steps.append(("95 % interval of this pair alone", bounds_text(row.ci95_low, row.ci95_high) or "–"))
    steps.append(
        ("p", f"{pair_p_text(ranking, row.p, adjusted=False)}, corrected {pair_p_text(ranking, row.p_holm)}")
    )
    steps.append(
        ("Judged at", f"{bounds_text(row.judged_low, row.judged_high) or '–'} ({alpha_words(ranking)})")
    )
    steps.append(("Verdict", verdict_words(row, ranking)))
    return steps
