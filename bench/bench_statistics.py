"""Measure the bootstrap against a plain per-draw loop, and its peak memory.

The loop does what the published listing does: for each draw it asks the `confidence_intervals`
package for the indices, takes each team's mean, and sorts the teams. It is timed on a few hundred draws
and scaled to the full number, because all of them would take minutes; the package functions are timed on
all draws, ranks included. One BLAS thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (threads are set before NumPy starts)

TEAMS, UNITS, CLUSTERS, DRAWS = 50, 500, 50, 10_000
FIGURES = {
    "plain_fast_ratio": (
        "bootstrap of 50 teams x 500 units x 10,000 draws, fast, times as fast as a loop",
        "at least",
        60,
    ),
    "plain_exact_ratio": ("the same, exact", "at least", 20),
    "clustered_fast_ratio": ("the same with clusters, fast", "at least", 60),
    "clustered_exact_ratio": ("the same with clusters, exact", "at least", 20),
    "memory_peak_mb": ("peak memory of 200 teams x 2,000 units x 10,000 draws, MB", "at most", 1_000),
}
RUNS = 3
LOOP_DRAWS = {"plain": 300, "clustered": 100}

MEMORY_TRIAL = """
import numpy as np
from neuroarena.statistics import bootstrap

def peak():
    # Not getrusage: its peak is inherited from the process that started this one.
    with open("/proc/self/status") as status:
        return next(line.split()[1] for line in status if line.startswith("VmHWM"))

before = peak()
scores = np.random.default_rng(0).normal(size=(200, 2000))
bootstrap({f"team-{at:03d}": row for at, row in enumerate(scores)}, n_draws=10_000)
print(before, peak())
"""


def plain_loop(unit_scores: dict[str, np.ndarray], clusters: np.ndarray | None, n_draws: int) -> np.ndarray:
    """Draw, average and sort, one draw and one team at a time; return scores (draws, teams)."""
    from confidence_intervals import get_bootstrap_indices

    teams = list(unit_scores)
    n_units = len(unit_scores[teams[0]])
    scores = {team: np.empty(n_draws) for team in teams}
    places = {team: np.empty(n_draws, dtype=int) for team in teams}
    for draw in range(n_draws):
        drawn = get_bootstrap_indices(n_units, conditions=clusters, random_state=draw)
        means = {team: float(np.mean(np.asarray(values)[drawn])) for team, values in unit_scores.items()}
        for place, team in enumerate(sorted(teams, key=lambda name: means[name], reverse=True), start=1):
            scores[team][draw] = means[team]
            places[team][draw] = place
    return np.column_stack([scores[team] for team in teams])


def seconds(work: Callable[[], Any], repeat: int = 3) -> float:
    """Give the best of a few timings."""
    times = []
    for _ in range(repeat):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times)


def bench_speed() -> dict[str, float]:
    """Time both methods, plain and clustered, and give their ratios to the loop."""
    from neuroarena.statistics import bootstrap, ranks

    rng = np.random.default_rng(2026)
    unit_scores = {f"team-{at:02d}": rng.normal(at / 500, 1, UNITS) for at in range(TEAMS)}
    labels = {"plain": None, "clustered": np.sort(rng.integers(0, CLUSTERS, UNITS))}
    figures: dict[str, float] = {}
    for kind, clusters in labels.items():
        few = LOOP_DRAWS[kind]
        expected = plain_loop(unit_scores, clusters, few)  # also imports the package, outside the timing

        def loop_work(clusters: np.ndarray | None = clusters, few: int = few) -> np.ndarray:
            return plain_loop(unit_scores, clusters, few)

        loop = seconds(loop_work) * DRAWS / few
        figures[f"{kind}_loop_s_scaled"] = loop
        for method in ("fast", "exact"):

            def work(method: str = method, clusters: np.ndarray | None = clusters) -> np.ndarray:
                return ranks(bootstrap(unit_scores, DRAWS, clusters, method), ties="order")

            took = seconds(work)
            figures[f"{kind}_{method}_s"] = took
            figures[f"{kind}_{method}_ratio"] = loop / took
        exact = bootstrap(unit_scores, few, clusters, "exact").scores
        figures[f"{kind}_exact_largest_difference"] = float(np.abs(exact - expected).max())
    return figures


def bench_pairs() -> dict[str, float]:
    """Time every pair of 200 teams on 10,000 draws."""
    from neuroarena.statistics import bootstrap, compare

    rng = np.random.default_rng(0)
    draws = bootstrap({at: rng.normal(size=100) for at in range(200)}, DRAWS)
    return {"all_pairs_of_200_teams_s": seconds(lambda: compare(draws, "all"), repeat=1)}


def bench_memory() -> dict[str, float]:
    """Measure the peak of 200 teams x 2,000 units x 10,000 draws in a fresh process, in MB."""
    done = subprocess.run([sys.executable, "-c", MEMORY_TRIAL], check=True, capture_output=True, text=True)
    before, peak = (int(number) / 1024 for number in done.stdout.split())
    return {"memory_imports_mb": before, "memory_peak_mb": peak}


def main() -> dict[str, float]:
    """Run everything and return the figures."""
    return {**bench_speed(), **bench_pairs(), **bench_memory()}


if __name__ == "__main__":
    print(f"{TEAMS} teams x {UNITS} units x {DRAWS} draws, {CLUSTERS} clusters; one BLAS thread")
    print(f"the loop is timed on {LOOP_DRAWS} draws and scaled; every timing is the best of three")
    print(json.dumps({name: float(f"{value:.4g}") for name, value in main().items()}, indent=2))
