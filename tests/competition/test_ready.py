"""Ready competitions: brought by families, valid as they are, with what is missing listed before opening."""

from __future__ import annotations

import json

import pytest

from command_line import neuroarena_in
from neuroarena.benchmarks import resolve
from neuroarena.competition.configuration import read_competition
from neuroarena.competition.ready import list_ready
from neuroarena.competition.times import format_aoe


def test_the_2026_challenge_has_the_tracks_dates_caps_and_rules_of_its_page():
    challenge = read_competition(list_ready()["challenge2026"])
    assert [track.title for track in challenge.tracks] == [
        "EEG-to-IMG",
        "BCI decoding",
        "Sleep onset",
        "EMG-to-Text",
        "Foundation transfer",
    ]
    assert [track.sponsor for track in challenge.tracks][:4] == [
        "Alljoined",
        "Meta FAIR Brain & AI",
        "InteraXon",
        "Meta Reality Labs",
    ]
    assert challenge.track("transfer").constraint == "Single shared encoder"
    warm_up, sealed = challenge.phases
    assert (warm_up.per_day, sealed.per_day) == (None, 5)
    assert (format_aoe(sealed.start), format_aoe(sealed.end)) == (
        "2026-08-01 00:00:00 AoE",
        "2026-09-02 00:00:00 AoE",
    )
    assert (challenge.final.rule, challenge.audit.first, challenge.timetable.board_minutes) == (
        "best-of-last-5",
        3,
        15,
    )
    assert challenge.track("sleep").kinds_in("warm-up") == ("predictions", "code", "pipeline")
    assert challenge.track("sleep").kinds_in("sealed") == ("code", "pipeline")


@pytest.mark.parametrize("name", sorted(list_ready()))
def test_the_benchmarks_of_a_ready_competition_exist(name):
    for track in read_competition(list_ready()[name]).tracks:
        assert resolve(track.benchmark)[2]


@pytest.mark.parametrize("name", sorted(list_ready()))
def test_what_a_ready_competition_shows_of_sealed_people_wins_nothing_in_its_final_ranking(name):
    competition = read_competition(list_ready()[name])
    assert competition.final_phase.sealed
    assert competition.final_phase.display == "blind" or competition.halves is not None
    assert competition.final.select_on == "public"


@pytest.mark.parametrize("name", sorted(list_ready()))
def test_a_ready_competition_is_valid_and_says_what_is_missing_before_opening(tmp_path, name):
    assert neuroarena_in(tmp_path, "admin", "init", "arena", "--from", name).returncode == 0
    said = neuroarena_in(tmp_path, "admin", "check", "arena")
    assert said.returncode == 0, said.stderr
    assert "the configuration is valid" in said.stdout
    assert "the step is known once a baseline ran" in said.stdout
    assert "Before opening:" in said.stdout
    told = json.loads(neuroarena_in(tmp_path, "admin", "check", "arena", "--json").stdout)
    assert any("has no truth yet" in sentence for sentence in told["before_opening"])
    assert any("run under one user here" in sentence for sentence in told["before_opening"])
    refused = neuroarena_in(tmp_path, "admin", "open", "arena", "--accept-one-user")
    assert refused.returncode == 2
    assert "cannot open yet" in refused.stderr


def test_an_unknown_ready_competition_is_named_with_the_closest(tmp_path):
    said = neuroarena_in(tmp_path, "admin", "init", "arena", "--from", "challenge2025")
    assert said.returncode == 2
    assert "challenge2026" in said.stderr
    assert not (tmp_path / "arena").exists()
