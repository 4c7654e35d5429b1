"""``make bench``: measure, print, and keep the figures in bench-results/."""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import platform
from pathlib import Path

BENCHES = (
    "bench_start",
    "bench_features",
    "bench_storage",
    "bench_cells",
    "bench_statistics",
    "bench_verdicts",
    "bench_board",
    "bench_scoring",
    "bench_competition",
    "bench_server",
    "bench_sandbox",
    "bench_brainscore",
    "bench_eeg2025",
    "bench_neuroprobe",
    "bench_maps",
)


def main() -> None:
    """Run the benches that were named, or all, and keep their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="benches to run; by default all")
    chosen = parser.parse_args().names or BENCHES
    folder = Path("bench-results")
    folder.mkdir(exist_ok=True)
    for name in chosen:
        print(f"== {name}", flush=True)
        figures = importlib.import_module(f"bench.{name}").main()
        stamp = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        record = {"bench": name, "time": stamp, "machine": platform.machine(), "figures": figures}
        with open(folder / "figures.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(figures, indent=2), flush=True)


if __name__ == "__main__":
    main()
