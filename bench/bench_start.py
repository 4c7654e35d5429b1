"""Measure how long a user waits for the first words: ``neuroarena --help`` and ``import neuroarena``."""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter

FIGURES = {
    "help_s": ("`neuroarena --help`, best of seven, s", "at most", 0.5),
    "import_neuroarena_s": ("`import neuroarena`, s", "", None),
    "bare_python_s": ("an interpreter that does nothing, s", "", None),
}
REPEATS = 7


def seconds(*words: str) -> float:
    """Best wall time of a command over a few repeats."""
    times = []
    for _ in range(REPEATS):
        started = perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        times.append(perf_counter() - started)
    return round(min(times), 3)


def main() -> dict[str, float]:
    """Give the figures."""
    return {
        "bare_python_s": seconds("-c", "pass"),
        "import_neuroarena_s": seconds("-c", "import neuroarena"),
        "help_s": seconds("-m", "neuroarena", "--help"),
        "help_aim_s": 0.5,
    }


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
