"""A competition as a site: what is public, whole and twice the same; nothing that is sealed before the reveal."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from arena_making import FILE, MANY, Clock, join, make_arena, write_answers
from neuroarena.cli.site import build as build_command
from neuroarena.competition.arena import open_arena
from neuroarena.competition.intake import submit
from neuroarena.competition.keeping import export
from neuroarena.competition.publishing import publish_contest
from neuroarena.competition.reveal import reveal
from neuroarena.competition.tables import ANNOUNCEMENT, AUDIT
from neuroarena.competition.worker import work
from neuroarena.errors import InputError

SAID = """title = "Commands"
benchmark = "bci/commands"
description = "Which command was meant?"
sponsor = "Example Lab"
sponsor_url = "https://example.org/lab"
constraint = "One model for all people"
audit = "Weights identity check"
"""
LAST_PLAY = "2026-03-13 12:00 UTC"


@pytest.fixture(scope="module")
def played_once(tmp_path_factory):
    """The folder of a competition in whose sealed phase three teams have handed in; two took part in the warm-up."""
    folder, clock = tmp_path_factory.mktemp("played"), Clock("2026-03-02 12:00 UTC")
    text = FILE.replace('title = "Commands"\nbenchmark = "bci/commands"\n', SAID)
    made = make_arena(folder, clock, text, per_unit=MANY)
    tokens = {name: join(made, name) for name in ("reds", "blues", "greens")}
    plays = [
        ("reds", 1, "2026-03-02 12:00 UTC"),
        ("blues", 2, "2026-03-03 12:00 UTC"),
        ("reds", 1, "2026-03-11 12:00 UTC"),
        ("blues", 3, "2026-03-12 12:00 UTC"),
        ("greens", 4, LAST_PLAY),
    ]
    for team, wrong, time in plays:
        clock.set(time)
        answers = write_answers(folder / "mine.parquet", wrong=wrong, per_unit=MANY)
        submit(made, tokens[team], "commands", answers)
        work(made, until_idle=True)
    made.store.close()
    return made.folder


@pytest.fixture
def played(played_once, tmp_path, clock):
    """A copy of that competition, as it stood after the last submission."""
    clock.set(LAST_PLAY)
    return open_arena(shutil.copytree(played_once, tmp_path / "arena"), clock)


def build(source: Path, out: Path) -> Path:
    build_command([source], out)
    return out


def read_all(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def test_a_sealed_board_shows_the_shown_values_and_nothing_else(played, tmp_path):
    contest = publish_contest(played)
    by_label = {heat.label: heat for heat in contest.heats}
    sealed = by_label["spring: commands, sealed"]
    assert [(row.rank, row.team, row.shown) for row in sealed.shown] == [
        (1, "reds", pytest.approx(0.9)),
        (2, "blues", pytest.approx(0.7)),
        (3, "greens", pytest.approx(0.6)),
    ]
    assert {entry.label for entry in contest.entries} == {"spring: commands, warm-up"}
    site = build(played.folder, tmp_path / "site")
    index = (site / "index.html").read_text()
    assert re.search(r"<b>5 of 5</b> submissions scored", index)
    assert "Sealed phase" in index
    assert 'data-until="2026-03-20T00:00:00+00:00"' in index
    page = (site / "boards/spring-commands-sealed.html").read_text()
    assert "No verdict before the reveal" in page
    assert re.findall(r'data-label="shown"><b>([^<]+)</b>', page) == ["0.9", "0.7", "0.6"]
    for said in (
        "Example Lab",
        "https://example.org/lab",
        "One model for all people",
        "Weights identity check",
    ):
        assert said in page
    entry = (site / "entries/reds.html").read_text()
    assert re.search(r"Commands · Sealed phase</a></dt><dd>[^<]* 0\.9, rank 1 of 3<", entry)
    assert re.search(r"<b>Commands · [^<]*</b> 0\.\d{3} <span", entry)
    said = json.loads((site / "boards/spring-commands-sealed.json").read_text())
    assert set(said["shown"][0]) == {"rank", "team", "affiliation", "role", "shown", "scored", "last"}
    # No unit of the sealed questions is named anywhere but on the board of the open phase.
    for name, content in read_all(site).items():
        if name.endswith((".html", ".json", ".csv")) and "sealed" in name:
            assert b"u3" not in content


def test_after_the_reveal_the_sealed_phase_has_intervals_verdicts_and_a_final_ranking(
    played, clock, tmp_path
):
    clock.set("2026-03-21 12:00 UTC")
    with played.store.writing() as connection:
        newest = publish_contest(played).entries[0].provenance["run_key"]
        facts = {"id": "a1", "submission": newest, "rule": "replays", "asked": clock.now, "ended": clock.now}
        connection.execute(AUDIT.insert().values(**facts, verdict="reproduced"))
        row = {"number": 1, "at": clock.now, "title": "It is over", "text": "Thank you, **all**."}
        connection.execute(ANNOUNCEMENT.insert().values(**row))
    reveal(played)
    site = build(played.folder, tmp_path / "site")
    titles = {row["title"]: row for row in json.loads((site / "index.json").read_text())["boards"]}
    assert set(titles) == {"Commands · Warm-up", "Commands · Sealed phase", "Commands · final ranking"}
    final = titles["Commands · final ranking"]
    assert (final["leader"], final["ranked"]) == ("reds", 3)
    page = (site / final["page"]).read_text()
    assert "The lead is real" in page
    assert "best of last 5" in page
    assert "</span> audited</span>" in (site / titles["Commands · Warm-up"]["page"]).read_text()
    assert "<strong>all</strong>" in (site / "news.html").read_text()
    assert "over</span>" in (site / "index.html").read_text()


@pytest.mark.parametrize("revealed", [pytest.param(False, marks=pytest.mark.drill), True])
def test_a_site_of_a_competition_and_of_its_export_are_the_same_bytes(played, clock, tmp_path, revealed):
    clock.set("2026-03-21 12:00 UTC")
    if revealed:
        reveal(played)
    export(played, tmp_path / "exported")
    first = read_all(build(played.folder, tmp_path / "first"))
    assert read_all(build(played.folder, tmp_path / "second")) == first
    assert read_all(build(tmp_path / "exported", tmp_path / "third")) == first


def test_an_export_holds_no_sealed_unit_score_and_is_refused_beside_its_own_competition(played, tmp_path):
    export(played, tmp_path / "exported")
    said = json.loads((tmp_path / "exported/contest.json").read_text())
    assert {entry["label"] for entry in said["entries"]} == {"spring: commands, warm-up"}
    assert "a@example.org" not in json.dumps(said)
    with pytest.raises(InputError, match='the competition "spring"'):
        build_command([played.folder, tmp_path / "exported"], tmp_path / "site")
    (tmp_path / "exported/contest.json").write_text('{"name": 1}')
    with pytest.raises(InputError, match=r"contest\.json"):
        build(tmp_path / "exported", tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_an_export_of_a_stranger_leads_to_the_web_and_to_no_script(played, tmp_path):
    export(played, tmp_path / "export")
    told = tmp_path / "export/contest.json"
    told.write_text(told.read_text().replace("https://example.org/lab", "javascript:alert(1)"))
    with pytest.raises(InputError, match=r"contest\.json.*url.*Export the competition again"):
        build(tmp_path / "export", tmp_path / "site")


def test_a_competition_whose_scores_are_all_sealed_has_a_site(tmp_path, clock):
    clock.set("2026-03-10 12:00 UTC")
    made = make_arena(tmp_path, clock)
    token = join(made, "reds")
    submit(made, token, "commands", write_answers(tmp_path / "mine.parquet", wrong=1))
    work(made, until_idle=True)
    site = build(made.folder, tmp_path / "site")
    said = json.loads((site / "index.json").read_text())
    assert said["boards"] == []
    assert [board["public"] for board in said["competitions"][0]["boards"]] == [False, False]
    assert "Simulated data" in (site / "index.html").read_text()
