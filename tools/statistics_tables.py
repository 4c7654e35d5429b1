"""Write the tables of docs/statistics.md anew, from the simulations of the drills: about two minutes.

Run: python tools/statistics_tables.py [coverage people alarms models]. A drill fails when a table differs
from what its simulation says.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "statistics"))

from inference_tables import TABLES, write

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        print(f"{name} ...", flush=True)
        write(name)
