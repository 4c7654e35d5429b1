"""Measure the verdicts of all pairs of 1,000 teams against a bare NumPy loop over the same moments.

The loop does what nobody can do without: in blocks of 4,096 pairs it takes the differences of the scores
without each level, their standard error and their skewness. `verdicts` reads and checks the table, leaves
the levels out, ranks the teams, and makes p, Holm, both intervals and the verdict of every pair besides.
One BLAS thread; every timing is CPU time of this process, the best of three: others on the machine do not count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from time import process_time
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (threads are set before NumPy starts)

TEAMS, UNITS, BLOCK = 1_000, 200, 4_096
TASKS, SESSIONS, ENTRIES = 15, 12, 20
FIGURES = {
    "verdicts_ratio": (
        "verdicts of all pairs of 1,000 teams x 200 units, against a bare NumPy loop",
        "at most",
        2.0,
    ),
    "board_ratio": ("board of 1,000 teams x 5 tracks x 500 units, against the seed's rule", "at most", 2.5),
    "suite_board_s": ("board of 20 teams x 15 tasks x 12 sessions, s of processor", "at most", 1.0),
    "letters_of_300_teams_s": ("letters of 300 teams, s of processor", "", None),
    "images_by_neuroids_s": ("50 models on 400 images x 168 neuroids, s of processor", "", None),
}
RUNS = 3
IMAGES, NEUROIDS, MODELS = 400, 168, 50


def bare_loop(left_out: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return standard error and skewness of every pair from scores without each level (levels, teams)."""
    by_team = np.ascontiguousarray(left_out.T)
    n_levels = by_team.shape[1]
    above, below = np.triu_indices(len(by_team), 1)
    se, skew = np.empty(len(above)), np.empty(len(above))
    for start in range(0, len(above), BLOCK):
        part = slice(start, start + BLOCK)
        theta = by_team[above[part]] - by_team[below[part]]
        whole = point[above[part]] - point[below[part]]
        apart = theta - whole[:, None]
        se[part] = np.sqrt((n_levels - 1) / n_levels * (apart * apart).sum(axis=1))
        centred = theta.mean(axis=1)[:, None] - theta
        squares = centred * centred
        skew[part] = (squares * centred).mean(axis=1) / squares.mean(axis=1) ** 1.5
    return se, skew


def seconds(work: Callable[[], Any], repeat: int = 3) -> float:
    """Return the best of a few timings, in seconds of the processor."""
    times = []
    for _ in range(repeat):
        begin = process_time()
        work()
        times.append(process_time() - begin)
    return min(times)


def bench_pairs() -> dict[str, float]:
    """Time all pairs of 1,000 teams x 200 units, and their ratio to the bare loop."""
    import pandas as pd

    from neuroarena.statistics import leave_out, verdicts

    rng = np.random.default_rng(2026)
    hardness = rng.normal(0, 1, (UNITS, 1))
    scores = hardness + rng.normal(np.arange(TEAMS) / 2_000, 0.5, (UNITS, TEAMS))
    table = pd.DataFrame(scores, columns=[f"team-{at:03d}" for at in range(TEAMS)])
    left_out = leave_out(table)
    order = np.argsort(-left_out.point)
    scores, point = left_out.scores[:, order], left_out.point[order]
    rows = verdicts(table)
    se, skew = bare_loop(scores, point)
    loop, whole = seconds(lambda: bare_loop(scores, point)), seconds(lambda: verdicts(table))
    return {
        "bare_loop_s": loop,
        "verdicts_s": whole,
        "verdicts_ratio": whole / loop,
        "largest_difference_of_se": float(np.abs(rows["se"].to_numpy() - se).max()),
        "largest_difference_of_skew": float(np.abs(rows["skew"].to_numpy() - skew).max()),
        "better_share": float((rows["verdict"] == "better").mean()),
    }


def bench_letters() -> dict[str, float]:
    """Time the letters of 300 teams and the rank ranges of 1,000."""
    import pandas as pd

    from neuroarena.statistics import letters, rank_ranges, verdicts

    rng = np.random.default_rng(7)
    table = pd.DataFrame(rng.normal(np.arange(TEAMS) / 20, 1.0, (UNITS, TEAMS)))
    rows, few = verdicts(table), verdicts(table.iloc[:, :300])
    return {
        "letters_of_300_teams_s": seconds(lambda: letters(few)),
        "rank_ranges_of_1000_teams_s": seconds(lambda: rank_ranges(rows)),
    }


def bench_several_factors() -> dict[str, float]:
    """Time a suite of 20 teams x 15 tasks x 12 sessions, and 50 models on 400 images x 168 neuroids."""
    import pandas as pd

    from neuroarena.statistics import cells_of_arrays, cells_of_table, crossed, judge

    rng = np.random.default_rng(11)
    table = pd.DataFrame(rng.normal(size=(TASKS * SESSIONS, ENTRIES)))
    tasks, sessions = np.divmod(np.arange(TASKS * SESSIONS), SESSIONS)
    models = {f"model-{at}": rng.normal(size=(IMAGES, NEUROIDS)) for at in range(MODELS)}

    def suite() -> pd.DataFrame:
        return judge(crossed(cells_of_table(table, tasks.tolist(), sessions.tolist(), ("tasks", "sessions"))))

    def images() -> pd.DataFrame:
        return judge(crossed(cells_of_arrays(models, ("images", "neuroids"))))

    return {"suite_s": seconds(suite), "images_by_neuroids_s": seconds(images)}


def bench_boards(teams: int = TEAMS, tracks: int = 5, units: int = 500) -> dict[str, float]:
    """Time a large board against the seed's rule (neighbours only), and a board of 20 teams x 15 tasks x 12 sessions.

    The aims are a ratio of 2.5 at most, and one second.
    """
    from bench.bench_board import make_entries
    from neuroarena.board import Board, Rules

    entries = make_entries(teams, tracks, units)
    seed = seconds(lambda: Board(entries, Rules(inference="seed")), repeat=1)
    whole = seconds(lambda: Board(entries, Rules()), repeat=1)
    suite = make_suite()
    return {
        "board_by_seeds_rule_s": seed,
        "board_by_verdicts_s": whole,
        "board_ratio": whole / seed,
        "suite_board_s": seconds(lambda: Board(suite, Rules())),
    }


def make_suite() -> list[Any]:
    """Make 20 teams on 15 tasks of one family, 12 sessions of 6 people each."""
    from dataclasses import replace

    from bench.bench_board import make_entries

    people = [f"person {at // 2}" for at in range(SESSIONS)]
    entries = []
    for entry in make_entries(ENTRIES, TASKS, SESSIONS):
        task = entry.benchmark.partition("@")[0]
        manifest = entry.manifest.replace(name=f"suite/{task}", cluster="person")
        scores = entry.unit_scores.assign(cluster=people)
        entries.append(replace(entry, benchmark=f"suite@1/{task}", manifest=manifest, unit_scores=scores))
    return entries


def main() -> dict[str, float]:
    """Run everything and return the figures."""
    return {**bench_pairs(), **bench_letters(), **bench_several_factors(), **bench_boards()}


if __name__ == "__main__":
    print(f"all {TEAMS * (TEAMS - 1) // 2} pairs of {TEAMS} teams x {UNITS} units; one BLAS thread")
    print(json.dumps({name: float(f"{value:.4g}") for name, value in main().items()}, indent=2))
