"""The page of track 1: the tests it names exist, and its figures are those of the manifest."""

from __future__ import annotations

import re
from pathlib import Path

from neuroarena.families.img import FAMILY

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "track-img.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)
    assert len(named) >= 25
    for file, name in named:
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.M), (
            f"{file}::{name}"
        )


def test_every_trap_and_every_clause_has_its_test() -> None:
    for head in ("## Traps", "## The seed, clause by clause"):
        body = PAGE.partition(head)[2].partition("\n## ")[0]
        rows = [line for line in body.splitlines() if line.startswith("| ")][1:]
        assert len(rows) >= 8
        assert all("::test_" in row for row in rows)


def test_the_figures_of_the_card_are_those_of_the_manifest() -> None:
    manifest = FAMILY.manifest("things-eeg2", "2026")
    assert f"{manifest.caps['vector_length']} numbers" in PAGE
    assert f"5 / 200 = {manifest.chance}" in PAGE
    assert f"half width aimed at is {manifest.nu}" in PAGE
    assert f"spread by {manifest.sigma}" in PAGE
    assert manifest.prediction_columns == ("embedding",)
