"""Measure a large board: 1,000 teams x 5 tracks x 500 units x 10,000 draws, rendered with all plots.

One process, one BLAS thread. The aim is 15 seconds from entries to the HTML page; making the entries is
not counted. Prints a JSON object of figures.
"""

from __future__ import annotations

import datetime
import json
import os
import resource
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402 - after the threads are capped
import pandas as pd  # noqa: E402

if TYPE_CHECKING:
    from neuroarena.board import Entry

FIGURES = {
    "total_cpu_s": (
        "board of 1,000 teams x 5 tracks x 500 units with its page and plots, s of processor",
        "at most",
        15.0,
    ),
    "total_s": ("the same, s of the clock", "", None),
    "report_mb": ("size of the page, MB", "", None),
    "peak_memory_mb": ("peak memory, MB", "", None),
}
RUNS = 2
TEAMS, TRACKS, UNITS, DRAWS = 1_000, 5, 500, 10_000


def make_entries(teams: int = TEAMS, tracks: int = TRACKS, units: int = UNITS) -> list[Entry]:
    """Make one entry a team and track, each on the same units."""
    from neuroarena.board import Entry
    from neuroarena.scoring import Manifest

    rng = np.random.default_rng(0)
    time = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    names = [f"unit-{at:04d}" for at in range(units)]
    skill = rng.normal(0.7, 0.05, teams)
    entries = []
    for track in range(tracks):
        manifest = Manifest(
            name=f"track{track}/decode",
            definition="1",
            title=f"Track {track}",
            question="How well is it decoded?",
            metric="balanced_accuracy",
            prediction="label",
            classes=("rest", "move"),
            unit="session",
            split_rule="by subject",
            nu=0.01,
            chance=0.5,
            licence="none: simulated",
        )
        hardness = rng.normal(0, 0.1, units)
        for team in range(teams):
            scores = np.clip(skill[team] + hardness + rng.normal(0, 0.08, units), 0, 1)
            table = pd.DataFrame({"unit": names, "fold": "test", "cluster": names, "n": 50, "score": scores})
            known = {"run_key": f"{track}-{team}", "scorer_version": "1", "split_hash": f"{track:064d}"}
            entries.append(
                Entry(
                    f"team-{team:04d}",
                    f"track{track}@1/decode",
                    "test",
                    manifest,
                    table,
                    time,
                    simulated=True,
                    provenance=known,
                )
            )
    return entries


def main(
    teams: int = TEAMS, tracks: int = TRACKS, units: int = UNITS, draws: int = DRAWS
) -> dict[str, float]:
    """Rank, render, and return the figures."""
    from neuroarena.board import Board, Rules, write_report

    entries = make_entries(teams, tracks, units)
    begin, begin_cpu = perf_counter(), process_time()
    board = Board(entries, Rules(n_draws=draws))
    ranked = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write_report(board, path)
        size = path.stat().st_size
    done = perf_counter()
    return {
        "teams": teams,
        "tracks": tracks,
        "units": units,
        "draws": draws,
        "rank_s": round(ranked - begin, 2),
        "render_s": round(done - ranked, 2),
        "total_s": round(done - begin, 2),
        "total_cpu_s": round(process_time() - begin_cpu, 2),
        "aim_s": 15,
        "report_mb": round(size / 1e6, 2),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
