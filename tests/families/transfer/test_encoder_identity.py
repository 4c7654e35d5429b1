"""The weights identity check, on entries made by hand."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from entry_making import make_entry
from neuroarena.board import Board, Entry, Rules
from neuroarena.families.transfer import void_changed_encoders

DAY = datetime.datetime(2026, 8, 1, tzinfo=datetime.UTC)
TASKS = ("img", "bci", "sleep", "emg")


def entry(team: str, task: str, weights: str | None, hours: int = 0, **changes: object) -> Entry:
    made = make_entry(team, [0.5, 0.7], task=task)
    return dataclasses.replace(
        made,
        benchmark=f"transfer@2026/{task}",
        time=DAY + datetime.timedelta(hours=hours),
        provenance={**made.provenance, "encoder_weights": weights},
        **changes,
    )


def reasons(entries: list[Entry], **options: object) -> list[str | None]:
    return [each.reason for each in void_changed_encoders(entries, **options)]


def test_one_hash_on_all_tracks_passes():
    assert reasons([entry("a", task, "11") for task in TASKS]) == [None] * 4


def test_one_other_hash_voids_all_entries_of_the_team_and_nobody_elses():
    entries = [entry("a", task, "22" if task == "emg" else "11") for task in TASKS]
    entries += [entry("b", task, "33") for task in TASKS]
    said = reasons(entries)
    assert all("22 on emg, 11 on img" in str(reason) for reason in said[:4])
    assert said[4:] == [None] * 4


def test_other_weights_on_the_same_track_void_too():
    assert None not in reasons([entry("a", "img", "11"), entry("a", "img", "22", hours=1)])


def test_a_missing_hash_voids_that_entry_only():
    said = reasons([entry("a", "img", "11"), entry("a", "bci", None)])
    assert said[0] is None
    assert "no hash" in str(said[1])


@pytest.mark.parametrize("changes", [{"role": "chance"}, {"reason": "the run is not complete"}])
def test_floors_and_failed_runs_neither_void_nor_are_voided(changes):
    entries = [entry("a", "img", "11"), entry("a", "bci", "22", **changes)]
    assert reasons(entries) == [None, changes.get("reason")]


def test_other_benchmarks_are_left_alone():
    entries = [make_entry("a", [0.5], task="onset"), make_entry("a", [0.5], task="speech")]
    assert void_changed_encoders(entries) == entries


def test_a_board_of_an_earlier_time_stays_as_it_was():
    entries = [entry("a", task, "11") for task in TASKS] + [entry("a", "emg", "22", hours=5)]
    before = Board(entries, Rules(n_draws=100, as_of=DAY + datetime.timedelta(hours=1)))
    after = Board(entries, Rules(n_draws=100))
    assert all(list(ranking.table["team"]) == ["a"] for ranking in before.rankings)
    assert all(ranking.table.empty for ranking in after.rankings)


def test_a_board_of_encoders_shows_the_hash_of_their_weights():
    entries = [entry("a", "img", "0123456789abcdef"), entry("b", "img", None, role="chance")]
    ranking = Board(entries, Rules(n_draws=100)).rankings[0]
    shown = ranking.table.set_index("team")["encoder_weights"]
    assert shown.dropna().to_dict() == {"a": "0123456789ab"}
