"""The tables of docs/statistics.md, simulated: what the drills assert is what a reader sees."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
from inference_simulations import (
    DISTRIBUTIONS,
    called_different_by_medians,
    coverage_of_clusters,
    coverage_of_means,
    coverage_of_percentiles,
    coverage_of_units_as_if_independent,
    exchangeable_called_different,
    false_alarms,
    false_alarms_of_the_seed,
    rsa_called_different,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"
UNITS = (6, 12, 30, 200)
# Images, neuroids and repetitions: shares of 5 % are known to 0.9 %. In runs of 1,500 to 2,500 repetitions images and
# neuroids together called 6.5, 6.5, 6.1 and 4.5 % different in rows 1, 3, 4 and 5.
MODELS = ((400, 24, 600), (400, 168, 600), (200, 60, 600), (100, 60, 600), (60, 60, 600))
MEDIANS = ((400, 24, 250), (200, 60, 250), (100, 60, 250), (60, 60, 250))
RSA = ((30, 8), (60, 20), (92, 12))
WEIGHTS = {4: "subjects differ", 16: "subjects alike"}
SEED, OURS = "seed's rule", "verdicts"


def coverage() -> pd.DataFrame:
    """Return how often 95 % intervals cover, by number of units and distribution of differences."""
    rows = {}
    for n_units in UNITS:
        rows[f"{n_units} units, {SEED}"] = [coverage_of_percentiles(name, n_units) for name in DISTRIBUTIONS]
        rows[f"{n_units} units, {OURS}"] = [coverage_of_means(name, n_units) for name in DISTRIBUTIONS]
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(DISTRIBUTIONS))


def people() -> pd.DataFrame:
    """Return how often 95 % intervals cover with 12 people of 10 units each."""
    rows = {
        "units as if independent": [coverage_of_units_as_if_independent(icc) for icc in (0.1, 0.5)],
        f"people as levels, {OURS}": [
            coverage_of_clusters(12, (10, 10), icc, "normal") for icc in (0.1, 0.5)
        ],
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["ICC 0.1", "ICC 0.5"])


def alarms() -> pd.DataFrame:
    """Return on how many boards of 20 equal teams someone is called worse."""
    rows = {
        f"{SEED}, leader against each": [false_alarms_of_the_seed(20, n_units) for n_units in (12, 50)],
        f"{OURS}, all pairs": [false_alarms(20, n_units) for n_units in (12, 50)],
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["12 units", "50 units"])


def models() -> pd.DataFrame:
    """Return how often two equally good models of vision are called different."""
    rows = {
        f"{images} x {neuroids}": list(exchangeable_called_different(images, neuroids, repetitions))
        for images, neuroids, repetitions in MODELS
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["neuroids alone", "images and neuroids"])


def medians() -> pd.DataFrame:
    """Return how often two equally good models are called different by the median over neuroids."""
    rows = {
        f"{images} x {neuroids}": list(called_different_by_medians(images, neuroids, repetitions))
        for images, neuroids, repetitions in MEDIANS
    }
    return pd.DataFrame.from_dict(
        rows, orient="index", columns=["correlations in every draw", "what each image adds, as on boards"]
    )


def dissimilarities() -> pd.DataFrame:
    """Return how often two equally good models are called different by representational similarity."""
    rows = {
        f"{images} x {subjects}, {words}": list(rsa_called_different(images, subjects, shape))
        for shape, words in WEIGHTS.items()
        for images, subjects in RSA
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["subjects alone", "images and subjects"])


TABLES = {
    "coverage": coverage,
    "people": people,
    "alarms": alarms,
    "models": models,
    "medians": medians,
    "dissimilarities": dissimilarities,
}


def markdown(table: pd.DataFrame) -> str:
    """Write shares as percentages in a Markdown table."""
    head = ["| % | " + " | ".join(map(str, table.columns)) + " |", "|---" * (1 + table.shape[1]) + "|"]
    body = [
        f"| {name} | " + " | ".join(f"{100 * share:.1f}" for share in row) + " |"
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    return "\n".join(head + body)


def place(name: str) -> re.Pattern[str]:
    """Return where a table stands on the page: from its mark to the next empty line."""
    return re.compile(rf"(<!-- simulated: {name} -->\n)(.*?)(?=\n\n)", re.S)


def printed(name: str) -> pd.DataFrame:
    """Read a table from the page, as shares."""
    found = place(name).search(PAGE.read_text(encoding="utf-8"))
    assert found, f"docs/statistics.md has no table {name}"
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[2].splitlines()]
    rows = {cells[0]: [float(cell) / 100 for cell in cells[1:]] for cells in lines[2:]}
    return pd.DataFrame.from_dict(rows, orient="index", columns=lines[0][1:])


def write(name: str) -> None:
    """Simulate a table and write it into the page."""
    text = markdown(TABLES[name]())
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(place(name).sub(lambda found: found[1] + text, page), encoding="utf-8")
