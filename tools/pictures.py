"""Draw the pictures of docs/maps.md anew: `make pictures`. The same map, the same pictures."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from neuroarena.maps import simulate_grid
from neuroarena.maps.page import write_map_page

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
# Picture of the page -> picture of the documentation.
SHOWN = {
    "time-courses": "maps-time-courses",
    "order": "maps-order",
    "task01-cortex": "maps-cortex",
    "task01-glass": "maps-glass",
    "task01-film": "maps-film",
    "task01-regions-dk": "maps-regions",
    "task01-bins-dk": "maps-region-bins",
}
SEED = 0


def draw(folder: Path) -> list[Path]:
    """Draw all pictures into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as workshop:
        write_map_page(simulate_grid(SEED), workshop)
        return [
            Path(shutil.copy(Path(workshop, "figures", f"{name}.png"), folder / f"{shown}.png"))
            for name, shown in SHOWN.items()
        ]


if __name__ == "__main__":
    for path in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES):
        print(path)
