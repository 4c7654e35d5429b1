"""Write tests/golden/benchmarks.json anew: what every benchmark says on its tiny twin, or only those of some datasets.

Run it only when a number is meant to change, and name the benchmarks in CHANGELOG.md; read the diff before you commit.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tools/capture_golden.py [DATASET ...]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from golden_capture import (
    GOLDEN,
    brainscore_names,
    brainscore_twin,
    capture_benchmark,
    capture_comparison,
    capture_everything,
    capture_files,
    capture_machine,
    write_golden,
)
from track_twins import dataset_of, twin


def say(step: str) -> None:
    """Print a step as it begins."""
    print(step, file=sys.stderr)


def capture_again(datasets: list[str]) -> dict[str, Any]:
    """Return the golden capture with the twins of some datasets, and their benchmarks, captured anew."""
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    machine = capture_machine()
    # Bytes can be compared on one kind of machine only, scores on any: on another one the bytes of all twins are new.
    renewed = datasets if machine == found["machine"] else list(found["twins"])
    found["machine"] = machine
    for dataset in renewed:
        made = brainscore_twin() if dataset == "brainscore_vision" else twin(dataset)
        found["twins"][dataset] = capture_files(made)
    for name in [name for name in found["benchmarks"] if dataset_of(name) in datasets]:
        say(name)
        found["benchmarks"][name] = capture_benchmark(name)
    if "brainscore_vision" in datasets:
        for name, model in brainscore_names():
            say(f"{name} {model}")
            found["brainscore"].setdefault(name, {})[model] = capture_comparison(
                name, model, brainscore_twin()
            )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "datasets", nargs="*", metavar="DATASET", help="such as sleep_edf; by default everything"
    )
    asked = parser.parse_args().datasets
    write_golden(capture_again(asked) if asked else capture_everything(say))
    print(GOLDEN)
