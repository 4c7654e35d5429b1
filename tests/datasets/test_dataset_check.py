"""check_dataset: every registered dataset passes, and each point fails where it should."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuroarena.datasets import DATASETS, Dataset, Problem, check_dataset, load_dataset
from neuroarena.datasets.folder import DatasetFolder
from neuroarena.datasets.twin_folder import write_twin

QUICK = ("bci_commands", "things_eeg2")
SLOW = [name for name in DATASETS.names() if name not in QUICK]
OPTIONS = {"people": "how many (default 2)", "seed": "of all chance (default 0)"}


def simulate(root: str | Path, *, people: int = 2, seed: int = 0) -> dict[str, Any]:
    def write(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
        rng = np.random.default_rng(options["seed"])
        for person in range(options["people"]):
            np.save(folder / f"person{person}.npy", rng.standard_normal((2, 10 + 90 * person)))
        return {}

    return write_twin(root, "the hum", 1, {"people": people, "seed": seed}, write)


def verify(root: str | Path) -> list[Problem]:
    folder, problems = DatasetFolder(root), []
    for path in sorted(folder.root.glob("*.npy")):
        try:
            np.load(path)
        except ValueError as error:
            problems.append(Problem(path.name, str(error)))
    return problems


HUM = Dataset(
    "hum", "Hum", "CC0 1.0", "People hum.", "nowhere", ("HUM",), DatasetFolder, simulate, verify, OPTIONS
)


def failed(dataset: Dataset) -> list[str]:
    return [check.name for check in check_dataset(dataset) if not check.passed]


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(n, marks=pytest.mark.drill) for n in DATASETS.names() if n not in QUICK)]
)
def test_every_registered_dataset_passes(name: str) -> None:
    assert failed(load_dataset(name)) == []


def test_a_good_dataset_passes() -> None:
    assert failed(HUM) == []


def careless(root: str | Path, *, people: int = 2, seed: int = 0) -> dict[str, Any]:
    """Write over whatever is there, with chance that no seed rules."""
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    np.save(root / "person0.npy", np.random.default_rng().standard_normal(100))
    card = {"simulated": True, "files": {"person0.npy": 928}}
    (root / "simulated.json").write_text(json.dumps(card))
    return card


def broken(root: str | Path, *, people: int = 2, seed: int = 0) -> dict[str, Any]:
    raise OSError("the disk is full")


FLAWS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no licence": ({"licence": " "}, ["it says what it is, where it comes from and under which licence"]),
    "no variable": ({"environment": ()}, ["its folder can be named by an environment variable"]),
    "an option untold": (
        {"simulate_options": {"seed": "of all chance"}},
        ["every option of the twin is explained, the seed among them"],
    ),
    "no twin": (
        {"simulate": broken},
        ["simulate writes a twin and returns its card"],
    ),
    "a careless twin": (
        {"simulate": careless},
        [
            "a twin that is current is left as it is",
            "the same seed gives the same files",
            "a folder that holds something else is left alone",
        ],
    ),
    "a reader of anything": (
        {"open": Path},
        [
            "its reader opens the twin and says that it is simulated",
            "a folder that is not there is refused",
        ],
    ),
    "a verifier of everything": (
        {"verify": lambda root: [Problem("x", "is wrong")]},
        ["verify finds nothing wrong in the twin", "verify names a file that is cut short"],
    ),
    "a verifier of nothing": (
        {"verify": lambda root: []},
        ["a folder that is not there is refused", "verify names a file that is cut short"],
    ),
}


@pytest.mark.parametrize(("change", "points"), FLAWS.values(), ids=FLAWS.keys())
def test_each_flaw_is_found_by_its_own_point(change: dict[str, Any], points: list[str]) -> None:
    assert failed(dataclasses.replace(HUM, **change)) == points
