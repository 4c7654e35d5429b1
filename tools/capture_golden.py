"""Write tests/golden/benchmarks.json anew: what every benchmark says on its tiny twin.

Run it only when a number is meant to change, and name the benchmarks in CHANGELOG.md; read the diff before you commit.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tools/capture_golden.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from golden_capture import GOLDEN, capture_everything, write_golden

if __name__ == "__main__":
    write_golden(capture_everything(lambda step: print(step, file=sys.stderr)))
    print(GOLDEN)
