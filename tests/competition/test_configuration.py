"""The competition file: every mistake is named, times have zones."""

from __future__ import annotations

import datetime

import pytest

from arena_making import FILE
from neuroarena.competition.configuration import read_competition
from neuroarena.competition.times import format_aoe, format_utc, parse_time
from neuroarena.errors import InputError

MISTAKES = {
    "no zone": ('"2026-03-01 00:00 UTC"', '"2026-03-01 00:00"', "is not a time with a zone"),
    "a naive TOML time": ('"2026-03-01 00:00 UTC"', "2026-03-01T00:00:00", "has no zone"),
    "ends before it starts": ('"2026-03-20 00:00 UTC"', '"2026-03-09 12:00 UTC"', "ends before it starts"),
    "overlap": (
        '"2026-03-10 00:00 UTC"',
        '"2026-03-08 00:00 UTC"',
        '"sealed" starts before "warm-up" has ended',
    ),
    "full scores of sealed truth": (
        'display = "ladder"\nstep = 0.02',
        'display = "full"',
        "which reveal labels",
    ),
    "a public ladder without a step": (
        "sealed = true",
        "sealed = false\nstepp = 1",
        'phases.1.stepp: there is no such key; did you mean "step"? (of "sealed")',
    ),
    "a step without a ladder": ('display = "ladder"', 'display = "blind"', 'belongs to display = "ladder"'),
    "unknown key": ("per_day = 2", "per_day = 2\ncap = 3", "phases.1.cap: there is no such key"),
    "a kind that is not scored": (
        'benchmark = "bci/commands"',
        'benchmark = "bci/commands"\nkinds = ["pipeline"]',
        "takes only pipelines",
    ),
    "pipelines without an audit": (
        'benchmark = "bci/commands"',
        'benchmark = "bci/commands"\nkinds = ["code", "pipeline"]',
        "which only an [audit] replays",
    ),
    "a file for a suite": ('benchmark = "bci/commands"', 'benchmark = "bci"', 'takes kinds = ["code"]'),
    "a board frozen too late": (
        "per_day = 2",
        'per_day = 2\nfrozen_from = "2026-03-21 00:00 UTC"',
        "freezes its board outside its own time",
    ),
    "order in time by hand": (
        "per_day = 2",
        "per_day = 2\n[final]\nrule = 'best-of-last-0'",
        '"best-of-last-0" is not a rule',
    ),
    "final phase": ("per_day = 2", "per_day = 2\n[final]\nphase = 'end'", 'final: there is no phase "end"'),
    "label range": (
        'benchmark = "bci/commands"',
        'benchmark = "bci/commands"\nlabel_range = [3, 1]',
        "must name the lower end first",
    ),
    "label range of a part": (
        'benchmark = "bci/commands"',
        'benchmark = "bci/commands"\nlabel_range = { speed = [3, 1] }',
        "label_range of speed must name the lower end first",
    ),
    "one label range of several parts": (
        'benchmark = "bci/commands"',
        'benchmark = "bci"\nkinds = ["code"]\nlabel_range = [1, 3]',
        "whose parts have labels of their own",
    ),
    "zero attempts": ("per_day = 2", "per_day = 0", "phases.1.per_day: Input should be greater than"),
    "track of a phase": (
        "per_day = 2",
        'per_day = 2\ntracks = ["img"]',
        'names the track "img", which does not exist',
    ),
    "sealed questions shown elsewhere": (
        '[tracks.sheets.sealed]\nsplit = "sealed"\n',
        "",
        '"warm-up" shows scores of the questions that "sealed" seals',
    ),
    "a sheet for no phase": ("sheets.sealed", "sheets.final", 'for the phase "final", which does not exist'),
    "two of a name": ('name = "sealed"', 'name = "warm-up"', 'two phases are called "warm-up"'),
    "a sponsor that is a script": (
        'benchmark = "bci/commands"',
        'benchmark = "bci/commands"\nsponsor_url = "javascript:alert(1)"',
        "tracks.0.sponsor_url: String should match pattern",
    ),
    "not TOML": ('name = "spring"', 'name = "spring', "this is not TOML"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_competition_file_is_named(tmp_path, mistake):
    before, after, sentence = MISTAKES[mistake]
    assert before in FILE
    (tmp_path / "c.toml").write_text(FILE.replace(before, after))
    with pytest.raises(InputError) as refused:
        read_competition(tmp_path / "c.toml")
    assert str(refused.value).startswith("c.toml: ")
    assert sentence in str(refused.value)


def test_all_mistakes_are_named_at_once(tmp_path):
    text = FILE.replace('title = "Commands"\n', "").replace("per_day = 2", "per_day = 0")
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        read_competition(tmp_path / "c.toml")
    assert str(refused.value).startswith("c.toml: 2 mistakes: tracks.0.title: this is missing")
    assert "phases.1.per_day: Input should be greater than" in str(refused.value)


def test_anywhere_on_earth_ends_at_noon_of_the_next_day_in_utc():
    end = parse_time("2026-03-08 23:59:59 AoE")
    assert end == datetime.datetime(2026, 3, 9, 11, 59, 59, tzinfo=datetime.UTC)
    assert (format_utc(end), format_aoe(end)) == ("2026-03-09 11:59:59 UTC", "2026-03-08 23:59:59 AoE")


def test_a_time_with_an_offset_is_kept_in_utc_also_across_the_change_to_summer_time():
    berlin = datetime.timezone(datetime.timedelta(hours=2))
    assert parse_time(datetime.datetime(2026, 3, 29, 3, 0, tzinfo=berlin)) == parse_time(
        "2026-03-29 01:00 UTC"
    )


def test_there_is_no_phase_between_phases(tmp_path):
    (tmp_path / "c.toml").write_text(FILE)
    competition = read_competition(tmp_path / "c.toml")
    found = {
        text: phase.name if (phase := competition.phase_at(parse_time(text))) else None
        for text in (
            "2026-02-28 23:59:59 UTC",
            "2026-03-01 00:00 UTC",
            "2026-03-08 23:59:58 AoE",
            "2026-03-09 12:00 UTC",
        )
    }
    assert list(found.values()) == [None, "warm-up", "warm-up", None]
