"""The page of the challenge: its clauses name tests that exist, and its numbers are those of the real board."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from neuroarena.families.eeg2025 import FAMILY, read_final_board, summary
from shared_data import SHARED

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "eeg2025.md"
BOARD = SHARED / "data" / "eeg2025" / "final_board.csv"
CITED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
MARKS = ("held", "differs (", "not held yet (")


def board_lines() -> list[str]:
    """Say what the board hid, from the importer's own numbers."""
    table = read_final_board(BOARD)
    facts = summary(table)
    beats, shared, best = facts["beats_constant"], facts["shared_values"], facts["best"]
    accounts = [len(own) for own in facts["teams_with_several_accounts"].values()]
    late = ", ".join(str(entry["rank"]) for entry in facts["late"])
    first, second = table["overall"].iloc[:2]
    rank = {name: int(table.loc[table[name].idxmin(), "rank"]) for name in ("challenge1", "challenge2")}
    return [
        "* **Most entries are no better than a constant.** Always answering the mean scores 1: of "
        f"{facts['n']} accounts {beats['overall']} beat it overall, {beats['challenge1']} on challenge 1 and "
        f"{beats['challenge2']} on challenge 2; {facts['constant_challenge2']} have a challenge 2 within 0.0001 of it. "
        f"The worst overall is {facts['worst_overall']:.5f}.",
        "* **The gap at the top is small, and nothing says whether it is real.** First and second are "
        f"{facts['gap_first_second']:.5f} apart ({first:.5f} and {second:.5f}); the best challenge 1 "
        f"({best['challenge1']:.5f}) and the best challenge 2 ({best['challenge2']:.5f}) are those of ranks "
        f"{rank['challenge1']} and {rank['challenge2']}.",
        f"* **Ties at five decimals.** {shared['challenge2']} rows share their challenge 2 with another, "
        f"{shared['challenge1']} their challenge 1, {shared['overall']} their overall score; a sorted list shows them "
        "in an order all the same.",
        f"* **Late entries.** {facts['n_late']} rows are dated after the deadline ({facts['deadline'][:16]} UTC), at "
        f"ranks {late}. Some are re-runs by the organisers, whose first date is lost.",
        f"* **Several accounts of one team.** {facts['rows_with_team']} rows name a team, and there are "
        f"{facts['teams_named']} names: {len(accounts)} teams have {sum(accounts)} accounts, one of them "
        f"{max(accounts)}. Caps were counted by account.",
    ]


@cache
def rows() -> tuple[tuple[str, ...], ...]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| \d\.\d", line)]
    return tuple(tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines)


@cache
def functions(path: str) -> frozenset[str]:
    return frozenset(re.findall(r"^\s*def (test_\w+)\(", (ROOT / path).read_text(encoding="utf-8"), re.M))


def test_every_test_the_page_names_exists():
    cited = CITED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(cited) > 35
    assert [f"{path}::{name}" for path, name in cited if name not in functions(path)] == []


def test_every_clause_has_a_section_a_preset_and_a_test_unless_it_is_not_held():
    assert {row[0][:3] for row in rows()} == {"1.2", "1.3", "1.4", "2.1"}
    for row in rows():
        assert len(row) == 4, row
        assert row[3] == "held" or row[3].startswith(MARKS[1:]), row
        assert bool(CITED.search(row[2])) != row[3].startswith("not held"), row


def test_the_page_counts_its_marks():
    counts = [sum(row[3].startswith(mark) for row in rows()) for mark in MARKS]
    assert "**{} held, {} differ, {} not held yet.**".format(*counts) in PAGE.read_text(encoding="utf-8")


def test_the_page_names_every_task_and_definition():
    text = PAGE.read_text(encoding="utf-8")
    for name in (*FAMILY.tasks("as-scored"), "@as-scored", "@as-described", "@zero-shot"):
        assert f"`{name}`" in text or f"`eeg2025{name}`" in text, name


@pytest.mark.skipif(not BOARD.is_file(), reason="the real board is not beside the project")
def test_what_the_board_hid_is_told_in_the_importer_s_own_numbers():
    text = PAGE.read_text(encoding="utf-8")
    for line in board_lines():
        assert line in text
